"""Clients that drop out, do less or are too few, and what is measured on clients' own data."""

import csv
import json
import statistics
import unittest

from program import ProgramTest

FAULTS = ("train.participation=1", "train.epochs=3", "train.drop_out=0.34",
          "train.stragglers=0.5")


class ClientFaults(ProgramTest):
    def run_with(self, name, *settings):
        return self.succeeds("run", "tiny.toml", "--out", name, *self.set_each(*settings))

    def test_a_run_with_drop_outs_and_stragglers(self):
        done = self.run_with("faulty", *FAULTS)
        self.assertIn("6 of 6 clients in each, 2 never answer, 3 do fewer epochs, 3 epochs",
                      done.stdout)
        self.assertIn("dropped     8 of 24 answers never came (train.drop_out)", done.stdout)
        self.assertNotIn("warning", done.stderr)
        self.run_with("whole", "train.participation=1", "train.epochs=3")
        whole = {(row["round"], row["client"]): int(row["steps"])
                 for row in self.table("whole", "clients.csv")}
        rows = self.table("faulty", "clients.csv")
        for number in "1234":
            own = [row for row in rows if row["round"] == number]
            dropped = [row for row in own if row["status"] == "dropped"]
            self.assertEqual(len(dropped), 2)
            for row in dropped:
                self.assertEqual([row[name] for name in ("samples", "steps", "weight", "score",
                                                         "loss_first", "loss_last")],
                                 ["0", "0", "0", "", "", ""])
            done = [(int(row["steps"]), whole[number, row["client"]])
                    for row in own if row["status"] == "ok"]
            self.assertEqual(sum(steps < all_steps for steps, all_steps in done), 3)
            for steps, all_steps in done:
                self.assertIn(steps * 3, (all_steps, 2 * all_steps, 3 * all_steps))
        faulty, whole_rounds = self.table("faulty", "rounds.csv"), self.table("whole", "rounds.csv")
        for one, other in zip(faulty, whole_rounds):
            self.assertEqual(one["participants"], "6")
            self.assertEqual(one["bytes_down"], other["bytes_down"])
            self.assertEqual(int(one["bytes_up"]) * 6, int(other["bytes_up"]) * 4)

    def test_measuring_clients_changes_no_result(self):
        for method in ("fedavg", "scaffold", "local"):
            settings = ("method.name=" + method, "evaluate.every=3", "train.epochs=2")
            self.run_with(method + "-plain", *settings)
            self.run_with(method + "-measured", *settings, "evaluate.clients=true",
                          "engine.workers=2")
            for name in ("rounds.csv", "clients.csv", "layers.csv"):
                plain = self.without_seconds(method + "-plain", name)
                measured = self.without_seconds(method + "-measured", name)
                for one, other in zip(plain, measured, strict=True):
                    same = {key: value for key, value in other.items()
                            if not key.startswith(("accuracy_", "clients_"))}
                    self.assertEqual(same, {key: one[key] for key in same})
            self.assertEqual(
                *((self.folder / (method + kind) / "model.safetensors").read_bytes()
                  for kind in ("-plain", "-measured")))
            rows = self.table(method + "-measured", "clients.csv")
            for row in rows:
                for column in ("accuracy_before", "accuracy_after"):
                    self.assertEqual(row[column] != "", row["round"] in "34")
            for row in self.table(method + "-measured", "rounds.csv"):
                self.assertEqual(row["clients_evaluated"], "6" if row["round"] in "34" else "")

    def test_figures_are_those_of_the_predictions(self):
        done = self.run_with("r", "evaluate.clients=true")
        self.succeeds("evaluate", "r/model.safetensors", "--part", "training",
                      "--predictions", "p.csv")
        with open(self.folder / "p.csv", newline="") as file:
            right = {int(row["sample"]): row["label"] == row["predicted"]
                     for row in csv.DictReader(file)}
        clients = json.loads((self.folder / "r/partition.json").read_text())["clients"]
        accuracies = [sum(right[i] for i in client) / len(client) for client in clients]
        last = self.table("r", "rounds.csv")[-1]
        figures = [float(last["clients_accuracy_" + name])
                   for name in ("mean", "weighted", "worst", "std")]
        expected = [statistics.fmean(accuracies), sum(right.values()) / len(right),
                    min(accuracies), statistics.pstdev(accuracies)]
        for figure, value in zip(figures, expected):
            self.assertAlmostEqual(figure, value, places=12)
        self.assertIn("clients     global model after round 4 on the training data of 6 clients: "
                      "accuracy mean {:.4f}, by samples {:.4f}, worst 10 % (1 client) {:.4f}, "
                      "standard deviation {:.4f}".format(*expected), done.stdout)

    def test_a_round_with_too_few_updates_is_void(self):
        self.write("cohorts.json", "[[0, 1, 2], [3], [4, 5]]")
        done = self.run_with("r", "train.cohorts=cohorts.json", "train.min_participants=2")
        reason = "1 accepted update, train.min_participants is 2"
        self.assertIn(f"round 2 is void: {reason}; the model stays as it was", done.stderr)
        self.assertIn(f"1 of 4 rounds void ({reason}): round 2", done.stdout)
        rounds = self.table("r", "rounds.csv")
        self.assertEqual([row["weight_max"] == "" for row in rounds],
                         [False, True, False, False])
        self.assertEqual(rounds[1]["test_loss"], rounds[0]["test_loss"])

    def test_what_can_never_be_is_refused(self):
        for words, settings in (
                (("train.min_participants = 4: a round has 3 participants", "at most 3"),
                 ("train.min_participants=4",)),
                (("3 participants, of which 1 never answers", "train.drop_out = 0.4"),
                 ("train.min_participants=3", "train.drop_out=0.4")),
                (("of 3 participants nobody answers", "would be void"), ("train.drop_out=1",)),
                (("train.stragglers", "train.epochs = 1"), ("train.stragglers=0.5",)),
                (("train.stragglers", "train.steps = 1"),
                 ("train.stragglers=0.5", "train.steps=1", "train.epochs=4")),
                (("train.drop_out", "centralized"),
                 ("method.name=centralized", "train.drop_out=0.5")),
                (("train.drop_out: must be in [0, 1]",), ("train.drop_out=1.5",))):
            self.refused_in_words(2, words, "run", "tiny.toml", *self.set_each(*settings))
        self.assertFalse((self.folder / "runs").exists())

    def test_a_share_that_is_nobody_is_said(self):
        done = self.run_with("r", "train.drop_out=0.1", "train.rounds=1")
        note = "train.drop_out = 0.1 has no effect: of 3 participants that is nobody"
        self.assertIn("note: " + note, done.stderr)
        self.assertIn(note, done.stdout)


if __name__ == "__main__":
    unittest.main()
