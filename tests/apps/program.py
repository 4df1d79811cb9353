"""Runs the program fedvg (FEDVG_PROGRAM) on a tiny data set in a folder of the test's own."""

import csv
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import tiny_set

PROGRAM = os.environ["FEDVG_PROGRAM"]

CONFIGURATION = """\
seed = 1
[data]
name = "idx"
path = "set"
[partition]
clients = 6
min_samples = 5
[model]
name = "mlp"
hidden = [8]
[train]
rounds = 4
participation = 0.5
epochs = 1
optimizer = {lr = 0.1}
[method]
name = "fedvg"
[report]
layers_every = 2
"""


class ProgramTest(unittest.TestCase):
    """A folder with a data set `set` and a configuration `tiny.toml`, and calls in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        tiny_set.write(self.folder / "set")
        self.write("tiny.toml", CONFIGURATION)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def environment(self, **changes):
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        environment.update(changes)
        return environment

    def fedvg(self, *arguments, environment=None, **keywords):
        """The finished process, its output as text."""
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder,
                              env=environment or self.environment(), capture_output=True,
                              text=True, timeout=300, stdin=subprocess.DEVNULL, **keywords)

    def succeeds(self, *arguments, **keywords):
        done = self.fedvg(*arguments, **keywords)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, code, *arguments, **keywords):
        """The lines on standard error of a call that ends with `code` and prints no result."""
        done = self.fedvg(*arguments, **keywords)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        for line in lines:
            self.assertTrue(line.startswith("fedvg: "), done.stderr)
            self.assertNotIn("Exception", line)
        return lines

    def refused_in_words(self, code, words, *arguments, **keywords):
        lines = self.refused(code, *arguments, **keywords)
        text = "\n".join(lines)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, text)
        return lines

    def set_each(self, *settings):
        """The arguments of --set for each."""
        return [argument for setting in settings for argument in ("--set", setting)]

    def table(self, run, name):
        with open(self.folder / run / name, newline="") as file:
            return list(csv.DictReader(file))

    def without_seconds(self, run, name):
        """Rows of a table without what is allowed to differ between two runs."""
        return [{key: value for key, value in row.items() if not key.startswith("seconds")}
                for row in self.table(run, name)]

    def model(self, run):
        """Header and data of a model, read without any library."""
        content = (self.folder / run / "model.safetensors").read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8:8 + length])
        tensors = [entry for name, entry in header.items() if name != "__metadata__"]
        end = max(entry["data_offsets"][1] for entry in tensors)
        self.assertEqual(len(content), 8 + length + end)
        return header, content[8 + length:]

    def assert_whole(self, run):
        """Whatever is in a run folder is whole: no temporary file, no half line, and
        clients and layers of no round that rounds.csv lacks."""
        names = [path.name for path in (self.folder / run).iterdir()]
        self.assertFalse([name for name in names if name.endswith(".part")], names)
        for name in names:
            if name.endswith((".csv", ".toml", ".json", ".txt")):
                self.assertTrue((self.folder / run / name).read_text().endswith("\n"), name)
        finished = [row["round"] for row in self.table(run, "rounds.csv")]
        self.assertEqual(finished, [str(i + 1) for i in range(len(finished))])
        for name in ("clients.csv", "layers.csv"):
            self.assertLessEqual({row["round"] for row in self.table(run, name)}, set(finished))
        json.loads((self.folder / run / "partition.json").read_text())
        json.loads((self.folder / run / "environment.json").read_text())
