"""fedvg compare on runs that were really made."""

import csv
import io
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

    def test_mistakes(self):
        self.refused_in_words(2, "two runs or more", "compare", self.runs[0])
        self.refused_in_words(2, ["unknown column 'accuracy'", "test_accuracy"], "compare",
                              *self.runs, "--metric", "accuracy")
        lines = self.refused(2, "compare", self.runs[0], "--format", "latex", "--last", "0")
        self.assertEqual(len(lines), 3)


if __name__ == "__main__":
    unittest.main()
