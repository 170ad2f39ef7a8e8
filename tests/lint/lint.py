"""Runs one lint, a file beside this, over a tree: lint.py NAME ROOT. Exit status 1 if it finds anything."""
import importlib
import sys
from pathlib import Path


def main() -> int:
    name, root = sys.argv[1], Path(sys.argv[2])
    found = list(importlib.import_module(name).violations(root))
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
