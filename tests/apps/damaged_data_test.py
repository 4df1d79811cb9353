"""Damaged and mistaken data files of each format, and arrays in another order of memory.

Every fault ends `fedvg check` with exit code 3, the file's name and what is wrong with it.
"""

import random
import struct
import unittest

import numpy

import tiny_set
from program import ProgramTest
from tiny_set import gray_png


class Damaged(ProgramTest):
    def refuses(self, settings, *words):
        self.refused_in_words(3, list(words), "check", "tiny.toml", *self.set_each(
            *settings, "partition.clients=2", "partition.min_samples=0"))

    def accepts(self, settings):
        self.succeeds("check", "tiny.toml", *self.set_each(
            *settings, "partition.clients=2", "partition.min_samples=0"))


class Idx(Damaged):
    """The set of every test, one file of it replaced."""

    def replaced(self, name, content, *words):
        path = self.folder / "set" / (name + ".gz")
        before = path.read_bytes()
        tiny_set.put(path, content)
        with self.subTest(words):
            self.refuses((), path.name, *words)
        path.write_bytes(before)

    def test_each_fault_is_named(self):
        images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
        pixels = bytes(300 * 36)
        self.replaced(images, b"", "0 bytes")
        self.replaced(images, struct.pack(">IIII", 0x803, 300, 6, 6) + pixels[:-1], "10799")
        self.replaced(images, struct.pack(">IIII", 0x803, 300, 6, 6) + pixels + b"\0", "too long")
        self.replaced(images, struct.pack(">IIII", 0x12345678, 300, 6, 6) + pixels, "12 34 56 78")
        self.replaced(images, tiny_set.labels_file([0, 1, 2]), "holds labels", "images")
        self.replaced(images, struct.pack(">III", 0x802, 300, 36) + pixels, "2 dimensions")
        self.replaced(images, struct.pack(">IIII", 0xd03, 300, 3, 3) + pixels, "32-bit floats")
        self.replaced(images, struct.pack(">IIII", 0x803, 0, 6, 6), "0 images")
        self.replaced(labels, tiny_set.labels_file([0] * 299), "300 images", "299 labels")
        self.accepts(())

    def test_a_test_set_of_another_shape(self):
        tiny_set.put(self.folder / "set" / "t10k-images-idx3-ubyte.gz",
                     struct.pack(">IIII", 0x803, 90, 4, 9) + bytes(90 * 36))
        self.refuses((), "4 x 9", "6 x 6")


class Cifar(Damaged):
    settings = ('data={name="cifar10", path="records"}',)

    def setUp(self):
        super().setUp()
        (self.folder / "records").mkdir()
        for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
            self.records(name, range(10))

    def records(self, name, labels):
        (self.folder / "records" / f"{name}.bin").write_bytes(b"".join(
            bytes([label]) + bytes([25 * i + len(name)]) * 3072 for i, label in enumerate(labels)))

    def test_each_fault_is_named(self):
        self.accepts(self.settings)
        path = self.folder / "records" / "data_batch_3.bin"
        whole = path.read_bytes()
        for content, words in (
                (b"", ("is empty",)), (whole[:-1], ("truncated", "9 records and 3072 bytes")),
                (b"<html>not found</html>", ("is a web page",)),
                (b"\x1f\x8b" + bytes(40), ("gzip data", "unpack it first")),
                (b"".join(bytes([1, 2]) + bytes(3072) for _ in range(3)), ("CIFAR-100",)),
                (whole[:3073 * 7] + b"\x0a" + whole[3073 * 7 + 1:],
                 ("label 10 at record 7", "10 classes"))):
            path.write_bytes(content)
            with self.subTest(words):
                self.refuses(self.settings, "data_batch_3.bin", *words)
        path.unlink()
        self.refuses(self.settings, "data_batch_3.bin")


def arrays():
    """Ten classes in turn, no two images alike, height and width differ."""
    noise = numpy.random.default_rng(5)
    return {"x_train": noise.integers(0, 256, (60, 4, 5), dtype=numpy.uint8),
            "y_train": numpy.arange(60) % 10,
            "x_test": noise.integers(0, 256, (20, 4, 5), dtype=numpy.uint8),
            "y_test": numpy.arange(20) % 10}


