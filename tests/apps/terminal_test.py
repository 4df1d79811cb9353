"""On a terminal there are a bar and styles; NO_COLOR and a pipe are respected."""

import os
import pty
import subprocess
import unittest

from program import PROGRAM, ProgramTest


def read_all(descriptor):
    content = b""
    while True:
        try:
            piece = os.read(descriptor, 4096)
        except OSError:  # the other end was closed
            return content.decode()
        if not piece:
            return content.decode()
        content += piece


class Terminal(ProgramTest):
    def on_terminal(self, *arguments, both=False, **environment):
        """Standard output and error of a call of which the latter, or both, is a terminal."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
            env=self.environment(**{"TERM": "xterm", **environment}),
            stdout=slave if both else subprocess.PIPE, stderr=slave)
        os.close(slave)
        shown = read_all(master)
        os.close(master)
        results = "" if both else process.stdout.read().decode()
        if not both:
            process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0, shown)
        return results, shown

    def test_the_bar_goes_to_the_terminal_and_not_into_results(self):
        results, shown = self.on_terminal("run", "tiny.toml")
        self.assertIn("round 1 [", shown)
        self.assertIn("] 3/3", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"))
        self.assertNotIn("\x1b", results)

    def test_a_dumb_terminal_and_a_pipe_have_no_bar(self):
        _, shown = self.on_terminal("run", "tiny.toml", TERM="dumb")
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\x1b", self.succeeds("run", "tiny.toml", "--out", "r").stderr)

    def test_the_best_is_bold_unless_no_color_is_set(self):
        for method in ("fedavg", "fedvg"):
            self.succeeds("run", "tiny.toml", "--out", method, "--set", f"method.name={method}")
        arguments = ("compare", "fedavg", "fedvg", "--metric", "test_loss")
        _, shown = self.on_terminal(*arguments, both=True)
        self.assertIn("\x1b[1m", shown)
        self.assertIn("\x1b[4m", shown)
        _, shown = self.on_terminal(*arguments, both=True, NO_COLOR="1")
        self.assertNotIn("\x1b", shown)


if __name__ == "__main__":
    unittest.main()
