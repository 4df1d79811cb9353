"""Models go both ways between fedvg and Python's safetensors, byte for byte."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from safetensors.torch import load_file as load_tensors

OTHER_SIDE = pathlib.Path(os.environ["FEDVG_BINARY_DIR"], "bin", "test_models")


def expected():
    return {
        "counter": numpy.array(21, dtype=numpy.int64),
        "weight": numpy.arange(6, dtype=numpy.float32).reshape(2, 3),
        "empty": numpy.zeros((1, 0, 3), dtype=numpy.float32),
        "mask": numpy.array([True, False]),
    }


class Exchange(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        save_file(expected(), self.folder / "theirs.safetensors", metadata={"format": "pt"})
        self.other_side = subprocess.run(
            [OTHER_SIDE, "--gtest_filter=SafetensorsExchange.*"],
            env={**os.environ, "FEDVG_EXCHANGE_FOLDER": folder.name},
            capture_output=True, text=True)

    def test_fedvg_reads_what_python_wrote(self):
        self.assertIn("1 test from 1 test suite ran", self.other_side.stdout)
        self.assertEqual(self.other_side.returncode, 0, self.other_side.stdout)

    def test_python_reads_what_fedvg_wrote(self):
        ours = load_file(self.folder / "ours.safetensors")
        self.assertEqual(set(ours), set(expected()))
        for name, array in expected().items():
            self.assertEqual(ours[name].dtype, array.dtype, name)
            self.assertEqual(ours[name].shape, array.shape, name)
            self.assertTrue(numpy.array_equal(ours[name], array), name)
        with safe_open(self.folder / "ours.safetensors", framework="numpy") as file:
            self.assertEqual(file.metadata(), {"format": "pt"})

    def test_torch_reads_what_fedvg_wrote(self):
        # Its views need every tensor at a multiple of its numbers' size.
        ours = load_tensors(self.folder / "ours.safetensors")
        self.assertEqual(ours["counter"].item(), 21)
        self.assertEqual(tuple(ours["counter"].shape), ())


if __name__ == "__main__":
    unittest.main()
