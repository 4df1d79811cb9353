"""scoring.budget through the program: what is scored on, written, said and refused."""

import unittest

from program import ProgramTest

# D_val is 30 samples; in batches of two there are 15, of which a part can be measured.
SMALL = "scoring.batch_size=2"


class Budget(ProgramTest):
    def scored(self, run, *settings):
        self.succeeds("run", "tiny.toml", "--out", run, *self.set_each(*settings))
        return [row["scored"] for row in self.table(run, "rounds.csv")]

    def test_the_budget_decides_how_many_samples_are_scored_on(self):
        self.assertEqual(self.scored("off", SMALL), ["30"] * 4)
        self.assertEqual(self.scored("tiny", SMALL, "scoring.budget=1e-9"), ["30"] * 4)
        self.assertEqual(self.scored("huge", SMALL, "scoring.budget=1e6"), ["30"] + ["16"] * 3)
        self.assertEqual(self.scored("none", "method.name=fedavg"), [""] * 4)

    def test_results_do_not_depend_on_the_workers_and_repeat(self):
        settings = (SMALL, "scoring.budget=0.5", "method.weighting.granularity=block",
                    "train.participation=1")
        self.scored("one", *settings, "engine.workers=1")
        self.scored("two", *settings, "engine.workers=2")
        self.succeeds("run", "two/config.toml", "--out", "again")
        for run in ("two", "again"):
            for name in ("rounds.csv", "clients.csv"):
                self.assertEqual(self.without_seconds("one", name),
                                 self.without_seconds(run, name))
            self.assertEqual(self.model("one"), self.model(run))

    def test_a_mixed_weighting_takes_it(self):
        images = self.scored("r", SMALL, "scoring.budget=1e6", "method.name=fedavg+fedvg")
        self.assertEqual(images[1:], ["16"] * 3)

    def test_too_few_batches_are_said(self):
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--set", "scoring.budget=0.1")
        self.assertIn("scoring.budget: D_val is no more than 8 batches", done.stdout + done.stderr)

    def test_rules_without_a_spread_are_refused(self):
        for settings, word in ((("method.name=fedavg",), "does not score"),
                               (("method.weighting=accuracy",), "accuracy"),
                               (("method.weighting.norm=delta",), "does not score"),
                               (("method.weighting.norm=spectral",), "spectral")):
            arguments = self.set_each("scoring.budget=0.1", *settings)
            lines = self.refused_in_words(2, ["scoring.budget", word, "l1, l2 or linf"],
                                          "run", "tiny.toml", *arguments)
            self.assertEqual(self.refused(2, "check", "tiny.toml", *arguments), lines)
        self.refused_in_words(2, "scoring.budget", "run", "tiny.toml",
                              "--set", "scoring.budget=-1")
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main()
