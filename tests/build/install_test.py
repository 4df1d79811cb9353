"""A program outside the checkout finds the installed library and adds a part to it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["FEDVG_BINARY_DIR"])
CMAKE = os.environ["FEDVG_CMAKE"]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


class Install(unittest.TestCase):
    def setUp(self):
        if not (BINARY / "lib/libfedvg.so").exists():
            self.skipTest("built without FEDVG_SHARED")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name, "prefix")
        self.build = pathlib.Path(folder.name, "build")
        run(CMAKE, "--install", BINARY, "--prefix", self.prefix)

    def test_installed_program_runs(self):
        self.assertIn("fedvg", run(self.prefix / "bin/fedvg", "--version"))

    def test_a_program_of_others_registers_its_own_part(self):
        run(CMAKE, "-G", "Ninja", "-S", SOURCE / "tests/build/outside", "-B", self.build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Debug")
        run(CMAKE, "--build", self.build)
        names = run(self.build / "outside").split()
        self.assertIn("outside", names)  # its own
        self.assertIn("none", names)  # the library's


if __name__ == "__main__":
    unittest.main()
