"""python/convert_pth.py writes what a .pth file holds, and says what it cannot read."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch
from safetensors import safe_open
from safetensors.torch import load_file

SCRIPT = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"], "python", "convert_pth.py")


def tensors():
    return {
        "conv1.weight": torch.arange(24, dtype=torch.float32).reshape(2, 3, 2, 2),
        "bn1.running_mean": torch.tensor([0.5, -1.5]),
        "bn1.num_batches_tracked": torch.tensor(7),
        "half": torch.tensor([1.0, 2.0], dtype=torch.float16),
    }


class ConvertPth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def convert(self, content, *out):
        """The finished script on a file `net.pth` that holds `content`."""
        if isinstance(content, bytes):
            (self.folder / "net.pth").write_bytes(content)
        elif content is not None:
            torch.save(content, self.folder / "net.pth")
        return subprocess.run([sys.executable, SCRIPT, "net.pth", *out], cwd=self.folder,
                              capture_output=True, text=True)

    def assert_converted(self, content, expected):
        done = self.convert(content)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = load_file(self.folder / "net.safetensors")
        self.assertEqual(set(written), set(expected))
        for name, tensor in expected.items():
            self.assertEqual(written[name].dtype, tensor.dtype, name)
            self.assertEqual(written[name].shape, tensor.shape, name)
            self.assertTrue(torch.equal(written[name], tensor), name)
        return done.stdout

    def assert_refused(self, content, *words, out=()):
        done = self.convert(content, *out)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        for word in ("net.pth", *words):
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "net.safetensors").exists())

    def test_state_dict(self):
        out = self.assert_converted(tensors(), tensors())
        self.assertIn("conv1.weight  [2, 3, 2, 2]  float32\n", out)
        self.assertIn("net.safetensors: 4 tensors, 29 numbers\n", out)
        with safe_open(self.folder / "net.safetensors", framework="pt") as file:
            self.assertEqual(file.metadata(), {"format": "pt"})

    def test_checkpoints(self):
        self.assert_converted({"state_dict": tensors(), "epoch": 3}, tensors())
        self.assert_converted({"model": tensors(), "optimizer": {"state": {}}}, tensors())
        self.assert_converted({"model": {"state_dict": tensors()}, "lr": 0.1}, tensors())

    def test_prefix_of_data_parallel(self):
        self.assert_converted({f"module.{name}": t for name, t in tensors().items()}, tensors())

    def test_file_of_old_torch(self):
        torch.save(tensors(), self.folder / "net.pth", _use_new_zipfile_serialization=False)
        self.assert_converted(None, tensors())

    def test_parameters_of_a_module(self):
        net = torch.nn.Linear(3, 2)
        self.assert_converted(dict(net.named_parameters()),
                              {name: p.detach() for name, p in net.named_parameters()})

    def test_shared_and_strided_tensors(self):
        whole = torch.arange(12, dtype=torch.float32).reshape(3, 4)
        self.assert_converted({"a": whole, "b": whole, "t": whole.t(), "row": whole[1]},
                              {"a": whole, "b": whole, "t": whole.t(), "row": whole[1]})

    def test_named_output(self):
        done = self.convert(tensors(), "other.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(load_file(self.folder / "other.safetensors")), 4)
        self.assertFalse((self.folder / "net.safetensors").exists())

    def test_whole_module_is_refused(self):
        self.assert_refused(torch.nn.Linear(3, 2), "Python object", "model.state_dict()")

    def test_torchscript_is_refused(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            net = torch.jit.trace(torch.nn.Linear(3, 2), torch.zeros(1, 3))
            torch.jit.save(net, self.folder / "net.pth")
        self.assert_refused(None, "net.pth: is a TorchScript file", "model.file", "state_dict()")
        (line,) = self.convert(None).stderr.splitlines()  # no warning of Python's beside it
        self.assertNotIn("weights_only", line)

    def test_files_of_another_kind_are_refused(self):
        self.assert_refused(b"", "empty or cut off")
        self.assert_refused(b"no weights here, just text\n" * 9)
        torch.save(tensors(), self.folder / "net.pth")
        self.assert_refused((self.folder / "net.pth").read_bytes()[:300])

    def test_missing_file_is_refused(self):
        self.assert_refused(None, "No such file")

    def test_contents_without_a_state_dict_are_refused(self):
        self.assert_refused(torch.zeros(3), "a single tensor")
        self.assert_refused({}, "an empty dict")
        self.assert_refused({"epoch": 3, "weights": tensors()}, "'epoch' is int", "weights")

    def test_name_with_and_without_prefix_is_refused(self):
        self.assert_refused({"w": torch.zeros(1), "module.w": torch.ones(1)}, "both")

    def test_input_is_not_overwritten(self):
        self.assert_refused(tensors(), "overwritten", out=["net.pth"])

    def test_folder_that_does_not_exist(self):
        self.convert(tensors())
        (self.folder / "net.safetensors").unlink()
        done = self.convert(None, "none/net.safetensors")
        self.assertEqual(done.returncode, 3)
        self.assertIn("none/net.safetensors: cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
