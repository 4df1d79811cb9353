"""Workers limited by memory where nobody asks for a number."""

import os
import resource
import subprocess
import unittest

from program import PROGRAM, ProgramTest

MEGABYTE = 1_000_000
LIMIT = 1300 * MEGABYTE  # of addresses; libtorch itself maps about half of it


class WorkerMemory(ProgramTest):
    # 36 x 5000 + 5000 + 5000 x 5000 + 5000 + 5000 x 3 + 3 numbers are 100.8 MB. Two workers need
    # 7 of them, one worker 5, and half of the memory is 650 MB.
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one worker is the default on one core")
    def test_fewer_workers_for_a_large_model_are_said(self):
        process = subprocess.Popen(
            [PROGRAM, "run", "tiny.toml", "--out", "r", *self.set_each("model.hidden=[5000, 5000]")],
            cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        block = []
        for line in process.stdout:
            if line.startswith(" round"):
                break
            block.append(line)
        process.kill()
        self.assertIn("1 worker on cpu", "".join(block))
        self.assertRegex(process.stderr.read(), r"workers: 1 instead of \d+, each with a model of "
                                                r"100.8 MB, so that half of the memory stays free")

    def test_a_small_model_has_all_workers(self):
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--set", "train.rounds=1")
        self.assertNotIn("instead of", done.stderr)


if __name__ == "__main__":
    unittest.main()
