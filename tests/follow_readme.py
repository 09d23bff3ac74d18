"""Run the blocks of a README in order, in the current folder: `python tests/follow_readme.py README.md`.

Python blocks share one session, a `text` block shows what the block before it prints, bash blocks run in bash with the
environment `.venv` active. It needs nothing but what `make demo` installs, and CI runs it right after `make demo`.
"""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

NOT_RUN = ("make test",)
"""It runs the tests, among which is this script."""


def blocks(readme):
    """Return kind and code of every block."""
    return re.findall(r"```(\w+)\n(.*?)```", readme, re.DOTALL)


def matches(shown, printed):
    """Return True if the printed text is the shown one; a line "…" stands for any lines."""
    pattern = "".join(".*" if line == "…" else re.escape(line) + r"\s*\n" for line in shown.splitlines())
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def follow(readme):
    """Run all blocks; the first one that fails, or prints something else than is shown, raises an error."""
    namespace, printed = {}, ""
    for kind, code in blocks(readme):
        if kind == "python":
            heard = io.StringIO()
            with contextlib.redirect_stdout(heard):
                exec(compile(code, "README.md", "exec"), namespace)  # the lines of the README
            printed = heard.getvalue()
        elif kind == "text":
            assert matches(code, printed), f"the README shows\n{code}\nbut this was printed:\n{printed}"
        else:
            assert kind == "bash", kind
            lines = [line for line in code.splitlines() if line.split("#")[0].strip() not in NOT_RUN]
            script = "\n".join(["set -e", "source .venv/bin/activate", *lines])
            done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{code}\n{done.stderr[-2000:]}"


if __name__ == "__main__":
    follow(Path(sys.argv[1]).read_text())
    print("every block of the README ran")
