"""Data of one's own: given clients, labels that do not fit, and parts for the server."""

import json
import math
import unittest
import warnings

import numpy

from program import ProgramTest
from tiny_set import gray_png


class OwnData(ProgramTest):
    def save(self, name, **arrays):
        numpy.savez(self.folder / name, **arrays)
        return f'data={{name="npz", path="{name}"}}'

    def images(self, count):
        """No two alike."""
        return numpy.random.default_rng(count).integers(0, 256, (count, 6, 6), dtype=numpy.uint8)


class GivenClients(OwnData):
    """U34: people bring a grouping of their own, and see it in the table by class."""

    def partition(self, *settings):
        """Lines of the printed table, and the lists of the written file."""
        done = self.succeeds("partition", "tiny.toml", "-o", "p.json", *self.set_each(
            "partition.scheme=natural", "validation.source=none", "method.name=fedavg", *settings))
        table = [line.split() for line in done.stdout.split("\n\n")[1].splitlines()]
        return table, json.loads((self.folder / "p.json").read_text())["clients"]

    def natural(self):
        """The configuration without a number of clients."""
        text = (self.folder / "tiny.toml").read_text()
        self.write("tiny.toml", text.replace("clients = 6\nmin_samples = 5\n", ""))

    def test_u34_an_array_says_whose_a_sample_is(self):
        self.natural()
        owners = numpy.array(["Bern", "Basel", "Bern", "Zug", "Basel", "Bern", "Bern", "Zug"])
        data = self.save("own.npz", x_train=self.images(8), y_train=[0, 2, 0, 1, 2, 1, 0, 0],
                         x_test=self.images(3), y_test=[0, 1, 2], site=owners)
        table, clients = self.partition(data, "partition.column=site")
        self.assertEqual(clients, [[1, 4], [0, 2, 5, 6], [3, 7]])
        self.assertEqual(table[1:], [["0", "Basel", "2", "0", "0", "2"],
                                     ["1", "Bern", "4", "3", "1", "0"],
                                     ["2", "Zug", "2", "1", "1", "0"],
                                     ["clients", "8", "4", "2", "2"]])

    def test_u34_a_folder_for_each_client(self):
        self.natural()
        held = {"ward-b": {"ill": 3, "well": 1}, "ward-a": {"well": 2}, "ward-c": {"ill": 4}}
        value = 0
        for client, classes in held.items():
            for name, count in classes.items():
                folder = self.folder / "images" / "train" / client / name
                folder.mkdir(parents=True)
                for i in range(count):
                    (folder / f"{i}.png").write_bytes(gray_png(value := value + 1, 6))
        for name in ("ill", "well"):
            folder = self.folder / "images" / "test" / name
            folder.mkdir(parents=True)
            (folder / "0.png").write_bytes(gray_png(200 + len(name), 6))
        data = 'data={name="image-folder", path="images"}'
        table, clients = self.partition(data, "partition.column=folder")
        self.assertEqual(table[1:], [["0", "ward-a", "2", "0", "2"], ["1", "ward-b", "4", "3", "1"],
                                     ["2", "ward-c", "4", "4", "0"], ["clients", "10", "7", "3"]])
        self.assertEqual(sorted(sum(clients, [])), list(range(10)))
        (self.folder / "p.json").rename(self.folder / "read.json")
        file = ("partition.scheme=file", "partition.file=read.json", "validation.source=none",
                "method.name=fedavg")
        again, read = self.partition(data, *file, "partition.column=folder")
        self.assertEqual(read, clients)
        self.assertEqual([line[-3:] for line in again], [line[-3:] for line in table])
        self.refused_in_words(3, ['"file" for a partition file', 'partition.column = "folder"'],
                              "partition", "tiny.toml", *self.set_each(data, *file))

    def test_u34_a_thousand_clients_of_a_table_stay_as_they_are(self):
        self.natural()
        owners = [(7 * i * i + 3 * i) % 1009 for i in range(5000)]
        self.write("own.csv", "who,x,label\n" + "".join(
            f"{who},{i},{i % 3}\n" for i, who in enumerate(owners)))
        self.write("test.csv", "x,label\n1.5,0\n2.5,1\n3.5,2\n")
        table, clients = self.partition('data={name="csv", path="own.csv", test="test.csv"}',
                                        "partition.column=who")
        expected = {}
        for i, who in enumerate(owners):
            expected.setdefault(who, []).append(i)
        self.assertEqual(clients, [expected[who] for who in sorted(expected)])
        self.assertEqual([line[1] for line in table[1:-1]], [str(who) for who in sorted(expected)])
        for line, samples in zip(table[1:-1], clients, strict=True):
            counts = [sum(i % 3 == c for i in samples) for c in range(3)]
            self.assertEqual(list(map(int, line[2:])), [len(samples), *counts])

    def test_u34_a_validation_set_takes_only_its_own_samples(self):
        self.natural()
        owners = numpy.arange(40) % 4
        data = self.save("own.npz", x_train=self.images(40), y_train=numpy.arange(40) // 4 % 2,
                         x_test=self.images(3), y_test=[0, 1, 0], site=owners)
        self.succeeds("run", "tiny.toml", "--out", "r", *self.set_each(
            data, "partition.scheme=natural", "partition.column=site"))
        written = json.loads((self.folder / "r/partition.json").read_text())
        self.assertEqual(len(written["validation"]), 4)
        for k, samples in enumerate(written["clients"]):
            self.assertEqual(samples, [i for i in range(40)
                                       if owners[i] == k and i not in written["validation"]])


