"""What a run leaves behind, and that it can be repeated."""

import json
import unittest

from program import ProgramTest

TABLES = ("rounds.csv", "clients.csv", "layers.csv", "classes.csv")
ROUND_COLUMNS = ("round,test_accuracy,test_loss,val_accuracy,val_loss,participants,rejected,"
                 "weight_min,weight_max,weight_entropy,bytes_down,bytes_up,seconds,seconds_train,"
                 "seconds_score,seconds_combine,seconds_evaluate,test_balanced_accuracy,"
                 "val_balanced_accuracy,test_macro_f1,val_macro_f1,test_macro_auroc,"
                 "val_macro_auroc,scored,clients_evaluated,clients_accuracy_mean,"
                 "clients_accuracy_weighted,clients_accuracy_worst,clients_accuracy_std")


class Run(ProgramTest):
    def assert_same_run(self, one, other):
        for name in TABLES:
            self.assertEqual(self.without_seconds(one, name), self.without_seconds(other, name))
        for name in ("model.safetensors", "partition.json", "confusion.csv"):
            self.assertEqual((self.folder / one / name).read_bytes(),
                             (self.folder / other / name).read_bytes(), name)

    def test_a_folder_may_be_named_with_a_slash_at_its_end(self):
        self.succeeds("run", "tiny.toml", "--out", "new/run/", "--set", "train.rounds=1")
        self.assert_whole("new/run")
        self.assertIn("exists already", self.fedvg(
            "run", "tiny.toml", "--out", "new/run/", "--set", "train.rounds=1").stderr)

    def test_the_folder_holds_what_the_formats_say(self):
        done = self.succeeds("run", "tiny.toml")
        run = "runs/tiny-fedvg-s1"
        self.assert_whole(run)
        self.assertEqual({path.name for path in (self.folder / run).iterdir()},
                         {"config.toml", "environment.json", "partition.json", *TABLES,
                          "confusion.csv", "model.safetensors", "best.safetensors", "log.txt",
                          "checkpoints", "run.json"})
        self.assertEqual(json.loads((self.folder / run / "run.json").read_text()),
                         {"finished": True, "rounds": 4, "stopped": "all rounds"})
        rounds = self.table(run, "rounds.csv")
        self.assertEqual(",".join(rounds[0]), ROUND_COLUMNS)
        self.assertEqual(len(rounds), 4)
        for row in rounds:
            self.assertEqual(row["participants"], "3")
            self.assertGreaterEqual(float(row["weight_max"]), float(row["weight_min"]))
            parts = sum(float(row["seconds_" + name])
                        for name in ("train", "score", "combine", "evaluate"))
            self.assertGreater(float(row["seconds"]), 0)
            self.assertLess(parts, float(row["seconds"]) + 0.5)
        clients = self.table(run, "clients.csv")
        self.assertEqual(len(clients), 12)
        for number in range(1, 5):
            weights = [float(row["weight"]) for row in clients if row["round"] == str(number)]
            self.assertAlmostEqual(sum(weights), 1, places=12)
        self.assertEqual({row["corrupted"] for row in clients}, {""})
        layers = self.table(run, "layers.csv")
        self.assertEqual({row["round"] for row in layers}, {"2", "4"})
        self.assertEqual({row["tensor"] for row in layers},
                         {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"})
        header, _ = self.model(run)
        self.assertEqual(header["__metadata__"]["round"], "4")
        self.assertEqual(header["fc1.weight"]["shape"], [8, 36])
        for word in ("clients", "fedvg = none × fedvg", "30 samples", "accuracy", "ETA", run):
            self.assertIn(word, done.stdout)
        log = (self.folder / run / "log.txt").read_text()
        self.assertIn("info", log)
        self.assertIn(rounds[3]["test_accuracy"][:5], log)

    def test_metrics_of_classes_agree_with_each_other(self):
        self.succeeds("run", "tiny.toml", "--out", "r", "--set", "train.class_weights=balanced",
                      "--set", "evaluate.every=3")
        rounds, classes = self.table("r", "rounds.csv"), self.table("r", "classes.csv")
        self.assertEqual([row["round"] for row in classes], ["3"] * 3 + ["4"] * 3)
        self.assertEqual({row["samples"] for row in classes}, {"30"})
        recall = [float(row["recall"]) for row in classes if row["round"] == "4"]
        last = rounds[-1]
        # every class has 30 test images: the mean recall is the accuracy
        self.assertAlmostEqual(sum(recall) / 3, float(last["test_accuracy"]), places=12)
        self.assertAlmostEqual(float(last["test_balanced_accuracy"]),
                               float(last["test_accuracy"]), places=12)
        confusion = self.table("r", "confusion.csv")
        names = [row["true_class"] for row in confusion]
        counts = [[int(row[name]) for name in names] for row in confusion]
        self.assertEqual([row[i] / 30 for i, row in enumerate(counts)], recall)
        f1 = [2 * counts[c][c] / (30 + sum(row[c] for row in counts)) for c in range(3)]
        self.assertAlmostEqual(float(last["test_macro_f1"]), sum(f1) / 3, places=12)
        for side in ("test", "val"):
            self.assertEqual(rounds[0][side + "_macro_auroc"], "")
            self.assertTrue(0 <= float(last[side + "_macro_auroc"]) <= 1)

    def test_the_metrics_of_classes_are_compared_as_well(self):
        for seed in (1, 2):
            self.succeeds("run", "tiny.toml", "--out", f"s{seed}", "--set", f"seed={seed}")
        done = self.succeeds("compare", "s1", "s2", "--metric", "test_macro_auroc")
        self.assertIn("test_macro_auroc", done.stdout)

    def test_it_learns(self):
        self.succeeds("run", "tiny.toml", "--out", "r", "--set", "train.rounds=20", "--set",
                      "partition.scheme=iid")
        self.assertGreater(float(self.table("r", "rounds.csv")[-1]["test_accuracy"]), 0.9)

    def test_the_resolved_configuration_repeats_the_run(self):
        self.succeeds("run", "tiny.toml", "--out", "first", "--set", "seed=5")
        done = self.succeeds("run", "first/config.toml", "--out", "second")
        self.assertNotIn("replaces", done.stderr)
        self.assert_same_run("first", "second")
        self.assertEqual((self.folder / "first/config.toml").read_text(),
                         (self.folder / "second/config.toml").read_text())

    def test_the_resolved_configuration_works_from_anywhere(self):
        self.succeeds("run", "tiny.toml", "--out", "first")
        (self.folder / "elsewhere").mkdir()
        self.folder = self.folder / "elsewhere"
        self.succeeds("run", "../first/config.toml", "--out", "../second")
        self.folder = self.folder.parent
        self.assert_same_run("first", "second")

    def test_the_number_of_workers_does_not_show(self):
        for workers in (1, 2, 3):
            self.succeeds("run", "tiny.toml", "--out", f"w{workers}", "--workers", workers)
        self.assert_same_run("w1", "w2")
        self.assert_same_run("w1", "w3")

    def test_evaluating_less_often_changes_nothing_else(self):
        self.succeeds("run", "tiny.toml", "--out", "each")
        self.succeeds("run", "tiny.toml", "--out", "third", "--set", "evaluate.every=3")
        rows = self.table("third", "rounds.csv")
        self.assertEqual([bool(row["test_accuracy"]) for row in rows], [False, False, True, True])
        self.assertEqual(rows[3]["test_accuracy"],
                         self.table("each", "rounds.csv")[3]["test_accuracy"])
        self.assertEqual((self.folder / "each/model.safetensors").read_bytes(),
                         (self.folder / "third/model.safetensors").read_bytes())

    def test_its_partition_is_read_back(self):
        self.succeeds("run", "tiny.toml", "--out", "drawn")
        self.write("fixed.toml", (self.folder / "tiny.toml").read_text().replace(
            "clients = 6\nmin_samples = 5", 'scheme = "file"\nfile = "drawn/partition.json"'))
        self.succeeds("run", "fixed.toml", "--out", "read")
        for name in TABLES:
            self.assertEqual(self.without_seconds("drawn", name),
                             self.without_seconds("read", name))
        self.succeeds("run", "read/config.toml", "--out", "again")
        self.assert_same_run("read", "again")

    def test_a_cohort_file_is_followed(self):
        self.write("cohorts.json", json.dumps([[4, 0], [2]]))
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--set",
                             "train.cohorts=cohorts.json")
        self.assertIn("do not apply", done.stderr)
        taken = [(row["round"], row["client"]) for row in self.table("r", "clients.csv")]
        self.assertEqual(taken, [("1", "4"), ("1", "0"), ("2", "2"), ("3", "4"), ("3", "0"),
                                 ("4", "2")])

    def test_without_a_validation_set_fedavg_runs(self):
        self.succeeds("run", "tiny.toml", "--out", "r", "--set", "validation.source=none", "--set",
                      "method.name=fedavg")
        for row in self.table("r", "rounds.csv"):
            self.assertEqual((row["val_accuracy"], row["val_loss"]), ("", ""))

    def test_empty_clients_are_counted_at_start_and_in_the_summary(self):
        done = self.succeeds("run", "tiny.toml", "--out", "r", *self.set_each(
            "data.take=60", "partition.clients=40", "partition.min_samples=0",
            "partition.alpha=0.05"))
        self.assertRegex(done.stderr, r"\d+ of 40 clients are empty")
        self.assertRegex(done.stdout, r"\d+ empty")
        self.assertRegex(done.stdout, r"note +\d+ of 40 clients are empty")
        self.assertNotIn("0", [row["samples"] for row in self.table("r", "clients.csv")])

    def test_every_method_runs_and_its_weights_sum_to_one(self):
        listed = self.succeeds("list", "methods").stdout.split("\n\n")[0].splitlines()[1:-1]
        methods = [line.split()[0] for line in listed]
        self.assertIn("fedavg", methods)
        combined = [name + "+fedvg" for name in methods
                    if name not in ("fedvg", "centralized", "local")]
        for method in methods + combined:
            with self.subTest(method):
                run = "run-" + method
                self.succeeds("run", "tiny.toml", "--out", run, *self.set_each(
                    f"method.name={method}", "train.rounds=2"))
                rows = self.table(run, "clients.csv")
                for number in ("1", "2"):
                    weights = [float(row["weight"]) for row in rows if row["round"] == number]
                    self.assertAlmostEqual(sum(weights), 1, places=9)
                self.assertIn(f'name = "{method}"', (self.folder / run / "config.toml").read_text())

    def test_the_lines_that_methods_are_compared_with_say_what_they_are(self):
        done = self.succeeds("run", "tiny.toml", "--out", "l", "--set", "method.name=local")
        self.assertIn("mean over clients' own models after round 4", done.stdout)
        self.assertEqual(self.model("l")[0]["__metadata__"]["round"], "0")
        done = self.succeeds("run", "tiny.toml", "--out", "c", "--set", "method.name=centralized")
        self.assertIn("the samples of 6 clients as one", done.stdout)
        self.assertEqual({row["participants"] for row in self.table("c", "rounds.csv")}, {"1"})

    def test_a_run_whose_every_round_was_void_ends_with_an_error(self):
        done = self.fedvg("run", "tiny.toml", "--out", "r", "--set", "train.optimizer.lr=1e38",
                          "--set", "train.rounds=2")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("fedvg: warning: round 1 is void: ", done.stderr)
        self.assertIn("fedvg: error: every round was void", done.stderr)
        self.assertRegex(done.stdout, r"warning +2 of 2 rounds void")
        self.assert_whole("r")
        self.assertEqual({row["status"] for row in self.table("r", "clients.csv")}, {"not-finite"})
        self.assertEqual({row["rejected"] for row in self.table("r", "rounds.csv")}, {"3"})
        self.model("r")

    def test_more_workers_than_participants_are_said_and_bounded(self):
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--workers", "64")
        workers = json.loads((self.folder / "r/environment.json").read_text())["workers"]
        self.assertLessEqual(workers, 3)
        self.assertIn("64", done.stderr)


class Partition(ProgramTest):
    def test_counts_are_printed_and_the_file_is_a_partition(self):
        done = self.succeeds("partition", "tiny.toml", "-o", "p.json")
        written = json.loads((self.folder / "p.json").read_text())
        self.assertEqual(len(written["clients"]), 6)
        self.assertEqual(len(written["validation"]), 30)
        table = [line.split() for line in done.stdout.splitlines()[3:]]
        for number, counts in enumerate(written["counts"]):
            self.assertEqual(table[number], [str(number), str(sum(counts)), *map(str, counts)])
        self.assertEqual(table[6], ["D_val", "30", "10", "10", "10"])
        self.assertEqual(table[7], ["clients", "270", "90", "90", "90"])
        again = self.succeeds("partition", "tiny.toml", *self.set_each(
            "partition.scheme=file", "partition.file=p.json"))
        self.assertEqual(again.stdout, done.stdout)

    def test_a_file_that_cannot_be_written(self):
        self.refused_in_words(4, "absent/p.json", "partition", "tiny.toml", "-o", "absent/p.json")


class Check(ProgramTest):
    def test_prints_a_configuration_that_runs(self):
        done = self.succeeds("check", "tiny.toml", "--set", "train.rounds=2")
        self.assertIn("# memory: about", done.stdout)
        self.write("resolved.toml", done.stdout)
        self.succeeds("run", "resolved.toml", "--out", "r")
        self.assertEqual(len(self.table("r", "rounds.csv")), 2)
        self.assertFalse((self.folder / "runs").exists())

    # 36 x 8 + 8 + 8 x 3 + 3 = 323 numbers of 4 bytes, a vector for each of 6 clients.
    def test_reckons_with_what_clients_keep(self):
        def memory(*settings):
            done = self.succeeds("check", "tiny.toml", *self.set_each(*settings))
            return done.stdout.splitlines()[-1]

        for settings, states in ((["method.name=scaffold"], "7.8 kB"),
                                 (["method.name=local"], "7.8 kB"),
                                 (["method.name=feddyn"], "7.8 kB"),
                                 (['train.optimizer={name="adam"}', "train.optimizer_state=keep"],
                                  "15.5 kB")):
            self.assertIn(f" + {states} of clients' states, beside", memory(*settings))
        self.assertNotIn("states", memory())
        self.assertIn("0.0 kB of clients' states (engine.state_memory; 7.8 kB more on disk)",
                      memory("method.name=scaffold", "engine.state_memory=0"))


if __name__ == "__main__":
    unittest.main()
