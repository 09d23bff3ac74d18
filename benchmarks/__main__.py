"""`python -m benchmarks [CASE …]`: run the cases, print a Markdown table of each as it finishes.

`python -m benchmarks table | pools | gather | page` makes docs/benchmarks.md; see `python -m benchmarks table --help`.
"""

import importlib
import pkgutil
import sys

from benchmarks import cases, paging
from benchmarks.harness import run_case


def main(names: list[str]) -> int:
    """Run the named cases, or all that are not kept for request; or make the page."""
    if names and names[0] in paging.COMMANDS:
        return paging.main(names)
    modules = sorted(module.name for module in pkgutil.iter_modules(cases.__path__))
    found = {case.name: case for name in modules for case in importlib.import_module(f"benchmarks.cases.{name}").CASES}
    unknown = [name for name in names if name not in found]
    if {"-h", "--help"} & set(names):
        asked = [name for name, case in found.items() if case.on_request]
        print(f"{__doc__}\nCases: {', '.join(name for name in found if name not in asked)}")
        print(f"On request, because they take long or need data: {', '.join(asked)}")
        return 0
    if unknown:
        print(f"no case {unknown[0]!r}; there are {', '.join(found)}", file=sys.stderr)
        return 2
    for name in names or [name for name, case in found.items() if not case.on_request]:
        if lacking := found[name].lacking():
            print(f"## {name}: skipped, {lacking}\n", flush=True)
            continue
        table = run_case(found[name])
        print(f"## {table.title}\n\n{table.markdown()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
