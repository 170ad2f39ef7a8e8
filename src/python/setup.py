"""Builds the extension with CMake. CPT_BUILD names a build folder to use; without it, a fresh one is made."""
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
        build = Path(os.environ.get("CPT_BUILD") or Path(self.build_temp).resolve() / "cmake")
        if not (build / "CMakeCache.txt").exists():
            subprocess.run(["cmake", "-C", ROOT / "cmake/release.cmake", "-S", ROOT, "-B", build, "-DBUILD_TESTING=OFF",
                            "-DCPT_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "cpt_python", "--parallel"], check=True)
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / "python/cpt" / target.name, target)


setup(ext_modules=[Extension("cpt._core", sources=[])], cmdclass={"build_ext": BuildByCMake})
