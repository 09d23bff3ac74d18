# Two commands are all a bare machine with Python >= 3.11 needs: `make demo` and `make test`.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test slow lowest flower check docs bench clean

demo: $(VENV)/.demo
	$(BIN)/partita demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

slow: $(VENV)/.test
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

# the oldest versions that pyproject.toml allows, in an environment of their own
lowest: $(VENV)/.dev
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-lowest
	$(BIN)/uv pip install --quiet --python $(VENV)-lowest/bin/python --resolution lowest-direct \
		--editable ".[report,pandas,anndata,dask,federated]" --group test "click<8.5"
	NUMBA_CACHE_DIR=$(VENV)-lowest/kernels $(VENV)-lowest/bin/python -m pytest -n $(WORKERS) -m "not slow" -p no:cacheprovider

# the Flower adapter, over real SuperNodes, in an environment of its own: flwr is large and pins what others need newer
flower: $(VENV)/.dev
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-flower
	$(BIN)/uv pip install --quiet --python $(VENV)-flower/bin/python --editable ".[flower]" --group test
	$(VENV)-flower/bin/python -m pytest -m "slow or not slow" -p no:cacheprovider tests/federated/test_flower.py \
		tests/federated/test_flower_carrier.py tests/federated/test_flower_parts.py

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) docs

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "partita needs Python >= 3.11; install it, or run make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[report,pandas]"
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --editable ".[report,pandas,anndata,dask,federated]" --group test
	@touch $@

$(VENV)/.dev: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-flower build dist site partita-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
