"""Builds the extension with CMake, in `build` beside this file, or in the build folder that CPT_BUILD names."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parents[2]


class BuildByCMake(build_ext):
    """The one extension is the CMake target cpt_python."""

    def build_extension(self, ext: Extension) -> None:
        named = os.environ.get("CPT_BUILD")
        build = Path(named or Path(self.build_temp).resolve() / "cmake")
        # A named folder that is configured stays as it is. Ours may have been configured for another Python, such as that of
        # a virtual environment that is gone: what CMake knows of it is removed.
        if not named or not (build / "CMakeCache.txt").exists():
            subprocess.run(["cmake", "-C", ROOT / "cmake/release.cmake", "-S", ROOT, "-B", build, "-DBUILD_TESTING=OFF",
                            "-DCPT_PYTHON=ON", "-U", "*Python3_*", f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", build, "--target", "cpt_python", "--parallel", jobs], check=True)
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / "python/cpt" / target.name, target)


setup(ext_modules=[Extension("cpt._core", sources=[])], cmdclass={"build_ext": BuildByCMake})
