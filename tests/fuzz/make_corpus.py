"""Writes the seeds of the fuzz targets into corpus/: what each reader takes, and near misses.

    .venv/bin/python tests/fuzz/make_corpus.py

The same each time. Other files of the corpus, inputs that found a fault or reach code that no
seed does, are left as they are.
"""

import gzip
import io
import json
import pathlib
import struct

import numpy
import torch
from safetensors.torch import save

CORPUS = pathlib.Path(__file__).parent / "corpus"
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def put(target, name, content):
    path = CORPUS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def safetensors_file(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors():
    every = {str(dtype).split(".")[1]: torch.ones(2, 3).to(dtype) for dtype in (
        torch.float64, torch.int64, torch.float32, torch.int32, torch.float16, torch.bfloat16,
        torch.uint8, torch.bool)}
    put("safetensors", "every-type", save(every))
    put("safetensors", "shapes", save({
        "number": torch.tensor(7), "empty": torch.zeros(0), "no.row": torch.zeros(1, 0, 3),
        "": torch.zeros(1), "näme \"quoted\"": torch.zeros(2)}, {"format": "pt", "round": "3"}))
    put("safetensors", "no-tensors", safetensors_file(b"{}"))
    first = entry("U8", [2], 0, 2)
    faults = {
        "overlap": safetensors_file({"a": first, "b": entry("U8", [2], 1, 3)}, b"xyz"),
        "gap": safetensors_file({"a": first, "b": entry("U8", [1], 3, 4)}, b"wxyz"),
        "beyond": safetensors_file({"a": first}, b"x"),
        "trailing": safetensors_file({"a": first}, b"xyz"),
        "overflow": safetensors_file({"a": entry("F64", [1 << 62, 0, 1 << 62], 0, 0)}),
        "twice": safetensors_file(b'{"a":%(a)b,"a":%(a)b}' % {b"a": json.dumps(first).encode()}),
        "deep": safetensors_file(b'{"a":' + b"[" * 200 + b"]" * 200 + b"}"),
        "length-63": safetensors_file(b"{}", length=1 << 63),
        "length-lies": safetensors_file(b"{}", length=50),
    }
    for name, content in faults.items():
        put("safetensors", name, content)


TOML = """# every kind of value
seed = 1
text = "é \\u00e9 \\" \\\\ \\n" # comment
literal = 'C:\\temp'
long = \"\"\"two
lines \"quoted\" \"\"\"
numbers = [1, -2, 0x1f, 0o17, 0b101, 1_000, 1.5, -1e-3, inf, -inf, nan]
mixed = [true, "a", [1, [2, {b = 3}]]]
date = 2024-01-02T03:04:05Z
[a.b.'c d'."e"]
f = {g = 1, h.i = false}
[[list]]
x = 1
[[list]]
x = 2
[list.y]
z = 3
"""


def toml():
    put("toml", "all-kinds", TOML)
    put("toml", "all-kinds-without-date", TOML.replace("date =", "# date ="))
    put("toml", "deep", "a = " + "[" * 40 + "]" * 40 + "\n" + "b." * 40 + "c = 1\n")
    put("toml", "value", "{name = \"sgd\", lr = 0.1}")
    put("toml", "byte-order-mark", b"\xef\xbb\xbfa = 1\r\n[[[b]]]\r\n")


def configuration():
    for example in ("demo", "paper/cifar10_resnet18", "paper/covid19_vit_s_16",
                    "methods/feddyn+fedvg"):
        path = EXAMPLES / (example + ".toml")
        put("configuration", path.stem, path.read_bytes())
    put("configuration", "parts", """#--set train.optimizer.lr=0.5
#--set method.name="feddyn+fedvg"
#--set partition.scheme=iid
seed = 7
[data]
name = "csv"
path = "a/../b.csv"
ignore = ["id", "time"]
normalize = {mean = [0.5], std = [0.25]}
augment = ["flip", "crop"]
[partition]
scheme = {name = "dirichlet", alpha = 0.3}
clients = 12
[model]
file = "net.ts"
[train]
participants = 3
participation = 0.5
steps = 4
optimizer = {name = "adam", lr = 0.01}
[method]
name = "fedprox+fedvg"
correction = {name = "fedprox", mu = 0.1}
weighting = {name = "mix", of = [{name = "fedvg", norm = "l2"}, "size"], shares = [2.0, 1]}
server = {name = "sgd", momentum = 0.9, nesterov = false}
combiner = "krum"
""")
    put("configuration", "mistakes", """sed = 1
[train]
rounds = -1
optimizer = "sdg"
lr = "0.1"
[method]
name = "fedavg+nothing"
weighting = {name = "mix", of = [{name = "mix", of = ["mix"]}]}
[validation]
source = "none"
[[engine]]
workers = 1.5
""")


def idx_file(shape, content, kind=8):
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + content


def idx():
    images = idx_file((3, 4, 4), bytes(range(48)))
    put("idx", "images", images)
    put("idx", "labels", idx_file((5,), bytes(range(5))))
    put("idx", "images.gz", gzip.compress(images, mtime=0))
    put("idx", "two-members.gz", gzip.compress(images[:20], mtime=0) +
        gzip.compress(images[20:], mtime=0))
    put("idx", "cut-short.gz", gzip.compress(images, mtime=0)[:-9])
    put("idx", "claims-much", idx_file((0xffffffff,) * 3, b"abc"))
    put("idx", "claims-much.gz", gzip.compress(idx_file((60000, 28, 28), b"abc"), mtime=0))
    put("idx", "floats", idx_file((1, 1, 1), bytes(4), kind=0x0d))


def npy_file(array, **options):
    stream = io.BytesIO()
    numpy.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def npy():
    table = numpy.arange(6).reshape(2, 3)
    for name in ("u1", "i1", "<u2", ">i2", "<i4", ">i4", "<i8", "<u8", "<f4", ">f8", "?",
                 "S3", "<U2", ">U2"):
        put("npy", name.strip("<>").replace("?", "bool") + ("-swapped" if name[0] == ">" else ""),
            npy_file(table.astype(name)))
    put("npy", "column-major", npy_file(numpy.asfortranarray(table.astype("<i2"))))
    put("npy", "number", npy_file(numpy.array(5)))
    put("npy", "version-2", npy_file(table.astype("u1"), version=(2, 0)))
    put("npy", "empty", npy_file(numpy.zeros((0, 3))))
    put("npy", "infinite", npy_file(numpy.array([numpy.inf, numpy.nan, 1e300])))
    put("npy", "records", npy_file(numpy.zeros(2, dtype=[("a", "<f4"), ("b", "u1")])))
    put("npy", "packed.gz", gzip.compress(npy_file(table.astype("u1")), mtime=0))


def npz():
    def file(save_as, **arrays):
        stream = io.BytesIO()
        save_as(stream, **arrays)
        return stream.getvalue()

    labels = numpy.arange(8, dtype=numpy.uint8) % 2
    features = numpy.arange(16, dtype="<f4").reshape(8, 2)
    gray = numpy.arange(32, dtype=numpy.uint8).reshape(8, 2, 2)
    colour = numpy.arange(96, dtype=numpy.uint8).reshape(8, 2, 2, 3)
    owners = numpy.array(["a", "b"] * 4)
    for way, save_as in (("stored", numpy.savez), ("deflated", numpy.savez_compressed)):
        put("npz", "features-" + way,
            file(save_as, x=features, y=labels.astype("<i8"), owner=owners))
        put("npz", "divided-" + way, file(save_as, x_train=colour, y_train=labels, x_test=colour,
                                          y_test=labels, x_val=colour, y_val=labels))
        put("npz", "medmnist-" + way, file(
            save_as, **{f"{part}_images": gray for part in ("train", "val", "test")},
            **{f"{part}_labels": labels.reshape(-1, 1) for part in ("train", "val", "test")}))
    put("npz", "empty", b"PK\x05\x06" + bytes(18))


def cifar():
    def records(*labels):
        return b"".join(bytes(label) + bytes(i % 251 for i in range(3072)) for label in labels)

    put("cifar", "cifar-10", records([3]))
    put("cifar", "cifar-100", records([19, 99]))
    put("cifar", "no-such-class", records([10]))
    put("cifar", "no-such-coarse-class", records([20, 5]))
    put("cifar", "cut-short", records([3])[:-1])


def partition():
    data = {"name": "fashion-mnist", "samples": 12, "fingerprint": "0123456789abcdef"}
    lists = [[5, 0], [], [1, 11]]
    put("partition", "list", json.dumps(lists))
    put("partition", "object", json.dumps({
        "source": "by hand", "data": data, "clients": lists, "validation": [4, 3], "test": [7],
        "counts": [[1, 1], [0, 0], [2, 0]]}, indent=1))
    put("partition", "overlap", json.dumps([[1, 2], [2, 3]]))
    put("partition", "twice", '{"clients": [[1]], "clients": [[2]], "\\u0000": 1}')
    put("partition", "numbers", "[[-1, 12, 1.0, 1e400, 18446744073709551615, 1e2]]")
    put("partition", "sizes", json.dumps({"clients": lists, "data": {**data, "samples": 1e300}}))
    put("partition", "deep", "[" * 300 + "]" * 300)


def cohorts():
    put("cohorts", "rounds", json.dumps([[0, 2], [7, 6, 4, 3], [3]]))
    put("cohorts", "empty-clients", json.dumps([[0, 1], [5]]))
    put("cohorts", "no-rounds", "[]")
    put("cohorts", "objects", '[{"a": [0]}, [0, null, "1", true]]')
    put("cohorts", "deep", "[" * 300 + "0" + "]" * 300)


def csv():
    rows = "".join(f"{i},{i / 7:.3f},{'ab'[i % 2]},{-i}e-3,c{i % 3}\n" for i in range(12))
    put("csv", "set", "id,x,label,y,client\n" + rows)
    put("csv", "numbers", "label,x\n" + "".join(f"{i % 2}.0,+{i}\n{i % 2},{i}\n" for i in range(6)))
    put("csv", "quoted", b'\xef\xbb\xbf"x, 1" ,"label"\r\n"1" , "a ""b"""\r\r\n2,\t"c\nd"\n')
    put("csv", "faults", "x,label\n1e999,a\nnan,b\n,c\n1,2,3\n\"1,d\n")
    put("csv", "semicolons", "x;label\n1;2\n")


def class_mapping():
    put("class_mapping", "paper", (EXAMPLES / "paper" / "cifar100_to_cifar10.csv").read_bytes())
    put("class_mapping", "empty-names", "own,foreign\nautomobile,bus\n,beaver\ncat,\n")
    put("class_mapping", "second-class", "own,foreign\ncat,lion\ndog,lion\n")
    put("class_mapping", "unknown", "own,foreign\ncta,lion\ncat,loin\n\"ship\x7f\",bus\n")
    put("class_mapping", "three-columns", "a,b,c\n")


for write in (safetensors, toml, configuration, idx, npy, npz, cifar, partition, cohorts, csv,
              class_mapping):
    write()
