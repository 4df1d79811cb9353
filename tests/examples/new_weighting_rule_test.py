"""examples/new_weighting_rule builds against the installed library and weighs clients."""

import csv
import math
import os
import pathlib
import unittest

from example import SOURCE, ExampleTest

BINARY = pathlib.Path(os.environ["FEDVG_BINARY_DIR"])
CMAKE = os.environ.get("FEDVG_CMAKE", "cmake")


class NewWeightingRule(ExampleTest):
    def setUp(self):
        if not (BINARY / "lib/libfedvg.so").exists():
            self.skipTest("built without FEDVG_SHARED")
        super().setUp()

    def test_weights_follow_the_loss(self):
        example = SOURCE / "examples/new_weighting_rule"
        self.run_in_folder(CMAKE, "--install", BINARY, "--prefix", "installed")
        self.run_in_folder(CMAKE, "-G", "Ninja", "-S", example, "-B", "rule",
                           f"-DCMAKE_PREFIX_PATH={self.folder}/installed",
                           "-DCMAKE_BUILD_TYPE=Debug")
        self.run_in_folder(CMAKE, "--build", "rule")
        settings = "\n".join([
            'data.name = "idx"', f'data.path = "{self.folder}/set"', "partition.clients = 4",
            "partition.min_samples = 1", "train.rounds = 2", "train.epochs = 1",
            "train.participation = 1", 'method.weighting = {name = "loss", temperature = 0.5}'])
        (self.folder / "loss.toml").write_text(settings)
        self.run_in_folder("rule/loss_rule", "loss.toml", "run")
        self.assert_run("run")
        with open(self.folder / "run/clients.csv", newline="") as file:
            clients = [row for row in csv.DictReader(file) if row["round"] == "1"]
        scores = [math.exp(-float(row["loss_last"]) / 0.5) for row in clients]
        self.assertEqual(len(clients), 4)
        for row, score in zip(clients, scores):
            self.assertAlmostEqual(float(row["weight"]), score / sum(scores), places=9)

    def test_it_is_as_short_as_promised(self):
        lines = (SOURCE / "examples/new_weighting_rule/loss_rule.cpp").read_text().splitlines()
        self.assertLessEqual(len(lines), 40)


if __name__ == "__main__":
    unittest.main()
