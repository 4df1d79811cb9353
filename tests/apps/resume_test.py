"""fedvg run --resume: a run that was stopped goes on as if it had not been."""

import signal
import subprocess
import unittest

import killing
from program import PROGRAM, ProgramTest

TABLES = ("rounds.csv", "clients.csv", "layers.csv", "classes.csv", "confusion.csv")
EACH = ("--set", "checkpoint.every=1")


class Resume(ProgramTest):
    def assert_equal_ends(self, run, whole):
        self.assert_whole(run)
        for name in TABLES:
            self.assertEqual(self.without_seconds(run, name), self.without_seconds(whole, name), name)
        for name in ("model.safetensors", "best.safetensors"):
            self.assertEqual((self.folder / run / name).read_bytes(),
                             (self.folder / whole / name).read_bytes(), name)

    def run_in_two(self, *settings, rounds=(5, 10)):
        """Folders of a run of all rounds, and of one that ended in between and was lengthened."""
        arguments = self.set_each(*settings)
        whole, parts = f"whole-{self.number}", f"parts-{self.number}"
        self.number += 1
        self.succeeds("run", "tiny.toml", "--out", whole, *arguments,
                      "--set", f"train.rounds={rounds[1]}")
        self.succeeds("run", "tiny.toml", "--out", parts, *arguments,
                      "--set", f"train.rounds={rounds[0]}")
        done = self.succeeds("run", "tiny.toml", "--out", parts, *arguments, "--resume",
                             "--set", f"train.rounds={rounds[1]}")
        self.assertIn(f"resumed at round {rounds[0] + 1}", done.stderr)
        return whole, parts

    number = 1

    def stop_after(self, rounds, out, *arguments, number=signal.SIGKILL):
        """A run of 100000 rounds that is stopped once so many are finished; some more may be."""
        process = subprocess.Popen([PROGRAM, "run", "tiny.toml", "--out", out, *arguments,
                                    "--set", "train.rounds=100000"],
                                   cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if line.split()[:1] == [str(rounds)]:
                break
        process.send_signal(number)
        _, messages = process.communicate(timeout=60)
        return process.returncode, messages

    def longer(self, out):
        """The setting with which a stopped run has rounds to go: how far it came is a matter of time."""
        return "--set", "train.rounds=" + str(len(self.table(out, "rounds.csv")) + 3)

    # U62 a
    def test_every_method_goes_on_as_if_unbroken(self):
        for method in ("fedavg", "fedavgm", "fedprox", "scaffold", "feddyn", "moon", "fednova",
                       "elastic", "fedvg", "scaffold+fedvg", "feddyn+fedvg", "local", "centralized"):
            with self.subTest(method):
                settings = [f"method.name={method}"]
                if method == "local":
                    settings.append("train.buffers=local")
                self.assert_equal_lengthened(settings)

    def assert_equal_lengthened(self, settings):
        self.assert_equal_lengthened_of(*self.run_in_two(*settings))

    def assert_equal_lengthened_of(self, whole, parts):
        names = [name for name in ("best.safetensors",) if not (self.folder / whole / name).exists()]
        for name in names:
            (self.folder / whole / name).write_bytes(b"")
            (self.folder / parts / name).write_bytes(b"")
        self.assert_equal_ends(parts, whole)

    def test_every_kind_of_state_goes_along(self):
        for settings in (
                ["train.optimizer={name='sgd', lr=0.1, momentum=0.9}", "train.optimizer_state=keep"],
                ["train.optimizer={name='adam', lr=0.01}", "train.optimizer_state=keep"],
                ["method.server={name='adam', lr=0.1}"],
                ["method.server={name='yogi', lr=0.1}", "method.name=scaffold",
                 "engine.state_memory=0"],
                ["data.resize=16", "model.name=cnn", "model.norm=batch",
                 "train.buffers=local", "train.optimizer.weight_decay=0.01"],
                ["scoring.batch_size=2", "scoring.budget=0.3"],
                ["train.drop_out=0.3", "train.epochs=3", "train.stragglers=0.5",
                 "evaluate.clients=true"],
                ["engine.precision=float64", "method.name=feddyn"]):
            with self.subTest(settings):
                self.assert_equal_lengthened(settings)

    # U50: halved every 2 rounds, and resumed at round 4.
    def test_the_learning_rate_is_that_of_its_round(self):
        settings = ["train.schedule={name='step', every=2, factor=0.5}", "train.participation=1"]
        _, parts = self.run_in_two(*settings, rounds=(3, 6))
        log = (self.folder / parts / "log.txt").read_text()
        rates = [line.split("learning rate ")[1].split(" on")[0]
                 for line in log.splitlines() if "learning rate " in line]
        self.assertEqual(rates, ["0.1 from round 1", "0.05 from round 3", "0.025 from round 5"])

    def test_a_killed_run_goes_on_behind_its_last_checkpoint(self):
        self.stop_after(7, "killed", "--set", "checkpoint.every=3")
        self.assertGreaterEqual(len(self.table("killed", "rounds.csv")), 7)
        rounds = self.longer("killed")
        done = self.succeeds("run", "tiny.toml", "--out", "killed", "--resume",
                             "--set", "checkpoint.every=3", *rounds)
        self.assertIn("resumed at round ", done.stderr)
        self.succeeds("run", "tiny.toml", "--out", "whole", *rounds)
        self.assert_equal_ends("killed", "whole")

    def test_ctrl_c_writes_a_checkpoint_of_the_last_round(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                out = f"stopped-{number}"
                code, messages = self.stop_after(3, out, number=number)
                self.assertEqual(code, 130)
                self.assertIn("--resume", messages)
                finished = len(self.table(out, "rounds.csv"))
                rounds = self.longer(out)
                newest = max(path.name for path in (self.folder / out / "checkpoints").iterdir()
                             if path.name.startswith("round-"))
                # A round that was trained and not evaluated yet is in no table.
                self.assertIn(int(newest[6:12]), (finished, finished + 1))
                self.succeeds("run", "tiny.toml", "--out", out, "--resume", *rounds)
                self.succeeds("run", "tiny.toml", "--out", f"whole-{number}", *rounds)
                self.assert_equal_ends(out, f"whole-{number}")

    def test_a_stop_in_an_evaluation_loses_no_figure(self):
        # Evaluations take most of the time, so that the signal falls into one.
        slow = ["--set", "evaluate.clients=true", "--set", "train.steps=1"]
        for i in range(4):
            out = f"e{i}"
            self.stop_after(i + 2, out, *slow, number=signal.SIGINT)
            rounds = self.longer(out)
            self.succeeds("run", "tiny.toml", "--out", out, "--resume", *slow, *rounds)
            self.succeeds("run", "tiny.toml", "--out", f"whole-{i}", *slow, *rounds)
            self.assert_equal_ends(out, f"whole-{i}")

    def test_without_a_folder_or_checkpoint_it_starts(self):
        self.succeeds("run", "tiny.toml", "--out", "new", "--resume")
        self.succeeds("run", "tiny.toml", "--out", "whole")
        self.assert_equal_ends("new", "whole")
        self.stop_after(2, "early", "--set", "checkpoint.every=100000")
        self.assertFalse((self.folder / "early" / "checkpoints").exists())
        done = self.succeeds("run", "tiny.toml", "--out", "early", "--resume",
                             "--set", "checkpoint.every=100000")
        self.assertNotIn("resumed", done.stderr)
        self.assert_equal_ends("early", "whole")
        (self.folder / "empty").mkdir()
        self.succeeds("run", "tiny.toml", "--out", "empty", "--resume")

    def test_a_run_that_has_ended_is_left_alone(self):
        self.succeeds("run", "tiny.toml", "--out", "r")
        before = {path.name: path.stat().st_mtime_ns for path in (self.folder / "r").iterdir()}
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--resume")
        self.assertIn("finished", done.stdout)
        self.assertIn("4 rounds", done.stdout)
        after = {path.name: path.stat().st_mtime_ns for path in (self.folder / "r").iterdir()}
        self.assertEqual(after, before)
        self.refused_in_words(4, ["exists already", "--resume"], "run", "tiny.toml", "--out", "r")

    def test_fewer_rounds_than_it_has(self):
        self.stop_after(5, "r", number=signal.SIGINT)
        self.refused_in_words(2, ["train.rounds is 2", "behind it"], "run", "tiny.toml",
                              "--out", "r", "--resume", "--set", "train.rounds=2")

    # U62 d
    def test_changed_settings_are_refused_by_name(self):
        self.stop_after(3, "r", number=signal.SIGINT)
        for setting, key in (("method.name=fedavg", "method.name"), ("seed=2", "seed"),
                             ("model.hidden=[9]", "model.hidden"),
                             ("partition.alpha=7.0", "partition.alpha"),
                             ("partition.clients=7", "partition.clients"),
                             ("train.optimizer.lr=0.2", "train.optimizer.lr"),
                             ("engine.threads=2", "engine.threads"),
                             ("train.patience=9", "train.patience")):
            with self.subTest(setting):
                self.refused_in_words(2, [f"another {key}", "it began with"], "run", "tiny.toml",
                                      "--out", "r", "--resume", "--set", setting,
                                      "--set", "train.rounds=100000")
        self.succeeds("run", "tiny.toml", "--out", "r", "--resume", "--workers", "1",
                      "--set", "checkpoint.every=2", "--set", "checkpoint.keep=1",
                      *self.longer("r"))

    def test_other_data_are_refused(self):
        self.stop_after(3, "r", number=signal.SIGINT)
        import tiny_set
        tiny_set.write(self.folder / "set", training=290)
        self.refused_in_words(3, ["partition.json", "other samples"], "run", "tiny.toml",
                              "--out", "r", "--resume", "--set", "train.rounds=100000")

    def test_other_inputs_are_refused_by_name(self):
        import tiny_set
        self.write("cohorts.json", "[[0, 1], [2, 3]]")
        tiny_set.write(self.folder / "val", training=60)
        settings = self.set_each("train.cohorts=cohorts.json", "validation.source=file",
                                 "validation.path=val")
        self.stop_after(3, "r", *settings, number=signal.SIGINT)
        again = ("run", "tiny.toml", "--out", "r", "--resume", *settings,
                 "--set", "train.rounds=100000")
        before = (self.folder / "r" / "rounds.csv").read_bytes()
        self.write("cohorts.json", "[[0, 1], [3, 2]]")
        self.refused_in_words(3, "the file of train.cohorts is not what the run began with", *again)
        self.write("cohorts.json", "[[0, 1], [2, 3]]")
        tiny_set.write(self.folder / "val", training=63)
        self.refused_in_words(3, "D_val is not what the run began with", *again)
        tiny_set.write(self.folder / "val", training=60)
        tiny_set.write(self.folder / "set", test=60)
        self.refused_in_words(3, "the test set is not what the run began with", *again)
        self.assertEqual((self.folder / "r" / "rounds.csv").read_bytes(), before)
        tiny_set.write(self.folder / "set")
        self.succeeds("run", "tiny.toml", "--out", "r", "--resume", *settings, *self.longer("r"))

    def test_a_local_run_keeps_the_initial_model(self):
        settings = ["method.name=local", "method.server={name='adam'}", "train.participants=1",
                    "train.participation=0.5"]
        whole, parts = self.run_in_two(*settings, rounds=(1, 3))
        self.assert_equal_lengthened_of(whole, parts)
        self.succeeds("run", "tiny.toml", "--out", "plain", *self.set_each(
            "method.name=local", "train.participants=1"), "--set", "train.rounds=3")
        self.assertEqual(self.without_seconds("plain", "rounds.csv"),
                         self.without_seconds(whole, "rounds.csv"))

    def test_finished_work_is_not_thrown_away(self):
        self.succeeds("run", "tiny.toml", "--out", "r", "--set", "checkpoint.every=0")
        self.refused_in_words(2, ["train.rounds is 3", "4 rounds behind it"], "run", "tiny.toml",
                              "--out", "r", "--resume", "--set", "checkpoint.every=0",
                              "--set", "train.rounds=3")
        more = ("run", "tiny.toml", "--out", "r", "--resume", "--set", "checkpoint.every=0",
                "--set", "train.rounds=6")
        layers = self.folder / "r" / "layers.csv"
        content = layers.read_bytes()
        layers.write_bytes(content[:-1])
        self.refused_in_words(4, ["none can be used", "layers.csv"], *more)
        # Of the same length.
        layers.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
        self.refused_in_words(4, ["none can be used", "layers.csv: lines are not as they were",
                                  "was changed"], *more)
        layers.write_bytes(content)
        hidden = (self.folder / "r" / "checkpoints").rename(self.folder / "hidden")
        self.refused_in_words(4, ["has ended", "no checkpoint"], *more)
        hidden.rename(self.folder / "r" / "checkpoints")
        self.assertIn("resumed at round 5", self.succeeds(*more).stderr)

    def test_a_table_that_is_damaged_behind_an_older_checkpoint(self):
        every = ("--set", "checkpoint.every=2")
        self.succeeds("run", "tiny.toml", "--out", "r", *every)
        for name in TABLES[:2]:
            table = self.folder / "r" / name
            content = bytearray(table.read_bytes())
            content[-2] ^= 1
            table.write_bytes(content)
            done = self.succeeds("run", "tiny.toml", "--out", "r", "--resume", *every,
                                 "--set", "train.rounds=6")
            self.assertIn(f"checkpoint of round 4: r/{name}: lines are not as they were",
                          done.stderr)
            self.assertIn("resumed at round 3", done.stderr)
            (self.folder / "r").rename(self.folder / f"r-{name}")
            self.succeeds("run", "tiny.toml", "--out", "r", *every)
        self.succeeds("run", "tiny.toml", "--out", "whole", "--set", "train.rounds=6")
        for name in TABLES[:2]:
            self.assert_equal_ends(f"r-{name}", "whole")

    def test_a_folder_with_somebodys_configuration_is_left_alone(self):
        (self.folder / "own").mkdir()
        self.write("own/config.toml", "# mine\nseed = 3\n")
        self.write("own/rounds.csv", "mine\n")
        self.refused_in_words(3, "own/config.toml", "run", "tiny.toml", "--out", "own", "--resume")
        self.assertEqual((self.folder / "own" / "rounds.csv").read_text(), "mine\n")

    def test_a_name_that_is_too_long(self):
        self.refused_in_words(4, "File name too long", "run", "tiny.toml", "--resume", "--out",
                              "x" * 300)

    def test_a_damaged_checkpoint_is_passed_over(self):
        self.succeeds("run", "tiny.toml", "--out", "whole", "--set", "train.rounds=12")
        for damage in ("flip", "cut", "empty", "text"):
            with self.subTest(damage):
                out = f"r-{damage}"
                self.succeeds("run", "tiny.toml", "--out", out, "--set", "train.rounds=6",
                              "--set", "checkpoint.every=2")
                newest = self.folder / out / "checkpoints" / "round-000006.safetensors"
                content = bytearray(newest.read_bytes())
                if damage == "flip":
                    content[len(content) // 2] ^= 1
                elif damage == "cut":
                    del content[-7:]
                else:
                    content = b"" if damage == "empty" else b"not a checkpoint\n"
                newest.write_bytes(content)
                done = self.succeeds("run", "tiny.toml", "--out", out, "--resume",
                                     "--set", "train.rounds=12", "--set", "checkpoint.every=2")
                self.assertIn("round-000006.safetensors", done.stderr)
                self.assertIn("resumed at round 5", done.stderr)
                self.assert_equal_ends(out, "whole")

    def test_without_any_whole_checkpoint_it_starts_again(self):
        self.succeeds("run", "tiny.toml", "--out", "r", *EACH)
        for path in (self.folder / "r" / "checkpoints").iterdir():
            path.write_bytes(path.read_bytes()[:-1])
        (self.folder / "r" / "run.json").unlink()
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--resume", *EACH)
        self.assertNotIn("resumed", done.stderr)
        self.assertIn("there is no checkpoint: the run starts at round 1", done.stderr)
        self.assertIn("warning     r/checkpoints/round-000004.safetensors", done.stdout)
        self.succeeds("run", "tiny.toml", "--out", "whole")
        self.assert_equal_ends("r", "whole")

    def test_a_damaged_state_of_a_client_is_named(self):
        settings = self.set_each("method.name=scaffold", "train.participation=1",
                                 "engine.state_memory=0", "checkpoint.every=2")
        self.succeeds("run", "tiny.toml", "--out", "r", *settings)
        victim = self.folder / "r" / "client-state" / "client-3-round-4.safetensors"
        content = bytearray(victim.read_bytes())
        content[-1] ^= 1
        victim.write_bytes(content)
        more = ("run", "tiny.toml", "--out", "r", *settings, "--resume", "--set", "train.rounds=6")
        done = self.fedvg(*more)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("client-3-round-4.safetensors: damaged", done.stderr)
        self.assertIn("set aside", done.stderr)
        self.assertIn("resumed at round 3", self.succeeds(*more).stderr)
        self.succeeds("run", "tiny.toml", "--out", "whole", *settings, "--set", "train.rounds=6")
        self.assert_equal_ends("r", "whole")

    def test_states_that_no_checkpoint_names_are_removed(self):
        settings = self.set_each("method.name=scaffold", "engine.state_memory=0")
        self.stop_after(3, "r", *settings)
        states = self.folder / "r" / "client-state"
        (states / "client-5-round-99.safetensors").write_text("of a killed process")
        self.succeeds("run", "tiny.toml", "--out", "r", *settings, "--resume")
        self.assertNotIn("client-5-round-99.safetensors", [p.name for p in states.iterdir()])

    def test_two_latest_checkpoints_and_the_best_are_kept(self):
        self.succeeds("run", "tiny.toml", "--out", "r", *EACH, "--set", "train.rounds=6")
        names = sorted(p.name for p in (self.folder / "r" / "checkpoints").iterdir())
        kept = [name for name in names if name.startswith("round-")]
        self.assertEqual(kept, ["round-000005.safetensors", "round-000006.safetensors"])
        rows = self.table("r", "rounds.csv")
        best = max(rows, key=lambda row: (float(row["val_accuracy"]), -int(row["round"])))
        self.assertIn(f"best-round-{int(best['round']):06}.safetensors", names)

    def test_the_best_model_is_that_of_the_best_round_on_d_val(self):
        self.succeeds("run", "tiny.toml", "--out", "r", "--set", "train.rounds=6",
                      "--set", "checkpoint.best=val_loss")
        rows = self.table("r", "rounds.csv")
        best = int(min(rows, key=lambda row: float(row["val_loss"]))["round"])
        self.succeeds("run", "tiny.toml", "--out", "short", "--set", f"train.rounds={best}")
        self.assertEqual((self.folder / "r" / "best.safetensors").read_bytes()[-100:],
                         (self.folder / "short" / "model.safetensors").read_bytes()[-100:])
        self.refused_in_words(2, ["checkpoint.best", "val_accuracy"], "run", "tiny.toml", "--out",
                              "x", "--set", "checkpoint.best=test_accuracy")

    def test_early_stopping(self):
        settings = ["--set", "train.rounds=400", "--set", "train.patience=3"]
        done = self.succeeds("run", "tiny.toml", "--out", "r", *settings)
        self.assertIn("stopped     early, after round ", done.stdout)
        rows = self.table("r", "rounds.csv")
        figures = [float(row["val_accuracy"]) for row in rows]
        best = figures.index(max(figures))
        self.assertEqual(len(figures), best + 1 + 3)
        done = self.succeeds("run", "tiny.toml", "--out", "r", "--resume", *settings)
        self.assertIn("already", done.stdout)
        # A stop in between changes nothing of it.
        self.succeeds("run", "tiny.toml", "--out", "parts", "--set", "train.rounds=2",
                      "--set", "train.patience=3")
        self.succeeds("run", "tiny.toml", "--out", "parts", "--resume", *settings)
        self.assert_equal_ends("parts", "r")

    def test_two_processes_do_not_work_in_one_folder(self):
        process = subprocess.Popen([PROGRAM, "run", "tiny.toml", "--out", "r",
                                    "--set", "train.rounds=100000"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if line.split()[:1] == ["1"]:
                break
        self.refused_in_words(4, ["another process", str(process.pid)], "run", "tiny.toml",
                              "--out", "r", "--resume", "--set", "train.rounds=100000")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.succeeds("run", "tiny.toml", "--out", "r", "--resume", *self.longer("r"))

    # U62 b; the long form is killing.py by hand.
    def test_killed_at_any_instant(self):
        self.assertEqual(killing.kills(20, seed=1, show=lambda *_, **__: None), [])


if __name__ == "__main__":
    unittest.main()
