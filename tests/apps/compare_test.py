"""fedvg compare on runs that were really made."""

import csv
import io
import json
import shlex
import statistics
import subprocess
import unittest

from program import PROGRAM, ProgramTest


class Compare(ProgramTest):
    def setUp(self):
        super().setUp()
        self.runs = []
        for method in ("fedavg", "fedvg"):
            for seed in (1, 2):
                self.succeeds("run", "tiny.toml", *self.set_each(f"method.name={method}",
                                                                 f"seed={seed}"))
                self.runs.append(f"runs/tiny-{method}-s{seed}")

    def finals(self, method):
        return [float(self.table(f"runs/tiny-{method}-s{seed}", "rounds.csv")[-1]["test_accuracy"])
                for seed in (1, 2)]

    def test_groups_by_method_with_mean_and_deviation(self):
        done = self.succeeds("compare", *self.runs, "--format", "csv", "--last", "2")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([row["method"] for row in rows], ["fedavg", "fedvg"])
        for row in rows:
            finals = self.finals(row["method"])
            self.assertEqual(row["seeds"], "2")
            self.assertAlmostEqual(float(row["final_mean"]), statistics.mean(finals), places=12)
            self.assertAlmostEqual(float(row["final_std"]), statistics.stdev(finals), places=12)
        self.assertEqual(done.stderr, "")

    def test_the_text_rounds_and_carries_no_escapes(self):
        done = self.succeeds("compare", *self.runs, "--last", "2")
        finals = self.finals("fedavg")
        self.assertIn(f"{statistics.mean(finals):.4f} ± {statistics.stdev(finals):.4f}", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_markdown_marks_the_best(self):
        done = self.succeeds("compare", *self.runs, "--format", "markdown", "--metric", "test_loss")
        self.assertIn("| **", done.stdout)
        self.assertIn("| <u>", done.stdout)

    def test_a_cache_beside_the_runs_is_none(self):
        (self.folder / "runs" / ".fedvg-cache").mkdir()
        glob = subprocess.run(["sh", "-c", f"{shlex.quote(PROGRAM)} compare runs/*"],
                              cwd=self.folder, env=self.environment(), capture_output=True,
                              text=True, timeout=300)
        self.assertEqual((glob.returncode, glob.stderr.count("left out")), (0, 0), glob.stderr)
        self.assertEqual(glob.stdout, self.succeeds("compare", *self.runs).stdout)
        named = self.succeeds("compare", *self.runs, "runs/.fedvg-cache")
        self.assertIn("runs/.fedvg-cache is left out", named.stderr)
        self.assertEqual(named.stdout, glob.stdout)

    def test_what_is_left_out_is_named(self):
        done = self.succeeds("compare", *self.runs[:2], "nowhere")
        self.assertIn("nowhere is left out", done.stderr)
        self.refused_in_words(4, "no run is left", "compare", "nowhere", "elsewhere")

    def csv_of(self, *arguments):
        done = self.succeeds("compare", *arguments, "--format", "csv")
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def sweep(self):
        """The runs as those of a sweep over a second setting, one of them missing."""
        (self.folder / "sweeps").mkdir()
        (self.folder / "runs").rename(self.folder / "sweeps" / "a")
        for method in ("fedavg", "fedvg"):
            for seed in (1, 2):
                self.succeeds("run", "tiny.toml", "--out", f"sweeps/a/{method}-s{seed}-e2",
                              *self.set_each(f"method.name={method}", f"seed={seed}",
                                             "train.epochs=2"))
        self.write("sweeps/a/sweep.toml", 'base = "tiny.toml"\n')
        names = sorted(path.name for path in (self.folder / "sweeps/a").iterdir()
                       if (path / "config.toml").exists())
        self.write("sweeps/a/runs.json",
                   json.dumps([{"folder": name, "settings": {}} for name in [*names, "later"]]))
        return "sweeps/a"

    def test_a_sweep_by_rows_and_columns_with_a_test(self):
        sweep = self.sweep()
        done = self.succeeds("compare", sweep, "--rows", "method", "--columns", "train.epochs",
                             "--baseline", "fedvg", "--format", "csv")
        self.assertIn("1 of 9 planned runs are missing: later", done.stderr)
        cells = {(row["method"], row["train.epochs"]): row
                 for row in csv.DictReader(io.StringIO(done.stdout))}
        self.assertEqual(len(cells), 4)
        finals = [float(self.table(f"sweeps/a/fedavg-s{seed}-e2", "rounds.csv")[-1]
                        ["test_accuracy"]) for seed in (1, 2)]
        cell = cells["fedavg", "2"]
        self.assertAlmostEqual(float(cell["mean"]), statistics.mean(finals), places=12)
        self.assertAlmostEqual(float(cell["std"]), statistics.stdev(finals), places=12)
        self.assertEqual((cell["at"], cell["seeds"], cell["pairs"]), ("final", "2", "4"))
        self.assertEqual(cell["p_holm"], cell["p"])
        self.assertEqual(cells["fedvg", "1"]["p"], "")
        self.refused_in_words(2, ["differ in more than the seed: train.epochs (2, 1)", "--rows"],
                              "compare", sweep, "--rows", "method")

    def test_a_sweep_whose_plan_is_damaged(self):
        self.sweep()
        asked = ("compare", "sweeps/a", "--rows", "method", "--columns", "train.epochs")
        before = self.succeeds(*asked).stdout
        plan = self.folder / "sweeps/a/runs.json"
        plan.write_bytes(plan.read_bytes()[:40])
        done = self.succeeds(*asked)
        self.assertEqual(done.stdout, before)
        self.assertIn("sweeps/a/runs.json", done.stderr)
        self.assertIn("fedvg sweep, called again, writes this file anew", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_every_format_carries_the_test(self):
        for form in ("text", "markdown", "latex"):
            done = self.succeeds("compare", *self.runs, "--baseline", "fedavg", "--format", form)
            self.assertIn("p (Holm)", done.stdout)
            self.assertIn("Wilcoxon signed-rank", done.stdout)
        self.assertIn("\\toprule", done.stdout)
        self.assertTrue(done.stdout.endswith("\\end{tabular}\n"))

    def test_the_best_round_is_that_of_the_validation_set(self):
        (first,) = [row for row in self.csv_of(*self.runs[:2], "--at", "best")]
        best = []
        for run in self.runs[:2]:
            rows = self.table(run, "rounds.csv")
            best.append(float(max(rows, key=lambda row: float(row["val_accuracy"]))
                              ["test_accuracy"]))
        self.assertAlmostEqual(float(first["mean"]), statistics.mean(best), places=12)
        self.assertEqual(first["at"], "best:val_accuracy")

    def test_rounds_and_bytes_to_a_target(self):
        done = self.succeeds("compare", *self.runs, "--metric", "rounds-to:1.5")
        self.assertIn("4 of 4 runs never reach test_accuracy 1.5: " + ", ".join(self.runs),
                      done.stderr)
        self.assertIn("> 4", done.stdout)
        (first,) = self.csv_of(*self.runs[:2], "--metric", "bytes")
        sums = [sum(int(row["bytes_up"]) + int(row["bytes_down"])
                    for row in self.table(run, "rounds.csv")) for run in self.runs[:2]]
        self.assertEqual(float(first["mean"]), statistics.mean(sums))

    def test_an_unfinished_run_is_named_unless_it_stopped_early(self):
        rounds = self.folder / self.runs[1] / "rounds.csv"
        rounds.write_text("".join(rounds.read_text().splitlines(keepends=True)[:3]))
        (self.folder / self.runs[1] / "run.json").unlink(missing_ok=True)
        done = self.succeeds("compare", *self.runs[:2], "--format", "csv")
        self.assertIn(f"{self.runs[1]} is left out: it has 2 of 4 rounds", done.stderr)
        self.write(f"{self.runs[1]}/run.json",
                   '{"finished": true, "rounds": 2, "stopped": "early"}')
        done = self.succeeds("compare", *self.runs[:2], "--format", "csv")
        self.assertIn(f"stopped early: {self.runs[1]} (2 of 4 rounds)", done.stderr)
        self.assertIn(",2,", done.stdout)

    def test_mistakes(self):
        self.refused_in_words(2, "two runs or more, or of a sweep", "compare", self.runs[0])
        self.refused_in_words(2, ["unknown column 'accuracy'", "test_accuracy"], "compare",
                              *self.runs, "--metric", "accuracy")
        self.refused_in_words(2, ["unknown setting 'train.epoch'", "'train.epochs'"], "compare",
                              *self.runs, "--rows", "train.epoch")
        self.refused_in_words(2, ["unknown row 'fedvgg'", "'fedvg'"], "compare", *self.runs,
                              "--baseline", "fedvgg")
        self.refused_in_words(2, "--rows: an empty name", "compare", *self.runs, "--rows",
                              "method,")
        self.refused_in_words(2, "--baseline: empty", "compare", *self.runs, "--baseline", "")
        lines = self.refused(2, "compare", self.runs[0], "--format", "html", "--last", "0")
        self.assertEqual(len(lines), 3)


if __name__ == "__main__":
    unittest.main()
