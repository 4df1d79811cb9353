"""A folder of a test's own with a tiny data set and a fedvg that is short there.

`fedvg` in the folder is build/release/bin/fedvg, as the documents call it: the program
under test, made short by further --set for the commands that read a configuration.
"""

import os
import pathlib
import random
import re
import struct
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"])
PROGRAM = os.environ["FEDVG_PROGRAM"]

SHORT = ["data.name=idx", "data.path={set}", "partition.clients=4", "partition.min_samples=1",
         "validation.size=12", "train.rounds=2", "train.epochs=1", "train.participation=0.5"]

WRAPPER = """\
#!/bin/sh
case $1 in
  run | sweep | check | partition) exec "{program}" "$@" {short} ;;
  *) exec "{program}" "$@" ;;
esac
"""


def write_set(folder, training=240, test=60, side=16, classes=3):
    """The four IDX files of an MNIST-like set; a class is a bright third of the rows."""
    folder.mkdir()
    noise = random.Random(7)
    for name, count in (("train", training), ("t10k", test)):
        labels = [i % classes for i in range(count)]
        noise.shuffle(labels)
        pixels = bytes((150 if row * classes // side == label else 30) + noise.randrange(60)
                       for label in labels for row in range(side) for _ in range(side))
        (folder / f"{name}-images-idx3-ubyte").write_bytes(
            struct.pack(">IIII", 0x803, count, side, side) + pixels)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(
            struct.pack(">II", 0x801, count) + bytes(labels))


class ExampleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_set(self.folder / "set")
        self.short = [setting.format(set=self.folder / "set") for setting in SHORT]
        programs = self.folder / "build/release/bin"
        programs.mkdir(parents=True)
        wrapper = programs / "fedvg"
        wrapper.write_text(WRAPPER.format(
            program=PROGRAM, short=" ".join(f"--set '{setting}'" for setting in self.short)))
        wrapper.chmod(0o755)
        (self.folder / "examples").symlink_to(SOURCE / "examples")
        self.environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", NO_COLOR="1")

    def run_in_folder(self, *command, **keywords):
        """Standard output of a command that must succeed."""
        keywords.setdefault("env", self.environment)
        keywords.setdefault("cwd", self.folder)
        done = subprocess.run([str(word) for word in command], text=True, timeout=600,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **keywords)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def assert_run(self, folder, rounds=2):
        """A finished run that measured something in each round."""
        lines = (self.folder / folder / "rounds.csv").read_text().splitlines()
        columns = [dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]]
        self.assertEqual([row["round"] for row in columns], [str(i + 1) for i in range(rounds)])
        for row in columns:
            self.assertTrue(0 <= float(row["test_accuracy"]) <= 1, row)
            self.assertEqual(row["rejected"], "0")
        self.assertTrue((self.folder / folder / "model.safetensors").exists())


def fenced_blocks(document):
    """(info string, text) of every fenced block of a Markdown file."""
    text = document.read_text()
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
