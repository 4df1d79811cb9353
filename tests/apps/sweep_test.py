"""fedvg sweep: what is run, skipped, resumed and refused; one that fails, is killed or stopped."""

import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import time
import tomllib
import unittest

from program import PROGRAM, ProgramTest

SWEEP = """\
base = "tiny.toml"
out = "out"
seeds = [1, 2]
[grid]
"method.name" = ["fedavg", "fedvg"]
"""
NAMES = ["fedavg-s1", "fedavg-s2", "fedvg-s1", "fedvg-s2"]

# Runs that last until they are stopped, and are over soon when they are resumed.
LONG = SWEEP.replace("seeds = [1, 2]", "seeds = [1]")


def alive(number):
    """A process that has not ended (a zombie has)."""
    try:
        status = pathlib.Path(f"/proc/{number}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status


def children(number):
    """Processes whose parent that is."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == number:
            found.append(int(path.parent.name))
    return found


class SweepTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("sweep.toml", SWEEP)

    def names(self, out="out"):
        return sorted(path.parent.name for path in (self.folder / out).glob("*/config.toml"))

    def tables(self, out="out"):
        return {name: self.without_seconds(f"{out}/{name}", "rounds.csv")
                for name in self.names(out)}

    def stamps(self, out="out"):
        """When what a finished run leaves was written."""
        return {path: path.stat().st_mtime_ns for path in sorted((self.folder / out).rglob("*"))
                if path.is_file() and path.name != ".lock"}

    def assert_finished(self, names, out="out", rounds=4):
        for name in names:
            self.assert_whole(f"{out}/{name}")
            self.assertEqual(len(self.table(f"{out}/{name}", "rounds.csv")), rounds, name)
            self.model(f"{out}/{name}")
            self.assertTrue(json.loads((self.folder / out / name / "run.json").read_text())
                            ["finished"], name)

    def start(self, *arguments, **keywords):
        process = subprocess.Popen(
            [PROGRAM, "sweep", *arguments], cwd=self.folder, env=self.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **keywords)
        self.addCleanup(self.clear_up, process)
        return process

    def clear_up(self, process):
        for number in [*children(process.pid), process.pid]:
            try:
                os.kill(number, signal.SIGKILL)
            except OSError:
                pass
        process.communicate()

    def rounds(self, run):
        path = self.folder / run / "rounds.csv"
        return len(path.read_text().splitlines()) - 1 if path.exists() else 0

    def await_rounds(self, *runs, rounds=2):
        """Until each has so many."""
        deadline = time.monotonic() + 120
        for run in runs:
            while True:
                if self.rounds(run) >= rounds:
                    break
                self.assertLess(time.monotonic(), deadline, f"no rounds of {run}")
                time.sleep(0.02)

    def await_end(self, numbers):
        deadline = time.monotonic() + 60
        while any(alive(number) for number in numbers):
            self.assertLess(time.monotonic(), deadline, "a run lives on")
            time.sleep(0.02)


class Runs(SweepTest):
    def test_a_grid_with_seeds(self):
        done = self.succeeds("sweep", "sweep.toml")
        self.assertEqual(self.names(), NAMES)
        self.assert_finished(NAMES)
        for name in NAMES:
            method, _, seed = name.partition("-s")
            config = tomllib.loads((self.folder / "out" / name / "config.toml").read_text())
            self.assertEqual((config["method"]["name"], config["seed"]), (method, int(seed)))
            accuracy = float(self.table(f"out/{name}", "rounds.csv")[-1]["test_accuracy"])
            self.assertRegex(done.stdout, rf"(?m)^{name} +started$")
            self.assertRegex(done.stdout,
                             rf"(?m)^{name} +finished +\d+ s  test accuracy {accuracy:.4f}  \d/4")
        self.assertRegex(done.stdout, r"(?m)^finished +4 of 4 runs$")
        self.assertIn("fedvg compare out --rows method\n", done.stdout)
        shown = self.succeeds("compare", "out", "--rows", "method").stdout
        self.assertRegex(shown, r"(?m)^fedvg ")
        self.assertEqual(done.stderr, "")
        self.assertEqual(json.loads((self.folder / "out/runs.json").read_text()),
                         [{"folder": name, "settings": {"method.name": name.split("-")[0],
                                                        "seed": int(name[-1])}} for name in NAMES])
        left = {path.name for path in (self.folder / "out").iterdir()} - set(NAMES)
        self.assertLessEqual(left, {"sweep.toml", "base.toml", "runs.json", "logs",
                                    ".fedvg-cache"})

    def test_its_folder_is_the_same_sweep_from_inside(self):
        """The base names its data by a relative path, and a value of the grid a cohort file."""
        self.write("who.json", json.dumps([[0, 1], [2, 3], [4, 5], [0, 5]]))
        self.write("sweep.toml", LONG + '"train.cohorts" = ["who.json"]\n')
        self.succeeds("sweep", "sweep.toml")
        names, stamps = self.names(), self.stamps()
        self.assertEqual(len(names), 2)
        self.assert_finished(names)
        done = subprocess.run([PROGRAM, "sweep", "sweep.toml"], cwd=self.folder / "out",
                              env=self.environment(), capture_output=True, text=True,
                              timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.names(), self.stamps()), (names, stamps))
        self.assertIn("2 of 2 runs, 2 finished before", done.stdout)

    def test_each_run_is_that_of_fedvg_run_however_many_go_on(self):
        self.succeeds("sweep", "sweep.toml", "--jobs", "2")
        self.succeeds("sweep", "sweep.toml", "--jobs", "1", "--out", "one")
        self.assertEqual(self.tables(), self.tables("one"))
        self.succeeds("run", "tiny.toml", "--out", "alone",
                      *self.set_each("method.name=fedavg", "seed=2"))
        self.assertEqual(self.model("alone")[1], self.model("out/fedavg-s2")[1])
        self.assertEqual((self.folder / "alone/config.toml").read_text(),
                         (self.folder / "out/fedavg-s2/config.toml").read_text())

    def test_what_was_chosen_is_said(self):
        done = self.succeeds("sweep", "sweep.toml", "--jobs", "1")
        self.assertIn("4 runs in out: one after another\n", done.stdout)

    def test_zip_and_settings_for_all(self):
        self.write("sweep.toml", 'base = "tiny.toml"\nout = "out"\n[zip]\n'
                   'method.name = ["fedavg", "fedvg"]\n'
                   'method.weighting = [{name = "uniform"}, {norm = "l2"}]\n')
        self.succeeds("sweep", "sweep.toml", "--set", "train.rounds=2", "--workers", "1")
        self.assertEqual(self.names(), ["fedavg", "fedvg"])
        self.assert_finished(self.names(), rounds=2)
        configs = [tomllib.loads((self.folder / "out" / name / "config.toml").read_text())
                   for name in self.names()]
        self.assertEqual([config["method"]["weighting"]["name"] for config in configs],
                         ["uniform", "fedvg"])
        self.assertEqual(configs[1]["method"]["weighting"]["norm"], "l2")
        self.assertEqual([config["engine"]["workers"] for config in configs], [1, 1])

    def test_its_own_copy_is_the_same_sweep(self):
        self.succeeds("sweep", "sweep.toml", "--set", "train.rounds=1")
        before = self.stamps()
        done = self.succeeds("sweep", "out/sweep.toml")
        self.assertIn("4 finished before", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.stamps(), before)

    def test_a_dry_run_shows_and_writes_nothing(self):
        done = self.succeeds("sweep", "sweep.toml", "--dry-run")
        self.assertEqual(done.stdout.splitlines()[3],
                         'out/fedvg-s2   to do  method.name = "fedvg", seed = 2')
        self.assertEqual({path.name for path in self.folder.iterdir()},
                         {"set", "tiny.toml", "sweep.toml"})

    def test_the_bar_is_of_the_whole(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([PROGRAM, "sweep", "sweep.toml"], cwd=self.folder,
                                   env=self.environment(TERM="xterm"), stdout=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertRegex(shown.decode(), r"runs 0/4, ETA [^,]*, rounds \[[#.]*\] \d+/16")
        self.assertTrue(shown.decode().endswith("\r\x1b[K"))


class Continuing(SweepTest):
    def test_finished_runs_are_skipped(self):
        self.succeeds("sweep", "sweep.toml")
        before = self.stamps()
        done = self.succeeds("sweep", "sweep.toml")
        self.assertRegex(done.stdout, r"(?m)^finished +4 of 4 runs, 4 finished before$")
        self.assertNotIn("started", done.stdout)
        self.assertEqual(self.stamps(), before)
        listed = self.succeeds("sweep", "sweep.toml", "--dry-run").stdout
        self.assertEqual(listed.count("  finished  "), 4)

    def test_one_that_fails_does_not_stop_the_others(self):
        self.write("sweep.toml", 'base = "tiny.toml"\nout = "out"\n[grid]\n'
                   '"data.path" = ["set", "nowhere", "set2"]\n')
        (self.folder / "set2").symlink_to("set")
        done = self.fedvg("sweep", "sweep.toml", "--jobs", "1")
        self.assertEqual(done.returncode, 4, done.stderr)
        # The digits are those of the absolute path.
        first, failed, last = re.findall(r"(?m)^(path_\S+) +started", done.stdout)
        for run, name in ((first, "set"), (failed, "nowhere"), (last, "set2")):
            self.assertRegex(run, rf"^path_{name}\.[0-9a-f]{{6}}$")
        self.assertRegex(done.stdout, rf"(?m)^{last} +finished")
        self.assertRegex(done.stdout, rf"(?m)^{failed} +failed .*nowhere")
        self.assertRegex(done.stdout, rf"(?m)^failed +{failed}: .*nowhere")
        self.assertRegex(done.stdout, r"(?m)^finished +2 of 3 runs$")
        self.assertIn("fedvg: error: 1 of 3 runs failed", done.stderr)
        self.assert_finished([first, last])
        self.assertIn("nowhere", (self.folder / f"out/logs/{failed}.txt").read_text())
        # What was missing is there: only that one is run.
        (self.folder / "nowhere").symlink_to("set")
        done = self.succeeds("sweep", "sweep.toml")
        self.assertEqual(re.findall(r"(?m)^(\S+) +started", done.stdout), [failed])

    def test_one_that_is_killed_does_not_stop_the_others(self):
        process = self.start("sweep.toml", "--jobs", "1", "--set", "train.rounds=300")
        self.await_rounds("out/fedavg-s1")
        (run,) = children(process.pid)
        os.kill(run, signal.SIGKILL)
        output, messages = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 4, messages)
        self.assertRegex(output, r"(?m)^failed +fedavg-s1: killed \(signal 9\).*memory")
        self.assert_finished(NAMES[1:], rounds=300)
        done = self.succeeds("sweep", "sweep.toml", "--set", "train.rounds=300")
        self.assertRegex(done.stdout, r"(?m)^fedavg-s1 +resumed$")
        self.assert_finished(NAMES, rounds=300)

    def test_a_changed_sweep_keeps_what_is_the_same(self):
        self.succeeds("sweep", "sweep.toml")
        before = self.stamps()
        self.write("sweep.toml", SWEEP.replace("[1, 2]", "[2, 3]"))
        done = self.succeeds("sweep", "sweep.toml")
        self.assertIn("note: out was of another sweep", done.stderr)
        self.assertEqual(re.findall(r"(?m)^(\S+) +started", done.stdout),
                         ["fedavg-s3", "fedvg-s3"])
        for path, stamp in before.items():
            if path.parent.name in NAMES:
                self.assertEqual(path.stat().st_mtime_ns, stamp, path)
        folders = [run["folder"] for run in json.loads((self.folder / "out/runs.json").read_text())]
        self.assertEqual(folders, ["fedavg-s2", "fedavg-s3", "fedvg-s2", "fedvg-s3"])

    def test_runs_of_other_settings_are_not_touched(self):
        self.succeeds("sweep", "sweep.toml")
        tables = self.tables()
        self.write("tiny.toml", (self.folder / "tiny.toml").read_text().replace("lr = 0.1", "lr = 0.2"))
        done = self.fedvg("sweep", "sweep.toml")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stdout, r"(?m)^failed +fedavg-s1: .*lr")
        self.assertEqual(self.tables(), tables)
        before = self.stamps()
        listed = self.succeeds("sweep", "sweep.toml", "--dry-run").stdout
        self.assertEqual(listed.count("  refused: another train.optimizer  "), 4, listed)
        self.assertEqual(self.stamps(), before)


class Stopping(SweepTest):
    ENDLESS = ("--set", "train.rounds=1000000", "--set", "checkpoint.every=1", "--jobs", "2")

    def setUp(self):
        super().setUp()
        self.write("sweep.toml", LONG)
        self.runs = ["out/fedavg-s1", "out/fedvg-s1"]

    def finish(self):
        """The rest, with so many rounds that each run has some left."""
        rounds = 3 + max(len(self.table(run, "rounds.csv")) for run in self.runs)
        done = self.succeeds("sweep", "sweep.toml", "--set", f"train.rounds={rounds}",
                             "--set", "checkpoint.every=1")
        self.assertEqual(len(re.findall(r"(?m)^\S+ +resumed$", done.stdout)), 2, done.stdout)
        self.assert_finished(["fedavg-s1", "fedvg-s1"], rounds=rounds)
        self.succeeds("run", "tiny.toml", "--out", "whole", "--set", "method.name=fedvg",
                      "--set", f"train.rounds={rounds}", "--set", "checkpoint.every=1")
        self.assertEqual(self.without_seconds("whole", "rounds.csv"),
                         self.without_seconds("out/fedvg-s1", "rounds.csv"))
        self.assertEqual(self.model("whole")[1], self.model("out/fedvg-s1")[1])

    def test_a_signal_is_passed_on_and_the_same_command_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                before = max(self.rounds(run) for run in self.runs)
                process = self.start("sweep.toml", *self.ENDLESS)
                self.await_rounds(*self.runs, rounds=before + 2)
                runs = children(process.pid)
                self.assertEqual(len(runs), 2)
                process.send_signal(number)
                output, messages = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, messages)
                self.assertIn("interrupted with 0 of 2 runs finished; fedvg sweep sweep.toml, "
                              "with the same options, goes on", messages)
                self.assertEqual(len(re.findall(r"(?m)^\S+ +stopped", output)), 2, output)
                self.assertFalse([run for run in runs if alive(run)])
                for run in self.runs:
                    self.assert_whole(run)
                    # In order, not by leaving at once.
                    self.assertIn("interrupted after", (self.folder / run / "log.txt").read_text())
                self.assertFalse((self.folder / "out/.lock").exists())
        self.finish()

    def test_ctrl_c_in_a_terminal_reaches_the_runs_once(self):
        process = self.start("sweep.toml", *self.ENDLESS, start_new_session=True)
        self.await_rounds(*self.runs)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, messages)
        for run in self.runs:
            self.assertIn("interrupted after", (self.folder / run / "log.txt").read_text())
            self.assertNotIn("stopped at once",
                             (self.folder / "out/logs" / f"{run[4:]}.txt").read_text())

    def test_a_second_signal_leaves_at_once(self):
        process = self.start("sweep.toml", *self.ENDLESS)
        self.await_rounds(*self.runs)
        runs = children(process.pid)
        for run in runs:
            os.kill(run, signal.SIGSTOP)  # they do not answer
        process.send_signal(signal.SIGINT)
        while "stopping" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        for run in runs:
            os.kill(run, signal.SIGCONT)
        self.await_end(runs)

    def test_runs_end_with_a_sweep_that_is_killed_and_the_next_goes_on(self):
        process = self.start("sweep.toml", *self.ENDLESS)
        self.await_rounds(*self.runs)
        runs = children(process.pid)
        process.kill()
        process.communicate()
        self.await_end(runs)
        for run in self.runs:
            self.assertIn("interrupted after", (self.folder / run / "log.txt").read_text())
        self.finish()

    def test_runs_of_one_that_was_killed_are_waited_for(self):
        folder = self.folder / "out/fedavg-s1"
        folder.mkdir(parents=True)
        (self.folder / "out/sweep.toml").write_text('base = "base.toml"\n')
        with open(folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.start("sweep.toml", "--jobs", "1")
            self.assertEqual(process.stdout.readline(), "2 runs in out: one after another\n")
            while "waiting for the process that still works in out/fedavg-s1" not in (
                    process.stderr.readline()):
                self.assertIsNone(process.poll())
            folder.joinpath(".lock").unlink()
            folder.rmdir()  # nothing of a run
        output, messages = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, output + messages)
        self.assert_finished(["fedavg-s1", "fedvg-s1"])

    def test_a_second_sweep_is_refused_while_one_works(self):
        process = self.start("sweep.toml", *self.ENDLESS)
        self.await_rounds(*self.runs)
        self.refused_in_words(4, f"out: another process (pid {process.pid}) works in this folder",
                              "sweep", "sweep.toml")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)


class Refusals(SweepTest):
    def refused_sweep(self, words, text, *arguments):
        self.write("sweep.toml", text)
        lines = self.refused_in_words(2, words, "sweep", "sweep.toml", *arguments)
        self.assertFalse((self.folder / "out").exists())
        self.assertFalse((self.folder / "sweeps").exists())
        return lines

    def test_every_mistake_of_every_run_at_once(self):
        lines = self.refused_sweep(
            ["sweep.toml:5: unknown option 'alhpa' in [partition]; did you mean 'alpha'?",
             "sweep.toml:6: train.epochs: must be >= 1, got 0", "(3 of 6 runs, the first "],
            'base = "tiny.toml"\nout = "out"\nseeds = [1, 2, 3]\n[grid]\n'
            '"partition.alhpa" = [0.1]\n"train.epochs" = [0, 1]\n')
        self.assertEqual(len(lines), 2)

    def test_lists_of_zip_of_different_length(self):
        self.refused_sweep(["sweep.toml:3: [zip]", "train.epochs has 2, data.take has 1"],
                           'base = "tiny.toml"\n[zip]\ntrain.epochs = [1, 2]\ndata.take = [60]\n')

    def test_values_twice(self):
        self.refused_sweep("sweep.toml:3: [grid] train.epochs: 2 stands there twice",
                           'base = "tiny.toml"\n[grid]\ntrain.epochs = [1, 2, 2]\n')
        self.refused_sweep("two runs would be the same",
                           'base = "tiny.toml"\n[grid]\npartition.alpha = [1, 1.0]\n')

    def test_arguments(self):
        self.refused_sweep("--set seed=3: the sweep varies seed", SWEEP, "--set", "seed=3")
        self.refused_sweep("--jobs: must be >= 1, got 0", SWEEP, "--jobs", "0")
        self.refused_sweep("--out: wanted the name of a folder", SWEEP, "--out", "")
        self.refused_sweep("--device gpu: wanted cpu or cuda:N", SWEEP, "--device", "gpu")
        self.refused_in_words(2, "SWEEP.toml is required", "sweep")
        self.refused_in_words(2, "nowhere.toml: cannot be read", "sweep", "nowhere.toml")

    def test_a_folder_of_something_else_is_left_alone(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/notes.txt").write_text("mine")
        self.refused_in_words(4, "out: exists and is not the folder of a sweep", "sweep",
                              "sweep.toml")
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], ["notes.txt"])

    def test_a_dry_run_refuses_what_the_sweep_would(self):
        (self.folder / "own").mkdir()
        (self.folder / "own/notes.txt").write_text("mine")
        (self.folder / "link").symlink_to("nowhere")
        for out, words in (("own", "own: exists and is not the folder of a sweep"),
                           ("sweep.toml", "sweep.toml: cannot be created: not a folder"),
                           ("link", ["a symbolic link to nowhere", "remove the link"])):
            with self.subTest(out):
                lines = self.refused_in_words(4, words, "sweep", "sweep.toml", "--out", out,
                                              "--dry-run")
                self.assertEqual(self.refused(4, "sweep", "sweep.toml", "--out", out), lines)
        self.assertEqual({path.name for path in self.folder.iterdir()},
                         {"set", "tiny.toml", "sweep.toml", "own", "link"})
        self.assertEqual([path.name for path in (self.folder / "own").iterdir()], ["notes.txt"])

    def test_what_it_is_read_from_is_not_replaced(self):
        (self.folder / "own").mkdir()
        self.write("own/base.toml", "# precious\n" + (self.folder / "tiny.toml").read_text())
        self.write("own/sweep.toml", '# mine\nbase = "base.toml"\nout = "own"\nseeds = [1, 2]\n')
        before = (self.folder / "own" / "sweep.toml").read_text()
        self.refused_in_words(4, "own", "sweep", "own/sweep.toml")
        self.assertEqual((self.folder / "own" / "sweep.toml").read_text(), before)
        self.assertIn("precious", (self.folder / "own" / "base.toml").read_text())


if __name__ == "__main__":
    unittest.main()
