"""Ctrl-C, SIGTERM and a closed terminal: gone within seconds, the last finished round kept, exit code 130."""

import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest

LONG = ("train.rounds=100000",)
ENDLESS_ROUND = ("train.epochs=1000000",)


class Interrupt(ProgramTest):
    def start(self, *settings, **keywords):
        """A run into the folder `r`, its output a pipe."""
        keywords.setdefault("preexec_fn", lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        process = subprocess.Popen(
            [PROGRAM, "run", "tiny.toml", "--out", "r", *self.set_each(*settings)],
            cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **keywords)
        self.addCleanup(process.kill)
        return process

    def read_until(self, process, word):
        for line in process.stdout:
            if word in line:
                return
        self.fail(process.stderr.read())

    def end(self, process, number, within=5.0):
        begin = time.monotonic()
        process.send_signal(number)
        _, messages = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, within)
        self.assertEqual(process.returncode, 130, messages)
        return messages

    def finished(self):
        """Rounds behind the model. The last may have been stopped before its evaluation; it is in
        the tables once the run goes on."""
        rounds = int(self.model("r")[0]["__metadata__"]["round"])
        self.assertIn(rounds - len(self.table("r", "rounds.csv")), (0, 1))
        return rounds

    def test_between_rounds_the_last_model_is_kept(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = self.start(*LONG)
                self.read_until(process, "    3    ")
                messages = self.end(process, number)
                self.assert_whole("r")
                finished = self.finished()
                self.assertGreaterEqual(finished, 3)
                self.assertRegex(messages, f"interrupted after {finished} of 100000 rounds(, the last "
                                 f"not evaluated yet)?; the model after round {finished} is in "
                                 "r/model.safetensors")
                subprocess.run(["rm", "-r", self.folder / "r"], check=True)

    def test_while_training_the_round_is_dropped(self):
        process = self.start(*ENDLESS_ROUND)
        self.read_until(process, "ETA")
        time.sleep(0.5)
        messages = self.end(process, signal.SIGINT)
        self.assertIn("the initial model is in r/model.safetensors", messages)
        self.assert_whole("r")
        self.assertEqual(self.table("r", "rounds.csv"), [])
        self.assertEqual(self.model("r")[0]["__metadata__"]["round"], "0")

    def test_the_model_kept_is_that_of_a_run_of_as_many_rounds(self):
        process = self.start(*LONG)
        self.read_until(process, "    2    ")
        self.end(process, signal.SIGINT)
        finished = self.finished()
        self.succeeds("run", "tiny.toml", "--out", "whole", "--set", f"train.rounds={finished}")
        self.assertEqual(self.model("r")[1], self.model("whole")[1])

    def test_a_second_signal_leaves_at_once(self):
        process = self.start(*ENDLESS_ROUND)
        self.read_until(process, "ETA")
        process.send_signal(signal.SIGINT)
        self.end(process, signal.SIGINT, within=2.0)

    def test_a_terminal_that_closes_may_hang_up_twice(self):
        process = self.start(*ENDLESS_ROUND)
        self.read_until(process, "ETA")
        process.send_signal(signal.SIGHUP)
        self.end(process, signal.SIGHUP)
        self.assert_whole("r")
        self.assertEqual(self.model("r")[0]["__metadata__"]["round"], "0")

    def test_an_interrupted_run_is_no_finished_one(self):
        process = self.start(*LONG)
        self.read_until(process, "    1    ")
        self.end(process, signal.SIGINT)
        self.refused_in_words(4, "of 100000 rounds", "compare", "r", "r")


if __name__ == "__main__":
    unittest.main()
