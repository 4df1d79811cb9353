"""A disk that is full and a folder that may not be written: the reason, and whole files."""

import os
import resource
import signal
import subprocess
import unittest

from program import PROGRAM, ProgramTest

NOBODY = 65534


class FullDisk(ProgramTest):
    """On a small tmpfs where one can be mounted (as root), else with a limit on the size of
    files, which fails in the same place of the same call."""

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()

    def mount(self, size):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.disk],
                              capture_output=True)
        if done.returncode == 0:
            self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        return done.returncode == 0

    @staticmethod
    def limit(size):
        def set_limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return set_limit

    def run_on(self, size, file_size, *settings):
        keywords = {} if self.mount(size) else {"preexec_fn": self.limit(file_size)}
        return self.fedvg("run", "tiny.toml", "--out", "disk/r", *self.set_each(*settings),
                          **keywords)

    def test_in_the_middle_of_a_run(self):
        done = self.run_on("72k", 12000, "train.rounds=5000", "report.layers_every=1")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, r"fedvg: error: disk/r/\w+\.(csv|txt): cannot be written: ")
        self.assert_whole("disk/r")
        self.assertGreater(len(self.table("disk/r", "rounds.csv")), 1)

    def test_when_the_model_is_written(self):
        done = self.run_on("300k", 100_000, "model.hidden=[4000]")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("disk/r/model.safetensors: cannot be written: ", done.stderr)
        self.assert_whole("disk/r")
        self.assertEqual(len(self.table("disk/r", "rounds.csv")), 4)
        self.assertFalse((self.disk / "r" / "model.safetensors").exists())

    def test_before_the_first_round(self):
        done = self.run_on("8k", 500)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot be written: ", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.disk / "r").exists())


class NotWritable(ProgramTest):
    def test_a_folder_of_somebody_else(self):
        keywords = {}
        if os.geteuid() == 0:
            # Root may write everywhere: run as nobody, in a folder that is open to read.
            for path in [self.folder, *self.folder.rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)
            keywords = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            probe = subprocess.run(["sh", "-c", f"test -x '{PROGRAM}' && test -r tiny.toml"],
                                   cwd=self.folder, **keywords)
            if probe.returncode != 0:
                self.skipTest("the program lies where another user may not run it")
        (self.folder / "locked").mkdir()
        (self.folder / "locked").chmod(0o555)
        self.refused_in_words(4, ["locked", "Permission denied", "--out"], "run", "tiny.toml",
                              "--out", "locked/r", **keywords)

    def test_a_read_only_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", disk],
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no right to mount a read-only disk")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.refused_in_words(4, ["disk", "Read-only file system"], "run", "tiny.toml", "--out",
                              "disk/r")


if __name__ == "__main__":
    unittest.main()
