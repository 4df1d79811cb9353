"""Memory of long runs and of many clients: level over rounds, and of those at work only."""

import json
import os
import random
import re
import subprocess
import unittest

from program import PROGRAM, ProgramTest

MEGABYTE = 1 << 20


class Memory(ProgramTest):
    """Runs of random images: a configuration without a data set of its own."""

    def setUp(self):
        super().setUp()
        self.write("random.toml", "[data]\nname = \"random\"\nheight = 16\nwidth = 16\n"
                                  "[engine]\nworkers = 1\n")

    def run_arguments(self, run, *settings):
        return [PROGRAM, "run", "random.toml", "--out", run, *self.set_each(*settings)]

    def resident(self, process):
        """Bytes of a process that is still there."""
        with open(f"/proc/{process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def peak(self, run, *settings):
        """Bytes, resident, of a whole run."""
        process = subprocess.Popen(self.run_arguments(run, *settings), cwd=self.folder,
                                   env=self.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        messages = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, messages)
        return usage.ru_maxrss * 1024

    # U58
    def test_memory_is_level_over_rounds(self):
        draw = random.Random(1)
        self.write("cohorts.json", json.dumps(
            [draw.sample(range(60), draw.randint(5, 50)) for _ in range(320)]))
        process = subprocess.Popen(
            self.run_arguments("r", "data.training=600", "data.test=100", "partition.clients=60",
                               "partition.scheme=iid", "partition.min_samples=1",
                               "validation.ratio=0.02", "model.name=cnn",
                               "train.cohorts=cohorts.json", "train.rounds=320",
                               "train.epochs=1", "method.name=fedvg", "report.layers_every=1"),
            cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        resident = {}
        for line in process.stdout:
            number = re.match(r" +(\d+) ", line)
            if number and int(number[1]) in (30, 300):
                resident[int(number[1])] = self.resident(process)
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        self.assertEqual(len(self.table("r", "rounds.csv")), 320)
        self.assertLessEqual(resident[300], 1.05 * resident[30])

    # U59. 9,990 clients more are as many lists and records more, of 36 bytes of numbers each.
    def test_memory_follows_those_at_work_not_all_clients(self):
        settings = ("data.training=20000", "data.test=100", "partition.scheme=iid",
                    "partition.min_samples=1", "validation.source=none", "model.name=mlp",
                    "model.hidden=[64]", "train.participants=10", "train.rounds=20",
                    "train.epochs=1", "method.name=fedavg", "train.batch_size=2")
        few = self.peak("few", "partition.clients=20", *settings)
        many = self.peak("many", "partition.clients=10000", *settings)
        self.assertLess(abs(many - few), 10 * MEGABYTE)

    # A state is a model of 256 * 400 + 400 + 400 * 10 + 10 numbers, 0.43 MB; of 400 clients, all
    # of whom take part once, 171 MB. What stays beside 1 MB of states is what malloc keeps.
    def test_states_of_clients_are_told_beforehand_and_can_live_on_disk(self):
        self.write("cohorts.json", json.dumps(
            [list(range(first, first + 40)) for first in range(0, 400, 40)]))
        settings = ("data.training=400", "data.test=100", "partition.clients=400",
                    "partition.scheme=iid", "partition.min_samples=1", "validation.source=none",
                    "model.name=mlp", "model.hidden=[400]", "train.cohorts=cohorts.json",
                    "train.rounds=11", "train.epochs=1")
        none = self.peak("none", *settings, "method.name=fedavg")
        for method in ("scaffold", "feddyn"):
            with self.subTest(method):
                own = (*settings, f"method.name={method}")
                told = self.succeeds("check", "random.toml", *self.set_each(*own)).stdout
                self.assertIn(" + 170.9 MB of clients' states", told.splitlines()[-1])
                own = (*own, "engine.state_memory=1")
                told = self.succeeds("check", "random.toml", *self.set_each(*own)).stdout
                self.assertIn("169.8 MB more on disk", told.splitlines()[-1])
                disk = self.peak(method + "-disk", *own)
                self.assertLess(disk - none, 80 * MEGABYTE)
                memory = self.peak(method + "-memory", *own[:-1])
                self.assertGreater(memory - disk, 100 * MEGABYTE)
                self.assertEqual(self.model(method + "-memory"), self.model(method + "-disk"))


if __name__ == "__main__":
    unittest.main()
