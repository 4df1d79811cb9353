"""Threads and cores: what is allotted to the process is what it takes."""

import json
import os
import pathlib
import re
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest

CORES = sorted(os.sched_getaffinity(0))
# Six clients of 256 images through the network cnn, for as long as anybody looks.
LONG = ("data.training=1600", "partition.clients=6", "partition.scheme=iid",
        "validation.ratio=0.04", "train.participation=1", "train.rounds=100000",
        "train.epochs=5", "evaluate.every=100000")


class Threads(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("random.toml", "[data]\nname = \"random\"\ntest = 100\n"
                                  "[method]\nname = \"fedvg\"\n")

    def start(self, *arguments, cores=CORES):
        """A long run on these cores, past its first round, and its set-up block."""
        process = subprocess.Popen(
            [PROGRAM, "run", "random.toml", "--out", "r", *self.set_each(*LONG), *arguments],
            cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        block = []
        for line in process.stdout:
            if re.match(r" +1 ", line):
                return process, "".join(block)
            block.append(line)
        self.fail("no round came to an end")

    def processor_seconds(self, process):
        """By thread: to the nanosecond where the system counts so, else in ticks."""
        seconds = {}
        for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
            try:
                seconds[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
            except OSError:
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[11]) + int(fields[12])
                seconds[task.name] = ticks / os.sysconf("SC_CLK_TCK")
        return seconds

    def busy_threads(self, process):
        """Threads that do a part of the work, by what each took of the processor while all together
        took two seconds of it, however long that was. A worker too many, or a second thread of
        one, takes about as much as the busiest; the server's step, which is taken while the
        workers wait, is a few hundredths of that."""
        before = self.processor_seconds(process)
        while True:
            time.sleep(0.1)
            now = self.processor_seconds(process)
            spent = [now[task] - before.get(task, 0) for task in now]
            if sum(spent) >= 2:
                return sum(seconds > max(spent) / 4 for seconds in spent)

    def written(self, key):
        return json.loads((self.folder / "r/environment.json").read_text())[key]

    def test_one_core_allotted_is_one_thread_at_work(self):
        process, block = self.start(cores=CORES[:1])
        self.assertEqual(self.busy_threads(process), 1)
        self.assertIn("1 worker on cpu", block)
        self.assertEqual(self.written("workers"), 1)
        self.assertEqual(self.written("cores"), 1)
        for task in os.listdir(f"/proc/{process.pid}/task"):
            self.assertEqual(os.sched_getaffinity(int(task)), set(CORES[:1]))

    def test_by_default_no_more_threads_than_cores(self):
        process, _ = self.start()
        self.assertLessEqual(self.busy_threads(process), len(CORES))
        self.assertEqual(self.written("workers"), min(len(CORES), 6))

    def test_zero_workers_are_the_default(self):
        process, _ = self.start("--workers", "0", cores=CORES[:1])
        self.assertEqual(self.busy_threads(process), 1)
        self.assertEqual(self.written("workers"), 1)

    def test_threads_of_a_worker_count(self):
        cores = CORES[:2]
        process, block = self.start("--set", "engine.threads=2", cores=cores)
        self.assertLessEqual(self.busy_threads(process), 2)
        self.assertIn("1 worker of 2 threads on cpu", block)
        self.assertEqual(self.written("workers"), 1)
        self.assertEqual(self.written("threads"), 2)

    def test_more_workers_than_cores_run_when_told_and_it_is_said(self):
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--workers", "3",
                             preexec_fn=lambda: os.sched_setaffinity(0, CORES[:1]))
        self.assertEqual(self.written("workers"), 3)
        self.assertIn("3 workers on 1 core: slower than as many threads as cores", done.stderr)

    def test_more_workers_than_participants_are_bounded_and_it_is_said(self):
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--workers", "4000")
        self.assertEqual(self.written("workers"), 3)
        self.assertIn("workers: 4000 asked for, 3 used", done.stderr)

    def test_workers_that_are_no_number_of_workers(self):
        for workers in ("-1", "10000"):
            lines = self.refused(2, "run", "tiny.toml", "--workers", workers)
            self.assertEqual(lines, [f"fedvg: error: --workers: engine.workers: must be in "
                                     f"[0, 4096], got {workers}"])
        self.assertFalse((self.folder / "runs").exists())

    def test_a_device_that_is_not_there_is_no_silent_processor(self):
        lines = self.refused(4, "run", "tiny.toml", "--device", "cuda:7")
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], "device cuda:7: (there are [0-7] CUDA devices|.* no CUDA device)")
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main()
