"""`python -m benchmarks [CASE …]`: run the cases, print a Markdown table of each as it finishes."""

import importlib
import pkgutil
import sys

from benchmarks import cases
from benchmarks.harness import run_case


def main(names: list[str]) -> int:
    """Run the named cases, or all."""
    modules = sorted(module.name for module in pkgutil.iter_modules(cases.__path__))
    found = {case.name: case for name in modules for case in importlib.import_module(f"benchmarks.cases.{name}").CASES}
    unknown = [name for name in names if name not in found]
    if {"-h", "--help"} & set(names):
        print(f"{__doc__}\nCases: {', '.join(found)}")
        return 0
    if unknown:
        print(f"no case {unknown[0]!r}; there are {', '.join(found)}", file=sys.stderr)
        return 2
    for name in names or found:
        table = run_case(found[name])
        print(f"## {table.title}\n\n{table.markdown()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
