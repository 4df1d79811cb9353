"""`fedvg evaluate`: the metrics of a saved model."""

import csv
import json
import struct
import unittest

from program import ProgramTest

METRICS = {"accuracy": "accuracy", "loss": "loss", "balanced accuracy": "balanced_accuracy",
           "macro F1": "macro_f1", "macro AUROC": "macro_auroc"}


class Evaluate(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeeds("run", "tiny.toml", "--out", "r")
        self.last = self.table("r", "rounds.csv")[-1]

    def evaluated(self, *arguments):
        """The figures that were printed, by name, and the lines of the classes."""
        lines = self.succeeds("evaluate", *arguments).stdout.splitlines()
        empty = lines.index("")
        figures = {line[:17].rstrip(): line[19:] for line in lines[:empty]}
        return figures, [line.split() for line in lines[empty + 2:]]

    def assert_as_in_the_run(self, figures, side):
        for name, column in METRICS.items():
            self.assertAlmostEqual(float(figures[name]), float(self.last[f"{side}_{column}"]),
                                   delta=5.1e-7, msg=name)

    def test_the_last_row_of_the_run_is_reproduced(self):
        figures, classes = self.evaluated("r/model.safetensors")
        self.assert_as_in_the_run(figures, "test")
        self.assertEqual(figures["data"], "idx: test, 90 samples")
        wanted = [row for row in self.table("r", "classes.csv") if row["round"] == "4"]
        for row, (name, samples, recall) in zip(wanted, classes, strict=True):
            self.assertEqual((name, samples), (row["class"], row["samples"]))
            self.assertAlmostEqual(float(recall), float(row["recall"]), delta=5.1e-7)

    def test_on_the_other_parts(self):
        figures, _ = self.evaluated("r/model.safetensors", "--part", "validation")
        self.assert_as_in_the_run(figures, "val")
        figures, classes = self.evaluated("r/model.safetensors", "--part", "training")
        self.assertEqual(sum(int(samples) for _, samples, _ in classes), 270)

    def test_on_another_data_set(self):
        import tiny_set
        tiny_set.write(self.folder / "other", training=60, test=33)
        figures, classes = self.evaluated("r/model.safetensors", "--data", "tiny.toml", "--set",
                                          "data.path=other")
        self.assertEqual(figures["data"], "idx: test, 33 samples")
        self.assertEqual([samples for _, samples, _ in classes], ["11"] * 3)

    def test_predictions_add_up_to_the_accuracy(self):
        figures, _ = self.evaluated("r/model.safetensors", "--predictions", "out.csv")
        with open(self.folder / "out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["sample"] for row in rows], [str(i) for i in range(90)])
        right = sum(row["label"] == row["predicted"] for row in rows)
        self.assertEqual(right / 90, float(self.last["test_accuracy"]))
        for row in rows:
            self.assertTrue(1 / 3 <= float(row["probability"]) <= 1)

    def test_a_model_of_another_width(self):
        lines = self.refused(3, "evaluate", "r/model.safetensors", "--set", "model.hidden=[5]")
        text = "\n".join(lines)
        self.assertIn("r/model.safetensors: 3 tensors do not fit the model", text)
        self.assertIn("fc1.weight: [8, 36] in the file, [5, 36] in the model", text)
        self.assertIn("fc1.bias: [8] in the file, [5] in the model", text)

    def test_a_model_of_another_kind(self):
        header, data = self.model("r")
        header["__metadata__"]["model"] = "lenet"
        header["fc3.bias"] = header.pop("fc2.bias")
        self.write_model("other", header, data)
        self.refused_in_words(3, ["fc2.bias: missing", "fc3.bias: not in the model",
                                  'the file holds model "lenet", the configuration asks for "mlp"',
                                  "--set model.name=lenet"],
                              "evaluate", "r/other.safetensors")

    def test_a_half_precision_file_is_read(self):
        header, data = self.model("r")
        halves = b""
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            numbers = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
            packed = struct.pack(f"<{len(numbers)}e", *numbers)
            entry.update(dtype="F16", data_offsets=[len(halves), len(halves) + len(packed)])
            halves += packed
        self.write_model("half", header, halves)
        figures, _ = self.evaluated("r/half.safetensors")
        self.assertAlmostEqual(float(figures["loss"]), float(self.last["test_loss"]), places=2)

    # A run that started from a file, which is gone.
    def test_the_file_of_model_init_is_not_needed(self):
        (self.folder / "r" / "model.safetensors").rename(self.folder / "start.safetensors")
        self.succeeds("run", "tiny.toml", "--out", "on", "--set", "model.init=start.safetensors")
        self.last = self.table("on", "rounds.csv")[-1]
        (self.folder / "start.safetensors").unlink()
        self.refused(3, "run", "on/config.toml", "--out", "again")
        figures, _ = self.evaluated("on/model.safetensors")
        self.assert_as_in_the_run(figures, "test")

    def write_model(self, name, header, data):
        text = json.dumps(header).encode()
        (self.folder / "r" / f"{name}.safetensors").write_bytes(
            struct.pack("<Q", len(text)) + text + data)

    def test_mistakes_are_told(self):
        self.refused_in_words(3, "absent.safetensors", "evaluate", "absent.safetensors", "--data",
                              "tiny.toml")
        self.refused_in_words(2, ["--data is missing", "config.toml"], "evaluate",
                              "model.safetensors")
        self.refused_in_words(2, ["--part", "'tests'", "test"], "evaluate", "r/model.safetensors",
                              "--part", "tests")
        self.refused_in_words(2, "validation.source", "evaluate", "r/model.safetensors", "--part",
                              "validation", *self.set_each("validation.source=none",
                                                           "method.name=fedavg"))
        (self.folder / "r" / "broken.safetensors").write_bytes(b"not a model")
        self.refused_in_words(3, "broken.safetensors: not a safetensors file", "evaluate",
                              "r/broken.safetensors")


if __name__ == "__main__":
    unittest.main()
