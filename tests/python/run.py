"""Runs a test file: run.py FILE PACKAGE... Exit status 77, and the reason, if one of the packages is missing."""
import importlib.util
import os
import runpy
import sys

# Open MPI: allow root, and more ranks than cores; do not use a kernel call that containers refuse.
os.environ.update({
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
})

if __name__ == "__main__":
    missing = [name for name in sys.argv[2:] if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {sys.executable} has no {', '.join(missing)}")
        sys.exit(77)
    sys.argv = sys.argv[1:2]
    runpy.run_path(sys.argv[0], run_name="__main__")
