"""[validation] and [corruption] through the program: what is used, said, written and refused."""

import json
import unittest

from program import ProgramTest

# 300 training samples of three classes, 100 of each: D_val is 30, 10 of each.


class Validation(ProgramTest):
    def notes(self, *settings, name="r"):
        done = self.succeeds("run", "tiny.toml", "--out", name, *self.set_each(*settings))
        return done.stdout + done.stderr

    def weights(self, run):
        """The sums of the weights of each round."""
        sums = {}
        for row in self.table(run, "clients.csv"):
            self.assertIn(row["status"], ("ok", "dead"))
            sums[row["round"]] = sums.get(row["round"], 0) + float(row["weight"])
        return sums

    def test_size_imbalance_and_noise_apply_in_this_order(self):
        text = self.notes("validation.imbalance=0.5", "validation.size=5", "validation.noise=0.1")
        # Half of 30 over 1.75: 8, 4 and 2 of the classes.
        self.assertIn("validation.imbalance = 0.5: 14 of them are left", text)
        self.assertIn("validation.size: 5 of them are used", text)
        self.assertIn("validation.noise = 0.1: added to the 5 samples of D_val", text)
        written = json.loads((self.folder / "r" / "partition.json").read_text())
        self.assertEqual(len(written["validation"]), 30)
        self.notes(name="plain")
        plain = json.loads((self.folder / "plain" / "partition.json").read_text())
        self.assertEqual(written, plain)
        self.assertNotEqual(self.without_seconds("r", "clients.csv"),
                            self.without_seconds("plain", "clients.csv"))

    def test_noise_alone_changes_the_weights(self):
        self.notes(name="plain")
        self.notes("validation.noise=0.3", name="noisy")
        for column, same in (("loss_first", True), ("norm", False)):
            pair = [[row[column] for row in self.table(run, "clients.csv") if row["round"] == "1"]
                    for run in ("plain", "noisy")]
            self.assertEqual(pair[0] == pair[1], same, column)

    def test_one_sample_and_missing_classes_give_whole_weights(self):
        text = self.notes("validation.size=1")
        self.assertIn("D_val is a single sample", text)
        self.assertEqual(text.count("fedvg: note: D_val has no sample of"), 1, text)
        for total in self.weights("r").values():
            self.assertAlmostEqual(total, 1)

    def test_a_partition_table_counts_the_own_samples(self):
        done = self.succeeds("partition", "tiny.toml", *self.set_each(
            "validation.noise=0.2", "validation.imbalance=1"))
        (line,) = [line for line in done.stdout.splitlines() if line.split()[0:1] == ["D_val"]]
        self.assertEqual(line.split()[1:], ["15", "5", "5", "5"])

    def test_another_data_set_is_the_validation_set(self):
        self.write("m.csv", "own,foreign\n0,0\n1,1\n")
        text = self.notes("validation.source=file", "validation.path=set",
                          "validation.mapping=m.csv")
        self.assertIn("1 class has no counterpart (2)", text)
        self.assertIn("D_val has no sample of class 2", text)
        self.assertIn("of the clients in D_val", text)


class Refused(ProgramTest):
    def refuse(self, words, *settings, code=2):
        arguments = self.set_each(*settings)
        lines = self.refused_in_words(code, words, "run", "tiny.toml", *arguments)
        self.assertEqual(self.refused(code, "check", "tiny.toml", *arguments), lines)
        self.assertFalse((self.folder / "runs").exists())

    def test_a_set_without_a_part_of_its_own(self):
        self.refuse(["validation.source = \"official\"", "no validation part", "holdout"],
                    "validation.source=official")

    def test_no_validation_set_for_a_rule_that_needs_one(self):
        self.refuse("needs D_val", "validation.source=none")
        self.succeeds("run", "tiny.toml", "--out", "r",
                      *self.set_each("validation.source=none", "method.name=fedavg"))

    def test_nothing_left(self):
        self.refuse("is more than the 30 samples of D_val", "validation.size=31")
        self.refuse("is no sample at all", "validation.ratio=0.001")
        self.refuse("leaves no sample", "validation.ratio=0.01", "validation.imbalance=1")

    def test_settings_of_another_source(self):
        self.write("tiny.toml", (self.folder / "tiny.toml").read_text() +
                   '[validation]\nmapping = "m.csv"\npath = "x"\n')
        self.refuse(["tiny.toml:21: validation.mapping: is for validation.source = \"file\"",
                     "tiny.toml:22: validation.path"])
        self.refuse(["validation.ratio", "holdout"], "validation.source=file",
                    "validation.ratio=0.2")

    def test_a_source_without_its_path(self):
        self.refuse("validation.path: is missing", "validation.source=file")

    def test_corruption_that_is_not_whole(self):
        self.refuse(["corruption.kind: is missing", "label-flip"], "corruption.share=0.5")
        self.refuse("corruption.level: must be in (0, 1]", "corruption.share=0.5",
                    "corruption.kind=label-noise", "corruption.level=2")
        self.refuse("unknown", "corruption.share=0.5", "corruption.kind=label-flop")
        self.refuse("send nothing", "corruption.share=0.5", "corruption.kind=sign-flip",
                    "corruption.level=1", "method.name=local")


class Corruption(ProgramTest):
    def run_with(self, name, *settings):
        return self.succeeds("run", "tiny.toml", "--out", name,
                             *self.set_each("train.participation=1", *settings))

    def corrupted(self, run):
        return {row["client"] for row in self.table(run, "clients.csv") if row["corrupted"] == "1"}

    def first_losses(self, run):
        return {row["client"]: row["loss_first"] for row in self.table(run, "clients.csv")
                if row["round"] == "1"}

    def test_who_is_corrupted_is_told_and_only_they_train_on_other_data(self):
        self.run_with("plain")
        self.assertEqual({row["corrupted"] for row in self.table("plain", "clients.csv")}, {""})
        settings = ("corruption.share=0.5", "corruption.kind=label-flip")
        done = self.run_with("flipped", *settings)
        self.assertIn("3 of 6 clients: label-flip", done.stdout + done.stderr)
        corrupted = self.corrupted("flipped")
        self.assertEqual(len(corrupted), 3)
        self.assertEqual({row["corrupted"] for row in self.table("flipped", "clients.csv")},
                         {"0", "1"})
        before, after = self.first_losses("plain"), self.first_losses("flipped")
        self.assertEqual({client for client in before if before[client] != after[client]},
                         corrupted)
        # The partition is the true data's, and reads back.
        for name in ("plain", "flipped"):
            self.write(f"{name}.json", (self.folder / name / "partition.json").read_text())
        self.assertEqual((self.folder / "plain.json").read_text(),
                         (self.folder / "flipped.json").read_text())
        self.run_with("again", "partition.scheme=file", "partition.file=flipped.json", *settings)
        self.assertEqual(self.without_seconds("again", "rounds.csv"),
                         self.without_seconds("flipped", "rounds.csv"))

    def test_updates_are_changed_after_training(self):
        self.run_with("plain", "method.name=fedavg")
        for kind in ("scaled-update", "sign-flip"):
            self.run_with(kind, "method.name=fedavg", "corruption.share=0.5",
                          f"corruption.kind={kind}", "corruption.level=2")
            self.assertEqual(self.first_losses(kind), self.first_losses("plain"))
            self.assertNotEqual(self.model(kind)[1], self.model("plain")[1])

    def test_settings_without_a_share_are_said(self):
        done = self.run_with("r", "corruption.kind=label-flip")
        self.assertIn("corruption.kind = \"label-flip\" has no effect", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
