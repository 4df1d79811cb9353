"""A disk that gets full at the writes of a run in turn, with checkpoints and states on disk.

Every fourth write; all of them with FEDVG_EVERY_WRITE=1 in the environment.
"""

import os
import pathlib
import shutil
import subprocess
import unittest

from program import PROGRAM, ProgramTest

SHIM = pathlib.Path(__file__).with_name("full_disk.c")

SETTINGS = ("method.name=scaffold+fedvg", "train.rounds=3", "checkpoint.every=1",
            "engine.state_memory=0", "report.layers_every=1", "engine.workers=2")


class FullDiskInTurn(ProgramTest):
    def setUp(self):
        super().setUp()
        compiler = shutil.which(os.environ.get("CC", "cc"))
        if not compiler:
            self.skipTest("no C compiler")
        self.library = self.folder / "full_disk.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", self.library, SHIM, "-ldl"],
                       check=True)

    def run_in(self, out, *more, after=None):
        """A run, on a disk that is full from the `after`-th write on; absent: that counts them."""
        disk = (self.folder / "disk").resolve()
        environment = self.environment(
            LD_PRELOAD=str(self.library), FULL_DISK=str(disk),
            FULL_DISK_COUNT=str(self.folder / "count"),
            **({} if after is None else {"FULL_DISK_AFTER": str(after)}))
        return self.fedvg("run", "tiny.toml", "--out", out, *self.set_each(*SETTINGS), *more,
                          environment=environment)

    def test_each_leaves_what_was_there_whole(self):
        (self.folder / "disk").mkdir()
        done = self.run_in("disk/whole")
        self.assertEqual(done.returncode, 0, done.stderr)
        writes = int((self.folder / "count").read_text())
        self.assertGreater(writes, 60)
        silent = []
        step = 1 if os.environ.get("FEDVG_EVERY_WRITE") else 4
        # Not the last: it syncs the folder's list of names, which a full disk does not concern.
        for after in range(1, writes, step):
            with self.subTest(write=after):
                out = f"disk/r{after}"
                done = self.run_in(out, after=after)
                self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
                self.assertIn("No space left on device", done.stderr)
                self.assertNotIn("internal error", done.stderr)
                if "disk/" not in done.stderr:
                    silent.append(after)
                checkpoints = self.folder / out / "checkpoints"
                before = sorted(checkpoints.glob("round-*")) if checkpoints.exists() else []
                done = self.run_in(out, "--resume")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertNotIn("damaged", done.stderr)
                self.assertEqual("resumed at round" in done.stderr, bool(before), done.stderr)
                self.assert_whole(out)
                for name in ("rounds.csv", "clients.csv", "layers.csv", "classes.csv"):
                    self.assertEqual(self.without_seconds(out, name),
                                     self.without_seconds("disk/whole", name))
                self.assertEqual(self.model(out), self.model("disk/whole"))
                shutil.rmtree(self.folder / out)
        self.assertEqual(silent, [])


if __name__ == "__main__":
    unittest.main()