class Labels(OwnData):
    """U30: ten outputs, one label 10, one label -1."""

    def refuses(self, words, data, devices=("cpu",)):
        """Whatever the device: labels are looked at before it is."""
        for device in devices:
            self.refused_in_words(3, words, "run", "tiny.toml", "--device", device, "--set", data)
        self.assertFalse((self.folder / "runs").exists())

    def test_u30_labels_out_of_range(self):
        images, labels = self.images(60), numpy.arange(60) % 10
        for label in (10, -1):
            for part in ("train", "test", "val"):
                if (label, part) == (10, "train"):
                    continue  # makes a class of its own, see below
                given = {"y_train": labels.copy(), "y_test": labels[:20].copy(),
                         "y_val": labels[:20].copy()}
                given[f"y_{part}"][7] = label
                data = self.save("own.npz", x_train=images, x_test=images[:20], x_val=images[:20],
                                 **given)
                with self.subTest(f"{label} in {part}"):
                    self.refuses([f"label {label} at ", " 7 ", "10 classes, 0 to 9"], data,
                                 devices=("cpu", "cuda:0") if part == "test" else ("cpu",))

    def test_u30_a_set_with_fixed_classes(self):
        (self.folder / "records").mkdir()
        for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
            (self.folder / "records" / f"{name}.bin").write_bytes(
                b"".join(bytes([i]) + bytes(3072) for i in range(11 if "4" in name else 10)))
        self.refuses(["label 10 at record 10", "10 classes"],
                     'data={name="cifar10", path="records"}')

    def test_u30_a_network_with_ten_outputs(self):
        try:
            import torch
        except ImportError:
            self.skipTest("this Python has no torch")
        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 10))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            torch.jit.script(net).save(self.folder / "net.ts")
        images, labels = self.images(60), numpy.arange(60) % 10
        model = 'model={name="torchscript", file="net.ts"}'
        data = self.save("own.npz", x_train=images, y_train=labels, x_test=images[:20],
                         y_test=labels[:20])
        self.succeeds("check", "tiny.toml", *self.set_each(data, model))
        labels[7] = 10
        data = self.save("own.npz", x_train=images, y_train=labels, x_test=images[:20],
                         y_test=numpy.arange(20) % 10)
        self.refused_in_words(3, ["[2, 10] of samples", "11 classes"], "run", "tiny.toml",
                              *self.set_each(data, model))
        self.assertFalse((self.folder / "runs").exists())

    def test_u30_a_class_that_only_a_slip_explains_is_said(self):
        images = self.images(60)
        for labels, words in ((numpy.arange(60) % 10 + 1, "1 of 11 classes (0)"),
                              (numpy.r_[255, numpy.arange(59) % 10], "245 of 256 classes (10, 11")):
            data = self.save("own.npz", x_train=images, y_train=labels, x_test=images[:20],
                             y_test=labels[20:40])
            done = self.succeeds("check", "tiny.toml", "--set", data)
            self.assertIn(f"the training set has no sample of {words}", done.stderr)


class ValidationPart(OwnData):
    """U28: a data set without, with an empty, a tiny, and a lopsided validation part."""

    def settings(self, count, classes=3):
        images = self.images(90)
        given = {"x_train": images[:60], "y_train": numpy.arange(60) % 3, "x_test": images[60:70],
                 "y_test": numpy.arange(10) % 3}
        if count is not None:
            given.update(x_val=images[70:70 + count], y_val=numpy.arange(count) % classes)
        return self.save("own.npz", **given)

    def assert_whole_weights(self, run):
        weights = {}
        for row in self.table(run, "clients.csv"):
            self.assertTrue(math.isfinite(float(row["weight"])))
            weights[row["round"]] = weights.get(row["round"], 0) + float(row["weight"])
        self.assertEqual(len(weights), 4)
        for total in weights.values():
            self.assertAlmostEqual(total, 1, places=9)

    def test_u28_without_one(self):
        data = self.settings(None)
        self.refused_in_words(2, ["needs D_val", "validation.source"], "run", "tiny.toml",
                              *self.set_each(data, "validation.source=none"))
        self.refused_in_words(2, ["no validation part", "holdout"], "run", "tiny.toml",
                              *self.set_each(data, "validation.source=official"))
        self.assertFalse((self.folder / "runs").exists())
        self.succeeds("run", "tiny.toml", "--out", "fedavg", *self.set_each(
            data, "validation.source=none", "method.name=fedavg"))
        done = self.succeeds("run", "tiny.toml", "--out", "fedvg", "--set", data)
        self.assertIn("D_val: 6 of the 60 training samples held out of the training set",
                      done.stderr)
        self.assert_whole_weights("fedvg")

    def test_u28_with_no_sample(self):
        self.refused_in_words(3, ["own.npz", "_val is empty"], "run", "tiny.toml",
                              *self.set_each(self.settings(0), "validation.source=official"))
        self.write("p.json", json.dumps({"clients": [[k] for k in range(6)], "validation": []}))
        self.refused_in_words(
            3, '"validation" of the partition file is empty', "run", "tiny.toml", *self.set_each(
                self.settings(None), "partition.scheme=file", "partition.file=p.json"))
        self.assertFalse((self.folder / "runs").exists())

    def test_u28_with_one_sample_and_with_a_class_missing(self):
        for name, count, classes, words in (("one", 1, 1, "D_val is a single sample"),
                                            ("two", 8, 2, "D_val has no sample of class 2")):
            done = self.succeeds("run", "tiny.toml", "--out", name, *self.set_each(
                self.settings(count, classes), "validation.source=official"))
            self.assertIn(words, done.stderr)
            self.assert_whole_weights(name)


if __name__ == "__main__":
    unittest.main()
