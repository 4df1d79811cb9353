"""Strong label skew: a minimum that no draw reaches, and clients without a sample."""

import json
import math
import resource
import struct
import unittest

import numpy

from program import ProgramTest

CLASSES = 10


class Skew(ProgramTest):
    def write_set(self, training, test):
        """`set.npz`: training and test samples of ten classes in turn, no two alike."""
        x = numpy.zeros((training + test, 16), dtype=numpy.uint8)
        x[:, :4] = numpy.arange(training + test, dtype=">u4").view(numpy.uint8).reshape(-1, 4)
        labels = numpy.arange(training + test) % CLASSES
        x[numpy.arange(training + test), 4 + labels] = 200
        x = x.reshape(-1, 4, 4)
        numpy.savez(self.folder / "set.npz", x_train=x[:training], y_train=labels[:training],
                    x_test=x[training:], y_test=labels[training:])

    def write_configuration(self, *partition, validation="", data=""):
        self.write("skew.toml", "\n".join([
            '[data]', 'name = "npz"', 'path = "set.npz"', data, '[partition]', *partition,
            validation, '[model]', 'name = "mlp"', 'hidden = [4]', '[train]', 'rounds = 20',
            'participation = 0.1', 'epochs = 1', '']))


class Minimum(Skew):
    """U21: 60,000 labels of ten classes, 1000 clients, alpha 0.1, in 10 s of processor time."""

    def setUp(self):
        super().setUp()
        self.write_set(60_000, 10)
        self.write_configuration("clients = 1000", "alpha = 0.1", "min_samples = 40",
                                 validation='[validation]\nsource = "none"')
        self.limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10))}

    def test_u21_a_minimum_that_no_draw_reaches_is_met(self):
        for scheme in ("dirichlet", "quantity"):
            with self.subTest(scheme):
                done = self.succeeds("partition", "skew.toml", "-o", "p.json", "--set",
                                     f"partition.scheme={scheme}", **self.limit)
                clients = json.loads((self.folder / "p.json").read_text())["clients"]
                self.assertEqual(len(clients), 1000)
                self.assertGreaterEqual(min(map(len, clients)), 40)
                self.assertEqual(sorted(sum(clients, [])), list(range(60_000)))
                self.assertIn("partition repaired", done.stderr)

    def test_u21_or_the_refusal_names_alpha_clients_and_minimum(self):
        self.refused_in_words(2, ["alpha = 0.1", "1000 clients", "min_samples = 40"], "partition",
                              "skew.toml", "--set", "partition.on_short=refuse", **self.limit)

    def test_u21_a_minimum_that_cannot_exist_is_refused(self):
        for command in ("partition", "check", "run"):
            self.refused_in_words(2, ["1000 x 100", "60000"], command, "skew.toml", "--set",
                                  "partition.min_samples=100", **self.limit)
        self.assertFalse((self.folder / "runs").exists())


class EmptyClients(Skew):
    """U22: 1000 samples, 100 clients, alpha 0.05, no minimum, ten a round, 20 rounds."""

    def setUp(self):
        super().setUp()
        self.write_set(1200, 60)
        self.write_configuration("clients = 100", "alpha = 0.05", "min_samples = 0",
                                 data="take = 1000")

    def methods(self):
        """Each that `fedvg list` names, and each with FedVG's weights."""
        listed = self.succeeds("list", "methods").stdout.split("\n\n")[0].splitlines()[1:-1]
        names = [line.split()[0] for line in listed]
        self.assertGreaterEqual(len(names), 14)
        return names + [name + "+fedvg" for name in names
                        if name not in ("fedvg", "centralized", "local")]

    def counts(self, run):
        """Samples of each client by class."""
        return json.loads((self.folder / run / "partition.json").read_text())["counts"]

    def assert_finite(self, run):
        for name in ("rounds.csv", "clients.csv"):
            for row in self.table(run, name):
                for column, value in row.items():
                    if value and column != "status":
                        self.assertTrue(math.isfinite(float(value)), f"{name} {column} {value}")
        _, content = self.model(run)
        numbers = struct.unpack(f"<{len(content) // 4}f", content)
        self.assertTrue(all(map(math.isfinite, numbers)))

    def assert_weighs_no_empty_client(self, run):
        empty = {k for k, row in enumerate(self.counts(run)) if sum(row) == 0}
        self.assertTrue(empty)
        weights = {}
        for row in self.table(run, "clients.csv"):
            self.assertNotIn(int(row["client"]), empty)
            self.assertGreater(int(row["samples"]), 0)
            weights[row["round"]] = weights.get(row["round"], 0) + float(row["weight"])
        self.assertEqual(list(weights), [str(number) for number in range(1, 21)])
        for total in weights.values():
            self.assertAlmostEqual(total, 1, places=9)

    def runs_to_the_end(self, run, *settings):
        done = self.succeeds("run", "skew.toml", "--out", run, *self.set_each(*settings))
        empty = sum(sum(row) == 0 for row in self.counts(run))
        self.assertIn(f"{empty} of 100 clients are empty", done.stderr)
        self.assertIn(f"{empty} empty", done.stdout)
        self.assertEqual(len(self.table(run, "rounds.csv")), 20)
        self.assert_finite(run)
        self.assertEqual({row["participants"] for row in self.table(run, "rounds.csv")}, {"10"})
        self.assert_weighs_no_empty_client(run)

    def test_u22_every_method_runs_to_the_end(self):
        for method in self.methods():
            if method == "centralized":
                continue  # one participant, everybody's samples
            with self.subTest(method):
                self.runs_to_the_end(method, f"method.name={method}")
        counts = self.counts("fedavg")
        self.assertEqual(sum(map(sum, counts)), 900)
        self.assertGreater(sum(sum(row) == 0 for row in counts), 5)
        self.assertGreater(sum(sum(map(bool, row)) == 1 for row in counts), 15)

    def test_u22_pooling_everybody_leaves_the_empty_out(self):
        self.succeeds("run", "skew.toml", "--out", "r", "--set", "method.name=centralized")
        self.assert_finite("r")
        self.assertEqual({row["samples"] for row in self.table("r", "clients.csv")}, {"900"})

    def test_u22_sizes_alone_may_be_as_skewed(self):
        self.runs_to_the_end("r", "partition.scheme=quantity", "method.name=fedvg")

    def test_u22_a_round_of_everybody_is_one_of_those_with_samples(self):
        self.succeeds("run", "skew.toml", "--out", "r", *self.set_each(
            "train.participation=1", "train.rounds=2", "method.name=fedvg"))
        filled = {str(k) for k, row in enumerate(self.counts("r")) if sum(row) > 0}
        for number in ("1", "2"):
            took_part = [row["client"] for row in self.table("r", "clients.csv")
                         if row["round"] == number]
            self.assertEqual(len(took_part), len(filled))
            self.assertEqual(set(took_part), filled)


if __name__ == "__main__":
    unittest.main()
