"""Help, version, lists, mistakes on the command line."""

import subprocess
import unittest

from program import PROGRAM, ProgramTest

COMMANDS = ("run", "sweep", "compare", "check", "partition", "evaluate", "bench", "list")


class Usage(ProgramTest):
    def test_help_is_everywhere_and_ends_with_an_example(self):
        for arguments in [("--help",)] + [(command, "--help") for command in COMMANDS]:
            done = self.succeeds(*arguments)
            self.assertEqual(done.stderr, "")
            self.assertIn("Example:\n  fedvg ", done.stdout)

    def test_only_commands_that_work_are_offered(self):
        text = self.succeeds("--help").stdout
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", text)
        self.assertNotIn("report", text)

    def test_version(self):
        self.assertRegex(self.succeeds("--version").stdout, r"^fedvg \d+\.\d+\.\d+ \(.+\)\n$")

    def test_usage_errors_say_what_was_meant(self):
        self.refused_in_words(2, "no command given", )
        self.refused_in_words(2, "unknown command 'rnu'; did you mean 'run'?", "rnu", "tiny.toml")
        self.refused_in_words(2, ["unknown option '--wrokers'; did you mean '--workers'?",
                                  "see 'fedvg run --help'"], "run", "tiny.toml", "--wrokers", "2")
        self.refused_in_words(2, "CONFIG.toml is required", "run")
        self.refused_in_words(2, "see 'fedvg run --help'", "run", "tiny.toml", "surplus")
        self.refused_in_words(2, "--set", "run", "tiny.toml", "--set")
        self.refused_in_words(2, "--out", "run", "tiny.toml", "--out", "")

    def test_list_shows_every_kind_and_every_option(self):
        text = self.succeeds("list").stdout
        for word in ("fedavg", "fedvg", "dirichlet", "cnn", "idx", "[train]"):
            self.assertIn(word, text)
        self.assertIn("granularity", self.succeeds("list", "weighting", "fedvg").stdout)
        self.assertIn("participation", self.succeeds("list", "train").stdout)
        self.assertIn("fedavg+fedvg", self.succeeds("list", "method", "fedvg+fedavg").stdout)
        self.assertEqual(self.succeeds("list", "weightings").stdout,
                         self.succeeds("list", "weighting").stdout)
        self.assertIn("# Configuration", self.succeeds("list", "--markdown").stdout)
        self.refused_in_words(2, ["unknown", "weighting"], "list", "wieghting")
        self.refused_in_words(2, "did you mean 'fedvg'?", "list", "weighting", "fedvgg")
        self.refused_in_words(2, "did you mean 'fedvg'?", "list", "method", "fedvgg")

    def test_a_result_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("standard output cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
