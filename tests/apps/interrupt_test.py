"""Ctrl-C, SIGTERM and a closed terminal: the round in progress is dropped, the last finished one
kept, exit code 130."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest

LONG = ("train.rounds=100000",)
ENDLESS_ROUND = ("train.epochs=100000000",)  # hours: a run that ends has left its round


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

    def end(self, process, number):
        """What it says after the signal. In seconds nothing is asked of it, which a busy machine
        would stretch: who does not stop would be at work for hours."""
        process.send_signal(number)
        _, messages = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, messages)
        return messages

    def rounds_at_rest(self, process):
        """Finished rounds of a run that is made to stand still until SIGCONT."""
        process.send_signal(signal.SIGSTOP)
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while "\nState:\tT" not in status.read_text():
            time.sleep(0.01)
        return len(self.table("r", "rounds.csv"))

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
                before = self.rounds_at_rest(process)
                self.assertGreaterEqual(before, 3)
                process.send_signal(number)
                messages = self.end(process, signal.SIGCONT)
                self.assert_whole("r")
                finished = self.finished()
                # As many as a thread manages until another one, which waits for a core, has
                # taken the signal: one, or a few.
                self.assertLess(finished - before, 1000)
                self.assertGreaterEqual(finished, before)
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
        os.mkfifo(self.folder / "r" / "model.safetensors")  # nobody reads: its writer waits
        process.send_signal(signal.SIGINT)
        messages = self.end(process, signal.SIGTERM)
        self.assertIn("stopped at once", messages)
        self.assertNotIn("interrupted", messages)

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
