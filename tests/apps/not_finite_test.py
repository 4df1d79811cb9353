"""Models and losses that are not finite: what is said, written, and refused."""

import csv
import json
import math
import struct
import unittest

from program import ProgramTest

OVERFLOW = ("method.name=fedavg", "method.server.lr=1e30", "train.rounds=3")


class NotFinite(ProgramTest):
    def overflow(self, run):
        """A run whose model's tensors are finite and whose outputs are not."""
        return self.succeeds("run", "tiny.toml", "--out", run, *self.set_each(*OVERFLOW))

    def test_a_loss_that_is_not_finite_is_said_and_written_as_nan(self):
        done = self.overflow("r")
        for name in ("the test set", "D_val"):
            self.assertEqual(done.stderr.count(f"warning: round 1: the loss on {name} is not "
                                               "finite (global model)"), 1, done.stderr)
            self.assertEqual(done.stderr.count(f"the loss on {name}"), 1, done.stderr)
        self.assertIn("90 of 90 samples have no prediction", done.stderr)
        self.assertRegex(done.stdout, r"warning +loss on the test set not finite .*: rounds 1, 2, 3")
        self.assertRegex(done.stdout, r"best +none")
        self.assertNotIn("-nan", done.stdout + done.stderr)
        for row in self.table("r", "rounds.csv"):
            self.assertEqual((row["test_loss"], row["val_loss"]), ("nan", "nan"))
            self.assertEqual((row["test_accuracy"], row["test_macro_f1"]), ("0", "0"))
            self.assertEqual(row["test_macro_auroc"], "")
        for row in self.table("r", "confusion.csv"):
            self.assertEqual([row[key] for key in ("0", "1", "2", "(none)")],
                             ["0", "0", "0", "30"])
        for path in (self.folder / "r").glob("*.csv"):
            self.assertNotIn("-nan", path.read_text(), path)

    def test_a_loss_that_is_finite_is_not_talked_of(self):
        done = self.succeeds("run", "tiny.toml", "--out", "r")
        self.assertNotIn("not finite", done.stdout + done.stderr)
        self.assertNotIn("(none)", (self.folder / "r/confusion.csv").read_text())

    def test_an_evaluation_says_it_too(self):
        self.overflow("r")
        done = self.succeeds("evaluate", "r/model.safetensors", "--predictions", "p.csv")
        self.assertIn("warning: the loss on test is not finite (r/model.safetensors)", done.stderr)
        self.assertRegex(done.stdout, r"loss +nan\n")
        self.assertRegex(done.stdout, r"accuracy +0\.000000\n")
        with open(self.folder / "p.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({(row["predicted"], row["probability"]) for row in rows}, {("", "")})

    def test_runs_are_compared_without_it(self):
        self.overflow("broken")
        self.succeeds("run", "tiny.toml", "--out", "whole", "--set", "seed=2")
        done = self.succeeds("compare", "broken", "whole", "--metric", "test_loss")
        self.assertIn("broken is left out: test_loss is not finite", done.stdout + done.stderr)
        self.assertNotIn("nan", done.stdout.replace("is not finite", ""))

    def write_model(self, name, values):
        """The tensors of tiny.toml's network, as float64: name to the number that fills it."""
        shapes = {"fc1.weight": [8, 36], "fc1.bias": [8], "fc2.weight": [3, 8], "fc2.bias": [3]}
        header, data = {}, b""
        for tensor, shape in shapes.items():
            numbers = [0.5] * math.prod(shape)
            numbers[1] = values.get(tensor, 0.5)
            packed = struct.pack(f"<{len(numbers)}d", *numbers)
            header[tensor] = {"dtype": "F64", "shape": shape,
                              "data_offsets": [len(data), len(data) + len(packed)]}
            data += packed
        text = json.dumps(header).encode()
        (self.folder / name).write_bytes(struct.pack("<Q", len(text)) + text + data)

    def test_tensors_that_are_not_finite_are_refused_by_name(self):
        for value, words in ((math.nan, "the first nan at position 1"), (math.inf, "the first inf"),
                             (1e300, "the first 1e+300 (as float32)")):
            self.write_model("w.safetensors", {"fc2.weight": value})
            wanted = ["w.safetensors: fc2.weight: 1 of its 24 numbers is not finite", words]
            self.refused_in_words(3, wanted, "evaluate", "w.safetensors", "--data", "tiny.toml")
            for command in ("check", "run"):
                self.refused_in_words(3, ["model.init: ", *wanted], command, "tiny.toml", "--set",
                                      "model.init=w.safetensors")
        self.assertFalse((self.folder / "runs").exists())
        self.write_model("w.safetensors", {})
        self.succeeds("evaluate", "w.safetensors", "--data", "tiny.toml")


class Sizes(ProgramTest):
    def test_a_model_that_no_machine_holds_is_refused_by_its_option(self):
        for size in ("2000000000000", str(2**63 - 1)):
            for command in ("check", "run"):
                self.refused_in_words(2, ["model.hidden: fc1.weight", "this machine has"], command,
                                      "tiny.toml", "--set", f"model.hidden=[{size}]")
        self.assertFalse((self.folder / "runs").exists())


class OneSample(ProgramTest):
    """BatchNorm, whose training has no statistics of a single sample."""

    def settings(self, *more):
        return self.set_each("data.resize=16", "model.name=cnn", "model.norm=batch",
                             "method.name=fedavg", "train.rounds=1", *more)

    def test_batches_of_one_are_refused(self):
        for command in ("check", "run"):
            self.refused(2, command, "tiny.toml", *self.settings("train.batch_size=1"))
        self.assertFalse((self.folder / "runs").exists())

    def test_clients_of_one_are_told_cause_and_remedy(self):
        self.write("p.json", json.dumps([[i] for i in range(6)]))
        self.write("tiny.toml", (self.folder / "tiny.toml").read_text().replace(
            "clients = 6\nmin_samples = 5", 'scheme = "file"\nfile = "p.json"'))
        done = self.fedvg("run", "tiny.toml", "--out", "r",
                          *self.settings("validation.source=none"))
        self.assertEqual(done.returncode, 4)
        for word in ("round 1 is void: no client took a step", "BatchNorm",
                     "at least 2 samples (partition.min_samples)"):
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
