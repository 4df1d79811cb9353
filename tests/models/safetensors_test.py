"""Models go both ways between fedvg and Python's safetensors, byte for byte.

What Python refuses, fedvg refuses too.
"""

import io
import json
import os
import pathlib
import pickle
import struct
import subprocess
import tempfile
import unittest

import numpy
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file as load_arrays
from safetensors.torch import load_file, save_file

OTHER_SIDE = pathlib.Path(os.environ["FEDVG_BINARY_DIR"], "bin", "test_models")
METADATA = {"format": "pt", "größe": 'zwei "Zeilen"\n', "": ""}


def expected():
    """`exchanged` in safetensors_test.cpp."""
    return {
        "f64": torch.tensor([0.1, -1e300], dtype=torch.float64),
        "counter": torch.tensor(21),
        "i64": torch.tensor([-2**63, 2**63 - 1]),
        "weight": torch.arange(6, dtype=torch.float32).reshape(2, 3),
        "empty": torch.zeros(1, 0, 3),
        "nothing": torch.zeros(0),
        "": torch.tensor(-0.5),
        "i32": torch.tensor([[-2**31]], dtype=torch.int32),
        "f16": torch.tensor([1, 65504], dtype=torch.float16),
        "bf16": torch.tensor([1, -3.140625], dtype=torch.bfloat16),
        "u8": torch.tensor([0, 127, 255], dtype=torch.uint8),
        "mask": torch.tensor([True, False]),
        'block.0.näme/層 "q" \\ \n': torch.tensor([9], dtype=torch.uint8),
    }


def file_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="U8", shape=(2,), begin=0, end=2):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def saved_by_torch(value, **options):
    stream = io.BytesIO()
    torch.save(value, stream, **options)
    return stream.getvalue()


def saved_as_torchscript():
    stream = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), stream)
    return stream.getvalue()


def saved_as_archive():
    stream = io.BytesIO()
    numpy.savez(stream, x=numpy.zeros(2))
    return stream.getvalue()


def damaged():
    """By TENSOR@FAULT; no tensor where the file as a whole is at fault."""
    one = {"a": entry()}
    whole = file_of(one, b"xy")
    return {
        "@nothing": b"",
        "@seven-bytes": whole[:7],
        "@length-is-zero": file_of(b"", length=0),
        "@length-is-beyond-the-file": file_of(one, b"xy", length=len(whole)),
        "@length-is-2-to-the-63": file_of(one, b"xy", length=1 << 63),
        "@length-is-2-to-the-64-less-1": file_of(one, b"xy", length=(1 << 64) - 1),
        "@length-is-above-100-megabytes": file_of(one, b"xy", length=100_000_001),
        "@length-is-short": file_of(one, b"xy", length=20),
        "@header-is-a-list": file_of(b"[]"),
        "@header-is-not-json": file_of(b"{nonsense}"),
        "@header-is-not-utf-8": file_of(b'{"\xff": 1}'),
        "@truncated-header": whole[:40],
        "@truncated-data": whole[:-1],
        "@trailing-data": whole + b"z",
        "b@overlap": file_of({**one, "b": entry(begin=1, end=3)}, b"xyz"),
        "b@same-place": file_of({**one, "b": entry()}, b"xy"),
        "b@gap": file_of({**one, "b": entry(begin=3, end=5)}, b"vwxyz"),
        "a@gap-before": file_of({"a": entry(begin=1, end=3)}, b"xyz"),
        "@beyond-the-data": file_of({"a": entry(shape=(200,), end=200)}, b"xy"),
        "a@falling-offsets": file_of({"a": entry(begin=2, end=0)}, b"xy"),
        "a@negative-offset": file_of({"a": entry(begin=-2, end=0)}, b"xy"),
        "a@shape-of-more": file_of({"a": entry(shape=(3,))}, b"xy"),
        "a@type-of-more": file_of({"a": entry(dtype="F32")}, b"xy"),
        "a@overflow": file_of({"a": entry("F64", (1 << 61,), 0, 0)}),
        "a@overflow-to-zero": file_of({"a": entry("U8", (1 << 32, 1 << 32), 0, 0)}),
        "a@negative-size": file_of({"a": entry(shape=(-2,))}, b"xy"),
        "a@size-beyond-64-bits": file_of({"a": entry(shape=(1 << 64,))}, b"xy"),
        "a@broken-size": file_of({"a": entry(shape=(2.5,))}, b"xy"),
        "a@unknown-type": file_of({"a": entry(dtype="X8")}, b"xy"),
        "a@no-offsets": file_of({"a": {"dtype": "U8", "shape": [2]}}, b"xy"),
        "a@no-object": file_of({"a": 1}),
        "a@deep": file_of(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}"),
        "@metadata-is-no-text": file_of({"__metadata__": {"round": 3}}),
        "@pickle": pickle.dumps({"a": [1, 2]}),
        "@torch-pickle": saved_by_torch({"a": torch.ones(2)}, _use_new_zipfile_serialization=False),
        "@torch-archive": saved_by_torch({"a": torch.ones(2)}),
        "@torchscript": saved_as_torchscript(),
        "@numpy-archive": saved_as_archive(),
        "@text": b"seed = 1\n[data]\nname = 'idx'\n",
    }


class Exchange(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        save_file(expected(), self.folder / "theirs.safetensors", metadata=METADATA)
        (self.folder / "damaged").mkdir()
        for name, content in damaged().items():
            (self.folder / "damaged" / name).write_bytes(content)

    def other_side(self, test):
        done = subprocess.run(
            [OTHER_SIDE, "--gtest_filter=SafetensorsExchange." + test],
            env={**os.environ, "FEDVG_EXCHANGE_FOLDER": str(self.folder)},
            capture_output=True, text=True)
        self.assertIn("1 test from 1 test suite ran", done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_fedvg_reads_what_python_wrote(self):
        self.other_side("AgreesWithPython")

    def test_python_reads_what_fedvg_wrote(self):
        self.other_side("AgreesWithPython")
        ours = load_file(self.folder / "ours.safetensors")
        self.assertEqual(set(ours), set(expected()))
        for name, tensor in expected().items():
            self.assertEqual(ours[name].dtype, tensor.dtype, name)
            self.assertEqual(ours[name].shape, tensor.shape, name)
            self.assertTrue(torch.equal(ours[name], tensor), name)
        with safe_open(self.folder / "ours.safetensors", framework="pt") as file:
            self.assertEqual(file.metadata(), METADATA)

    def test_numpy_reads_what_fedvg_wrote(self):
        # It has no bfloat16: one tensor after the other, without it.
        self.other_side("AgreesWithPython")
        with safe_open(self.folder / "ours.safetensors", framework="numpy") as file:
            for name, tensor in expected().items():
                if name != "bf16":
                    self.assertTrue(
                        numpy.array_equal(file.get_tensor(name), tensor.numpy()), name)

    def test_what_python_refuses_fedvg_refuses(self):
        self.other_side("RefusesWhatPythonRefuses")
        for path in sorted((self.folder / "damaged").iterdir()):
            with self.subTest(path.name), self.assertRaises(SafetensorError):
                load_arrays(path)


if __name__ == "__main__":
    unittest.main()