class Npz(Damaged):
    settings = ('data={name="npz", path="set.npz"}',)

    def save(self, name="set.npz", **changes):
        content = {key: value for key, value in {**arrays(), **changes}.items()
                   if value is not None}
        numpy.savez(self.folder / name, **content)
        return content

    def test_each_fault_of_the_file_is_named(self):
        path = self.folder / "set.npz"
        self.save()
        self.accepts(self.settings)
        whole = path.read_bytes()
        at = whole.index(arrays()["x_train"].tobytes()[:64])
        changed = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
        for content, words in (
                (b"", ("is empty",)), (whole[:len(whole) // 2], ("set.npz",)),
                (whole[:-1], ("set.npz",)), (b"a,b\n1,2\n", ("is text",)),
                (b"\x93NUMPY\1\0" + whole[8:], ("is a NumPy array", "npz file")),
                (changed, ("x_train is damaged",))):
            path.write_bytes(content)
            with self.subTest(words):
                self.refuses(self.settings, "set.npz", *words)

    def test_each_fault_of_an_array_is_named(self):
        given = arrays()

        def labels(key, position, value, kind=numpy.int64):
            changed = given[key].astype(kind)
            changed[position] = value
            return {key: changed}

        for changes, words in (
                ({"x_train": given["x_train"][:59]}, ("59 samples", "60 labels")),
                ({"y_test": given["y_test"][:19]}, ("20 samples", "19 labels")),
                ({"y_test": None}, ("x_test", "no y_test")),
                ({"x_train": given["x_train"][:0], "y_train": given["y_train"][:0]}, ("empty",)),
                ({"x_train": given["x_train"][:, 0, 0]}, ("x_train", "shape [60]")),
                ({"x_test": given["x_test"][:, :3]}, ("x_train and x_test differ",)),
                ({"x_train": given["x_train"].reshape(60, 1, 4, 5)}, ("channels must come last",)),
                ({"x_train": given["x_train"] / 255}, ("float64", "uint8")),
                ({"x_train": given["x_train"].astype(object)}, ("Python objects",)),
                ({"y_train": given["y_train"].astype("f4")}, ("float32", "integers")),
                ({"y_train": numpy.eye(10, dtype=int)[given["y_train"]]}, ("argmax",)),
                (labels("y_train", 7, -1), ("y_train has label -1 at row 7", "10 classes")),
                (labels("y_test", 7, -1, "i1"), ("y_test has label -1 at row 7", "10 classes")),
                (labels("y_train", 7, 1 << 63, "u8"), ("row 7", "too large")),
                (labels("y_test", 7, 10), ("test set has label 10 at sample 7", "10 classes"))):
            with self.subTest(words):
                self.save(**changes)
                self.refuses(self.settings, "set.npz", *words)

    def test_numbers_that_are_not_finite_are_named(self):
        features = {key: arrays()[key].reshape(-1, 20).astype("f8")
                    for key in ("x_train", "x_test")}
        for value, words in ((numpy.nan, "NaN"), (numpy.inf, "infinite"), (1e300, "too large")):
            features["x_train"][3, 11] = value
            self.save(**features)
            self.refuses(self.settings, "x_train", words, "row 3, column 11")

    def test_the_order_of_memory_does_not_show(self):
        given = arrays()
        noise = numpy.random.default_rng(6)
        colour = {key: noise.integers(0, 256, (*given[key].shape, 3), dtype=numpy.uint8)
                  for key in ("x_train", "x_test")}
        rows = {key: given[key].reshape(-1, 20).astype(">f8") for key in ("x_train", "x_test")}
        for name, changes in (("gray", {}), ("colour", colour), ("rows", rows)):
            kept = self.save("plain.npz", **changes, y_train=given["y_train"].reshape(60, 1))
            turned = {key: numpy.asfortranarray(value) for key, value in kept.items()}
            for key in ("x_train", "x_test"):
                self.assertFalse(turned[key].flags.c_contiguous)
            self.save("turned.npz", **turned)
            with open(self.folder / "turned.npz", "rb") as file:
                self.assertIn(b"'fortran_order': True", file.read())
            with self.subTest(name):
                for order in ("plain", "turned"):
                    self.succeeds("run", "tiny.toml", "--out", f"{name}-{order}", *self.set_each(
                        f'data={{name="npz", path="{order}.npz"}}', "partition.scheme=iid",
                        "train.rounds=2"))
                self.assertEqual(self.model(f"{name}-plain"), self.model(f"{name}-turned"))
                self.assertEqual(self.table(f"{name}-plain", "confusion.csv"),
                                 self.table(f"{name}-turned", "confusion.csv"))


class MedMnist(Damaged):
    def faulty(self, name, changes, *words):
        given = arrays()
        content = {f"{part}_{kind}": given[f"{short}_{part}"] for part in ("train", "test")
                   for kind, short in (("images", "x"), ("labels", "y"))}
        content.update(changes)
        numpy.savez(self.folder / name, **content)
        settings = (f'data={{name="medmnist", path="{name}"}}',)
        with self.subTest(words):
            self.refuses(settings, name, *words) if words else self.accepts(settings)

    def test_each_fault_is_named(self):
        self.faulty("set.npz", {})
        self.faulty("set.npz", {"train_images": numpy.zeros((60, 4, 4, 4, 1), "u1")}, "shape")
        self.faulty("set.npz", {"train_images": numpy.zeros((60, 4, 5), "f4")}, "float32", "uint8")
        self.faulty("set.npz", {"train_labels": numpy.zeros((60, 14), "u1")}, "multi-label")
        self.faulty("set.npz", {"train_labels": numpy.zeros((59, 1), "u1")}, "60 samples", "59")
        self.faulty("set.npz", {"val_images": numpy.zeros((2, 4, 5), "u1")}, "val_labels")
        # Eight classes by its name.
        self.faulty("bloodmnist.npz", {}, "label 8 at sample 8", "8 classes")


class Csv(Damaged):
    settings = ('data={name="csv", path="rows.csv", test="test.csv"}',)

    def test_each_fault_is_named(self):
        noise = random.Random(2)
        rows = "a,b,label\n" + "".join(f"{noise.random()},{i},{'xyz'[i % 3]}\n" for i in range(60))
        test = "a,b,label\n1,2,x\n3,4,z\n"
        self.write("rows.csv", rows)
        self.write("test.csv", test)
        self.accepts(self.settings)
        for training, held_out, words in (
                ("", test, ("rows.csv", "is empty")),
                ("a,b,label\n", test, ("rows.csv", "no samples")),
                (rows[:rows.rindex(",")], test, ("line 61", "2 fields", "3")),
                (rows + "1,2,3,x\n", test, ("line 62", "4 fields")),
                (rows + "1,two,x\n", test, ("line 62", '"b"', '"two"')),
                (rows + "1,nan,x\n", test, ("line 62", '"b"', "finite")),
                (rows + "1,2,\n", test, ("line 62", '"label"', "empty")),
                (rows + '1,"2,x\n', test, ("line 62", "quote")),
                (rows.replace(",", ";"), test, ("separated by commas",)),
                ("GIF89a\0", test, ("rows.csv", "is a GIF image")),
                (rows, test + "5,6,w\n", ("test.csv", '"w"', "x, y, z")),
                (rows, "a,label\n1,x\n", ("test.csv", '"b"'))):
            self.write("rows.csv", training)
            self.write("test.csv", held_out)
            with self.subTest(words):
                self.refuses(self.settings, *words)


class Images(Damaged):
    settings = ('data={name="image-folder", path="images"}',)

    def test_each_fault_is_named(self):
        for part, count in (("train", 12), ("test", 3)):
            for label, name in enumerate(("dark", "light")):
                folder = self.folder / "images" / part / name
                folder.mkdir(parents=True)
                for i in range(count):
                    (folder / f"{i:02}.png").write_bytes(gray_png(120 * label + i, 6))
        self.accepts(self.settings)
        path = self.folder / "images" / "train" / "light" / "07.png"
        whole = path.read_bytes()
        damaged = whole[:50] + bytes([whole[50] ^ 0x55]) + whole[51:]
        for content, words in ((b"", ("empty",)), (whole[:-20], ()), (whole[:20], ()),
                               (damaged, ()), (b"GIF89a" + bytes(30), ("GIF",)),
                               (b"<html>", ("web page",)), (gray_png(1, 5), ("5 x 5", "6 x 6"))):
            path.write_bytes(content)
            with self.subTest(content[:20]):
                self.refuses(self.settings, "07.png", *words)
        path.write_bytes(whole)
        (self.folder / "images" / "test" / "light").rename(
            self.folder / "images" / "test" / "bright")
        self.refuses(self.settings, "bright", "dark, light")


if __name__ == "__main__":
    unittest.main()
