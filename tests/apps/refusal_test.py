"""What is refused before anything runs: exit code, words, and nothing created."""

import gzip
import json
import unittest

import tiny_set
from program import ProgramTest


class Refused(ProgramTest):
    def tearDown(self):
        self.assertFalse((self.folder / "runs").exists(), "something was created")

    def run_refused(self, words, *settings, code=2):
        return self.refused_in_words(code, words, "run", "tiny.toml", *self.set_each(*settings))


class Configuration(Refused):
    def test_unknown_names_are_told_with_candidates(self):
        self.run_refused(["unknown method 'FedVGG'", "did you mean 'fedvg'?"], "method.name=FedVGG")
        self.run_refused(["unknown method 'fed-avgm'", "did you mean 'fedavg"],
                         "method.name=fed-avgm")
        for setting in ("method.mu=0.01", "method.correction.mu=0.01"):
            self.run_refused(["mu belongs to correction", "fedprox", "not in use"],
                             "method.name=fedavg", setting)
        self.run_refused("tau", "method.name=scaffold", "method.correction.tau=0.5")
        self.run_refused(["unknown option 'lrr'", "did you mean 'lr'?"],
                         "train.optimizer.lrr=0.1")
        self.run_refused("did you mean 'train'?", "tarin.rounds=3")
        self.run_refused("did you mean 'mlp'?", "model.name=mpl")

    def test_values_out_of_bounds_are_told_with_the_bound(self):
        for setting, bound in (("partition.alpha=0", "[1e-06, "), ("partition.alpha=-1", "got -1"),
                               ("train.participation=0", "(0, 1]"),
                               ("train.participation=1.01", "(0, 1]"),
                               ("train.epochs=0", ">= 1"), ("train.rounds=0", ">= 1"),
                               ("train.batch_size=0", ">= 1"), ("train.optimizer.lr=nan", "nan"),
                               ("train.optimizer.lr=-0.1", "got -0.1"),
                               ("partition.clients=0", "got 0"), ("seed=-1", ">= 0"),
                               ("validation.ratio=1", "got 1"), ("engine.window=0", ">= 1")):
            with self.subTest(setting):
                self.run_refused([setting.split("=")[0], bound], setting)

    def test_every_concentration_has_a_least_value(self):
        for scheme in ("dirichlet", "dirichlet-client", "quantity"):
            with self.subTest(scheme):
                self.run_refused(["partition.alpha", "[1e-06, "], f"partition.scheme={scheme}",
                                 "partition.alpha=5e-324")
                self.assertIn("1e-6", self.succeeds("list", "partition", scheme).stdout)

    def test_wrong_types_are_told(self):
        self.run_refused("wanted an integer", "train.rounds=many")
        self.run_refused("wanted", "train.optimizer.lr=[0.1]")
        self.run_refused("method is a section", "method=fedvg")

    def test_integers_that_are_too_large_are_told(self):
        for key, value in (("seed", "9223372036854775808"),
                           ("train.rounds", "99999999999999999999")):
            words = f"{value} is too large, the largest integer is 9223372036854775807"
            with self.subTest(key):
                self.run_refused(f"--set {key}={value}: {words}", f"{key}={value}")
                self.write("large.toml", f"{key} = {value}\n")
                self.refused_in_words(2, f"large.toml:1: {words}", "run", "large.toml")

    def test_all_mistakes_are_told_together_with_file_and_line(self):
        self.write("tiny.toml", '[train]\nepochs = 0\nrunds = 3\n[method]\nname = "FedVGG"\n')
        lines = self.run_refused(
            ["tiny.toml:2: train.epochs", "tiny.toml:3: unknown option 'runds'",
             "tiny.toml:5: method.name", "--set: partition.alpha"], "partition.alpha=0")
        self.assertEqual(len(lines), 4)
        lines = self.refused(2, "run", "tiny.toml", "--set", "novalue", "--workers", "x",
                             "--device", "gpu")
        self.assertEqual(len(lines), 6, lines)

    def test_a_file_that_is_missing_or_no_toml(self):
        self.refused_in_words(2, "absent.toml", "run", "absent.toml")
        self.write("tiny.toml", "rounds = = 3\n")
        self.run_refused("tiny.toml:1")

    def test_fedvg_needs_a_validation_set(self):
        self.run_refused("needs D_val", "validation.source=none")
        self.run_refused("needs D_val", "validation.source=none", "method.name=fedavg",
                         "method.weighting=accuracy")

    def test_more_clients_than_samples(self):
        self.run_refused(["400", "270"], "partition.clients=400", "partition.min_samples=1")

    def test_more_participants_than_clients(self):
        self.run_refused(["train.participants = 11", "6 clients"], "train.participants=11")

    def test_numbers_of_workers_are_bounded(self):
        for workers in ("-1", "10000"):
            self.refused_in_words(2, ["--workers", "[0, 4096]", f"got {workers}"],
                                  "run", "tiny.toml", "--workers", workers)
        self.refused_in_words(2, "whole number", "run", "tiny.toml", "--workers", "two")

    def test_a_device_that_is_not_there(self):
        done = self.fedvg("run", "tiny.toml", "--device", "cuda:77")
        self.assertIn(done.returncode, (2, 4))
        self.assertIn("cuda:77", done.stderr)
        self.refused_in_words(2, "cuda:N", "run", "tiny.toml", "--device", "gpu")

    def test_check_finds_what_run_would(self):
        for settings in (("train.epochs=0",), ("partition.clients=400",),
                         ("train.participants=11",), ("validation.source=none",)):
            arguments = self.set_each(*settings)
            self.assertEqual(self.refused(2, "check", "tiny.toml", *arguments),
                             self.refused(2, "run", "tiny.toml", *arguments))


