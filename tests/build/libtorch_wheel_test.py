"""Programs load the libtorch that they were built with, and old ones are refused.

Debian's libtorch-dev puts a libc10 of torch 1.13 into the system's folders; a
program that takes it beside the wheel's libtorch aborts at start.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["FEDVG_BINARY_DIR"])
TORCH = pathlib.Path(os.environ["FEDVG_TORCH_DIR"]).resolve()

VERSION_H = """#define TORCH_VERSION_MAJOR {}
#define TORCH_VERSION_MINOR {}
#define TORCH_VERSION_PATCH {}
"""


def loaded_torch_libraries(binary):
    """The path of each torch library by name, as the loader finds it."""
    lines = subprocess.check_output(["ldd", binary], text=True)
    found = re.findall(r"^\s*(lib(?:torch|c10|caffe2)\S*) => (.*?)(?: \(0x\w+\))?$", lines, re.M)
    return {name: pathlib.Path(path) for name, path in found}


def configure_with(folder, *variables):
    """What FindLibtorchWheel.cmake says to the torch in `folder`; fails when it refuses."""
    script = folder / "find.cmake"
    script.write_text(
        f'list(APPEND CMAKE_MODULE_PATH "{SOURCE}/cmake")\nfind_package(LibtorchWheel REQUIRED)\n'
    )
    return subprocess.run(
        [os.environ["FEDVG_CMAKE"], *variables, "-P", script], capture_output=True, text=True
    )


def torch_folder(folder, version):
    """Headers of that torch version, without libraries."""
    headers = folder / "include/torch/csrc/api/include/torch"
    headers.mkdir(parents=True)
    (headers / "version.h").write_text(VERSION_H.format(*version.split(".")))
    return folder


class LoadedLibraries(unittest.TestCase):
    def check(self, binary):
        if not binary.exists():
            self.skipTest(f"{binary} is not built")
        libraries = loaded_torch_libraries(binary)
        self.assertIn("libc10.so", libraries)
        self.assertIn("libtorch_cpu.so", libraries)
        for name, path in libraries.items():
            with self.subTest(name):
                self.assertEqual(path.resolve().parent, TORCH / "lib")

    def test_of_the_program_lie_in_the_wheel(self):
        self.check(pathlib.Path(os.environ["FEDVG_PROGRAM"]))

    def test_of_the_conformance_driver_lie_in_the_wheel(self):
        self.check(BINARY / "bin/fedvg-conformance")

    def test_of_the_shared_library_lie_in_the_wheel(self):
        self.check(BINARY / "lib/libfedvg.so")


class VersionGuard(unittest.TestCase):
    def refusal(self, version):
        with tempfile.TemporaryDirectory() as name:
            folder = torch_folder(pathlib.Path(name), version)
            result = configure_with(folder, f"-DFEDVG_TORCH_DIR={folder}")
        self.assertNotEqual(result.returncode, 0)
        return " ".join(result.stderr.split())

    def test_refuses_the_version_that_debian_has(self):
        message = self.refusal("1.13.1")
        self.assertIn("PyTorch 1.13.1 in", message)
        self.assertIn("older than 2.4", message)
        self.assertIn("pip install -r requirements.txt", message)

    def test_refuses_the_last_version_below_the_bound(self):
        self.assertIn("older than 2.4", self.refusal("2.3.1"))

    def test_takes_the_bound_itself(self):
        # What is missing then is the libraries.
        self.assertIn("lacks libc10.so", self.refusal("2.4.0"))

    def test_names_the_python_that_has_no_torch(self):
        with tempfile.TemporaryDirectory() as name:
            result = configure_with(pathlib.Path(name), "-DFEDVG_PYTHON=/bin/false")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/bin/false has no torch", " ".join(result.stderr.split()))


if __name__ == "__main__":
    unittest.main()
