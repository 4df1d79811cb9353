"""`fedvg bench` on sizes that take no time: what it prints, never how fast anything was."""

import json
import os
import unittest

import tiny_set
from program import ProgramTest

SMALL = ("data.training=240", "data.test=20", "partition.clients=4", "partition.min_samples=5",
         "train.participants=2", "train.epochs=1")
KEYS = {"workload", "processor", "kernels", "workers", "data", "phases",
        "images_per_second_core", "stock", "ratio", "spread", "peak_mb", "flops_share",
        "multiply_add_gflops"}
NAMES = ["fmnist-cnn", "cifar-cnn", "cifar-resnet18", "derma-resnet18", "many-small-clients",
         "1000-participants"]


class Bench(ProgramTest):
    def bench(self, *arguments, settings=SMALL):
        return self.succeeds("bench", *arguments, "--rounds", "1", *self.set_each(*settings))

    def json_of(self, *arguments, settings=SMALL):
        return json.loads(self.bench(*arguments, "--json", settings=settings).stdout)

    def test_a_table_of_phases(self):
        lines = self.bench("--workers", "2").stdout.splitlines()
        topics = {line.split()[0]: line for line in lines if line}
        self.assertIn("fmnist-cnn", topics["workload"])
        self.assertIn("random images, 1 x 28 x 28, 10 classes: 240 to train on", topics["data"])
        self.assertIn("2 workers", topics["engine"])
        self.assertIn("batches of 32", topics["stock"])
        self.assertIn("for both", topics["malloc"])
        title = next(line for line in lines if line.startswith("phase"))
        self.assertEqual(title.split(), ["phase", "seconds", "images/s/core", "stock", "ratio",
                                         "spread", "flops", "share", "peak", "MB"])
        rows = [line.split() for line in lines[lines.index(title) + 1:]]
        self.assertEqual([row[0] for row in rows],
                         ["train", "score", "combine", "evaluate", "other", "round"])
        for row in rows[:2]:
            self.assertEqual(row[6], "-")  # within the spread
            for number in row[1:6] + row[7:8]:
                self.assertGreater(float(number), 0)
        self.assertEqual(len(rows[-1]), 3)
        self.assertGreater(float(rows[-1][2]), 0)

    def test_json_has_every_figure(self):
        result = self.json_of("fmnist-cnn", "--workers", "1")
        self.assertLessEqual(KEYS, set(result))
        self.assertEqual(result["workload"], "fmnist-cnn")
        self.assertEqual(result["workers"], 1)
        self.assertEqual(result["rounds"], 1)
        self.assertEqual(set(result["phases"]),
                         {"train", "score", "combine", "evaluate", "other", "round"})
        for phase in ("train", "score"):
            rate, stock = result["images_per_second_core"][phase], result["stock"][phase]
            self.assertGreater(rate, 0)
            self.assertAlmostEqual(result["ratio"][phase], rate / stock)
            self.assertEqual(result["spread"][phase], [result["ratio"][phase]] * 2)
            self.assertIn(result["stock"]["memory_format"][phase], ("channels_last", "contiguous"))
            if result["multiply_add_gflops"] is None:
                self.assertIsNone(result["flops_share"][phase])
            else:  # 2 (3 x 4,267,008 - 460,800) operations an image
                self.assertAlmostEqual(result["flops_share"][phase],
                                       rate * 24_680_448 / result["multiply_add_gflops"] / 1e9)
        # 10 % of 240 are D_val.
        self.assertIn("D_val 24", result["data"])
        self.assertGreater(result["peak_mb"], 1)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core has a worker")
    def test_cores_without_a_worker_are_tried_as_threads(self):
        alone = (*SMALL, "train.participants=1")
        trial = self.json_of(settings=alone)["threads"]
        self.assertEqual(trial["workers"], 1)
        self.assertEqual(trial["threads"], len(os.sched_getaffinity(0)))
        self.assertAlmostEqual(trial["ratio"], trial["seconds_one"] / trial["seconds"])
        line = next(line for line in self.bench(settings=alone).stdout.splitlines()
                    if line.startswith("threads"))
        self.assertRegex(line, r"engine.threads = \d+ is (\d+.\d\d x as fast|slower, by \d+.\d\d): "
                               r"\S+ s for training, scoring and step with 1 worker of \d+ threads, "
                               r"\S+ s with one each$")
        self.assertIsNotNone(self.json_of(settings=(*alone, "engine.kernels=aten"))["threads"])
        for taken in ("engine.workers=1", "engine.threads=2"):
            self.assertIsNone(self.json_of(settings=(*alone, taken))["threads"], taken)

    def test_a_rule_without_scoring_has_no_figures_of_it(self):
        result = self.json_of("1000-participants", settings=(
            "data.take=60", "data.training=60", "data.test=10", "partition.clients=5"))
        self.assertIsNone(result["images_per_second_core"]["score"])
        self.assertIsNone(result["ratio"]["score"])
        self.assertIsNone(result["stock"]["memory_format"]["score"])
        self.assertGreater(result["ratio"]["train"], 0)

    def test_a_model_without_a_stock_loop_has_no_ratio(self):
        result = self.json_of(settings=(*SMALL, "model.name=mlp"))
        self.assertGreater(result["images_per_second_core"]["train"], 0)
        for figure in ("ratio", "stock", "spread", "flops_share"):
            self.assertIsNone(result[figure]["train"])
        done = self.bench(settings=(*SMALL, "model.name=mlp"))
        self.assertIn("none for this model", done.stdout)

    def test_the_data_set_in_place_of_random_images(self):
        tiny_set.SIZE, before = 28, tiny_set.SIZE
        self.addCleanup(setattr, tiny_set, "SIZE", before)
        tiny_set.CLASSES = 10
        self.addCleanup(setattr, tiny_set, "CLASSES", 3)
        tiny_set.write(self.folder / "big", training=120, test=20)
        result = self.json_of("--data", "big", settings=SMALL[2:])
        self.assertIn("fashion-mnist", result["data"])
        self.assertIn("120 to train on", result["data"])
        self.refused_in_words(3, "nowhere", "bench", "--data", "nowhere")
        self.refused_in_words(2, "--data", "bench", "--data", "")

    def test_names(self):
        listed = self.succeeds("bench", "--list").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in listed], NAMES)
        self.refused_in_words(2, ["unknown workload 'fmnist-cn'; did you mean 'fmnist-cnn'?",
                                  "derma-resnet18"], "bench", "fmnist-cn")

    def test_mistakes(self):
        self.refused_in_words(2, "--rounds: must be >= 1, got 0", "bench", "--rounds", "0")
        self.refused_in_words(2, "did you mean 'training'?", "bench", *self.set_each(
            "data.trainin=5"))
        self.refused_in_words(2, "workers", "bench", "--workers", "many")


if __name__ == "__main__":
    unittest.main()