class Data(Refused):
    def test_a_missing_folder_or_file(self):
        self.run_refused("nowhere", "data.path=nowhere", code=3)
        (self.folder / "set" / "train-labels-idx1-ubyte.gz").unlink()
        self.run_refused("train-labels", code=3)

    def test_a_truncated_file(self):
        path = self.folder / "set" / "train-images-idx3-ubyte.gz"
        path.write_bytes(path.read_bytes()[:-500])
        self.run_refused("train-images-idx3-ubyte.gz", code=3)
        tiny_set.put(path, gzip.compress(b"")[:0] + b"\x00\x00\x08\x03")
        self.run_refused("train-images-idx3-ubyte.gz", code=3)

    def test_a_file_of_another_kind(self):
        path = self.folder / "set" / "t10k-images-idx3-ubyte.gz"
        path.write_text("<html>not found</html>")
        self.run_refused("t10k-images-idx3-ubyte.gz", code=3)

    def test_labels_that_do_not_fit(self):
        path = self.folder / "set" / "t10k-labels-idx1-ubyte.gz"
        labels = [i % 3 for i in range(90)]
        labels[41] = 3
        tiny_set.put(path, tiny_set.labels_file(labels))
        self.run_refused(["41", "3"], code=3)
        tiny_set.put(path, tiny_set.labels_file(labels[:40]))
        self.run_refused(["40", "90"], code=3)

    def test_a_partition_file_that_does_not_fit(self):
        arguments = ("partition.scheme=file", "partition.file=p.json")
        self.run_refused("p.json", *arguments, code=3)
        self.write("p.json", json.dumps([[0, 1], [1, 2]]))
        self.run_refused(["p.json", "1"], *arguments, code=3)
        self.write("p.json", json.dumps([[0, 300]]))
        self.run_refused("300", *arguments, code=3)
        self.write("p.json", json.dumps([[0, 1, 2], [3, 4, 5]]))
        self.run_refused(["6", "2"], "partition.clients=6", *arguments)


class Folder(ProgramTest):
    def test_a_folder_that_exists_is_left_alone(self):
        (self.folder / "mine").mkdir()
        self.refused_in_words(4, ["mine exists already", "--out"],
                              "run", "tiny.toml", "--out", "mine")
        self.assertEqual(list((self.folder / "mine").iterdir()), [])

    def test_a_folder_that_cannot_be_made(self):
        self.refused_in_words(4, "tiny.toml: not a folder", "run", "tiny.toml", "--out",
                              "tiny.toml/run")
        self.refused_in_words(4, "/proc/fedvg", "run", "tiny.toml", "--out", "/proc/fedvg")

    def test_a_link_to_nowhere(self):
        (self.folder / "link").symlink_to("away/run")
        for option in ([], ["--resume"]):
            for out in ("link", "link/", "link/below"):
                with self.subTest(out, option=option):
                    lines = self.refused_in_words(
                        4, ["link: ", "a symbolic link to away/run", "remove the link", "--out"],
                        "run", "tiny.toml", "--out", out, *option)
                    self.assertNotIn("--resume", lines[0])
        self.assertFalse((self.folder / "away").exists())

    def test_mistakes_in_the_configuration_come_before_the_folder(self):
        (self.folder / "mine").mkdir()
        self.refused(2, "run", "tiny.toml", "--out", "mine", "--set", "train.epochs=0")


if __name__ == "__main__":
    unittest.main()
