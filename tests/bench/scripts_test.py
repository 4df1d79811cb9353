"""bench/methods/run.sh with a program in fedvg's place, and fedvg-budget, where it is built."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"])
BUDGET = pathlib.Path(os.environ["FEDVG_BINARY_DIR"], "bin", "fedvg-budget")

# Notes how it was called, and finishes every run but fedprox, which stops halfway.
STANDING_IN = """\
#!/usr/bin/env bash
echo "$*" >>calls
while [[ $1 != --out ]]; do shift; done
mkdir -p "$2"
printf 'round,test_accuracy,seconds,seconds_train,seconds_score\\n1,0.5,4,3,1\\n' >"$2/rounds.csv"
echo 'time info memory 7 MB at its peak' >"$2/log.txt"
[[ $2 != */fedprox ]] || exit 4
echo '{"finished": true}' >"$2/run.json"
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *arguments, **environment):
        return subprocess.run(list(map(str, arguments)), cwd=self.folder, text=True, timeout=300,
                              env=dict(os.environ, **environment), capture_output=True)


class Methods(Folder):
    def test_what_is_there_is_resumed_and_only_finished_runs_are_shown(self):
        program = self.folder / "fedvg"
        program.write_text(STANDING_IN)
        program.chmod(0o755)
        (self.folder / "out" / "fedavg").mkdir(parents=True)  # of a run that was killed
        methods = SOURCE / "examples" / "methods"
        done = self.call("bash", SOURCE / "bench" / "methods" / "run.sh", "out", 1,
                         methods / "fedprox.toml", methods / "fedvg.toml",
                         FEDVG_PROGRAM=str(program))
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual([call.split("--out ")[1] for call in calls],
                         [f"out/{name} --resume"
                          for name in ("fedavg", "fedprox", "fedvg", "fedavg-again")])
        rows = {row[0]: row[1:]
                for row in (line.split(" | ") for line in done.stdout.splitlines()[2:])}
        self.assertEqual(set(rows), {"| fedavg", "| fedavg-again", "| fedvg"})
        self.assertEqual(rows["| fedvg"], ["0.5000", "0.5000", "4.00", "3.00", "1.00", "1.00", "7 |"])
        self.assertIn("fedprox failed", done.stderr)

    def test_without_the_reference_there_is_no_table(self):
        program = self.folder / "fedvg"
        program.write_text("#!/bin/sh\nexit 4\n")
        program.chmod(0o755)
        done = self.call("bash", SOURCE / "bench" / "methods" / "run.sh", "out", 1,
                         SOURCE / "examples" / "methods" / "fedvg.toml",
                         FEDVG_PROGRAM=str(program))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("fedavg is not finished", done.stderr)


@unittest.skipUnless(BUDGET.exists(), "fedvg-budget is not built (ninja fedvg-budget)")
class Budget(Folder):
    def setUp(self):
        super().setUp()
        (self.folder / "a.toml").write_text(
            "[data]\nname = \"random\"\ntraining = 400\ntest = 20\n"
            "[partition]\nclients = 4\nscheme = \"iid\"\n[model]\nname = \"mlp\"\nhidden = [8]\n"
            "[train]\nrounds = 2\nepochs = 1\nparticipation = 0.5\n"
            "[method]\nname = \"fedvg\"\n[scoring]\nbatch_size = 2\n")

    def lines(self, *arguments):
        done = self.call(BUDGET, "a.toml", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split(",") for line in done.stdout.splitlines()]

    def refused(self, *arguments):
        done = self.call(BUDGET, "a.toml", *arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        return done.stderr

    def test_every_so_many_rounds_are_compared(self):
        header, first, second = self.lines("2", "scoring.budget=1e6")
        self.assertEqual(header[-1], "error_max")
        self.assertEqual(first[-2:], ["", ""])
        self.assertGreater(float(second[-1]), 0)

    def test_what_is_no_number_of_rounds(self):
        for every in ("abc", "5x", "", "-1", "1.5"):
            self.assertIn(f"EVERY: wanted a number of rounds, 0 for never, got '{every}'",
                          self.refused(every))

    def test_clients_that_remember_are_not_compared(self):
        message = self.refused("1", "method.name=scaffold+fedvg")
        self.assertIn("scaffold+fedvg", message)
        self.assertIn("keeps a state of each client", message)
        self.assertEqual(len(self.lines("0", "method.name=scaffold+fedvg")), 3)


if __name__ == "__main__":
    unittest.main()
