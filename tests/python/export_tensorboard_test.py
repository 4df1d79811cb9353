"""python/export_tensorboard.py writes what a run folder holds, as tensorboard itself reads it
back, once; and the programs that docs/export.md shows log the same numbers."""

import csv
import importlib.util
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from examples.example import ExampleTest, fenced_blocks

THERE = importlib.util.find_spec("tensorboard") is not None
if THERE:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
needs_tensorboard = unittest.skipUnless(
    THERE, "tensorboard is not installed: pip install -r requirements.txt")

SOURCE = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"])
SCRIPT = SOURCE / "python" / "export_tensorboard.py"

# What the script has never heard of: `later` and `mood`.
ROUNDS = """\
round,test_accuracy,val_loss,participants,weight_min,weight_max,bytes_up,seconds,seconds_train,scored,later,mood
1,0.1,,3,0.2,0.5,188604808,2.5,1.5,12,7,calm
2,,,3,,,188604808,1,0.5,,,
3,0.30000000000000004,nan,2,0.25,0.75,125736539,4,3,1e-08,-8.5,wild
"""
CLIENTS = """\
round,client,samples,weight,score,norm,status,later,mood
1,0,10,0.2,2,0.5,ok,1,calm
1,4,30,0.5,4,0.25,ok,2,calm
1,2,20,0.3,nan,inf,not-finite,3,wild
2,0,10,0,,,no-steps,,
2,1,10,0,,,no-steps,,
2,3,10,0,,,no-steps,,
3,1,10,0.25,1,1,ok,4,wild
3,3,10,0.75,1,1,ok,5,wild
"""
LAYERS = """\
round,client,tensor,block,norm,weight,later
1,0,conv1.weight,conv1,0.5,0.25,1
1,0,conv1.bias,conv1,2,0.25,1
1,4,conv1.weight,conv1,1.5,0.75,1
1,4,conv1.bias,conv1,,0.75,1
"""
CLASSES = """\
round,class,samples,recall,later
1,T-shirt/top,10,0.5,1
1,"cat, tabby",0,,2
3,T-shirt/top,10,0.7,3
3,"cat, tabby",0,,4
"""
CONFIG = """\
seed = 3
[train]
rounds = 3
shuffle = true
optimizer = {name = "sgd", lr = 0.01}
[model]
hidden = [8, 4]
"""
LOG = """\
2026-01-02T03:04:05.500+00:00 info    data        idx
2026-01-02T09:00:00.000+00:00 info    data        resumed
"""
BEGIN = 1767323045.5


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


class Folder:
    """What every test here needs of a folder `self.folder`."""

    def run_script(self, script, *arguments, options=(), **environment):
        return subprocess.run([sys.executable, *options, script, *map(str, arguments)],
                              cwd=self.folder, env=dict(os.environ, **environment), text=True,
                              capture_output=True)

    def exported(self, *arguments):
        done = self.run_script(SCRIPT, *arguments, "--logdir", "events")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def events(self, name, logdir="events"):
        """A run as tensorboard reads it, all points of it."""
        events = EventAccumulator(str(self.folder / logdir / name),
                                  size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
        return events.Reload()

    def scalars(self, events, tag):
        return [(event.step, event.value) for event in events.Scalars(tag)]

    def assert_scalars(self, events, tag, expected):
        """`expected`: (round, number) as the file has it."""
        found = self.scalars(events, tag)
        self.assertEqual([step for step, _ in found], [step for step, _ in expected], tag)
        for (_, value), (_, number) in zip(found, expected):
            wanted = float32(number)
            self.assertTrue(value == wanted or math.isnan(value) and math.isnan(wanted),
                            f"{tag}: {value} for {number}")

    def assert_histogram(self, events, tag, expected):
        """`expected`: round to its numbers."""
        found = {event.step: event.histogram_value for event in events.Histograms(tag)}
        self.assertEqual(set(found), set(expected), tag)
        for step, numbers in expected.items():
            it = found[step]
            self.assertEqual((it.min, it.max, it.num), (min(numbers), max(numbers), len(numbers)),
                             tag)
            self.assertAlmostEqual(it.sum, math.fsum(numbers), delta=1e-12 * abs(it.sum))
            squares = math.fsum(number ** 2 for number in numbers)
            self.assertAlmostEqual(it.sum_squares, squares, delta=1e-12 * squares)
            edges = [-math.inf, *it.bucket_limit]
            self.assertEqual(edges, sorted(edges))
            self.assertEqual(len(it.bucket), len(it.bucket_limit))
            for low, high, count in zip(edges, edges[1:], it.bucket):
                inside = sum(low < number < high for number in numbers)
                near = sum(low <= number <= high for number in numbers)
                self.assertTrue(inside <= count <= near, f"{tag}: {count} in {low} … {high}")
            self.assertEqual(sum(it.bucket), len(numbers))


@needs_tensorboard
class WrittenByHand(Folder, unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write_run("run")

    def write_run(self, name):
        run = self.folder / name
        run.mkdir(parents=True)
        for file, text in (("rounds.csv", ROUNDS), ("clients.csv", CLIENTS),
                           ("layers.csv", LAYERS), ("classes.csv", CLASSES),
                           ("config.toml", CONFIG), ("log.txt", LOG)):
            (run / file).write_text(text)
        return run

    def change(self, file, old, new):
        path = self.folder / "run" / file
        self.assertIn(old, path.read_text())
        path.write_text(path.read_text().replace(old, new, 1))

    def assert_refused(self, *words, runs=("run",), code=3):
        done = self.run_script(SCRIPT, *runs, "--logdir", "events")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in ("export_tensorboard.py: ", *words):
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        if (self.folder / "events").exists():
            self.assertEqual([str(path) for path in (self.folder / "events").rglob("*.part")], [])
        return done.stderr

    def test_rounds(self):
        out = self.exported("run")
        events = self.events("run")
        for tag, expected in (
                ("test/accuracy", [(1, 0.1), (3, 0.30000000000000004)]),
                ("val/loss", [(3, math.nan)]),
                ("round/participants", [(1, 3), (2, 3), (3, 2)]),
                ("weights/min", [(1, 0.2), (3, 0.25)]),
                ("weights/max", [(1, 0.5), (3, 0.75)]),
                ("bytes/up", [(1, 188604808), (2, 188604808), (3, 125736539)]),
                ("seconds/round", [(1, 2.5), (2, 1), (3, 4)]),
                ("seconds/train", [(1, 1.5), (2, 0.5), (3, 3)]),
                ("round/scored", [(1, 12), (3, 1e-08)]),
                ("round/later", [(1, 7), (3, -8.5)])):
            self.assert_scalars(events, tag, expected)
        self.assertEqual(self.texts(events, "round/mood"), [(1, "calm"), (3, "wild")])
        self.assertIn("run: 3 rounds, ", out)

    def texts(self, events, tag):
        return [(event.step, event.tensor_proto.string_val[0].decode())
                for event in events.Tensors(tag)]

    def test_clients(self):
        self.exported("run")
        events = self.events("run")
        for tag, expected in (
                ("clients/weight", {1: [0.2, 0.5, 0.3], 2: [0, 0, 0], 3: [0.25, 0.75]}),
                ("clients/score", {1: [2, 4], 3: [1, 1]}),
                ("clients/norm", {1: [0.5, 0.25], 3: [1, 1]}),
                ("clients/samples", {1: [10, 30, 20], 2: [10] * 3, 3: [10] * 2}),
                ("clients/later", {1: [1, 2, 3], 3: [4, 5]})):
            self.assert_histogram(events, tag, expected)
        for tag, counts in (("status/ok", [2, 0, 2]), ("status/not-finite", [1, 0, 0]),
                            ("status/no-steps", [0, 3, 0]), ("clients/mood/calm", [2, 0, 0]),
                            ("clients/mood/wild", [1, 0, 2])):
            self.assert_scalars(events, tag, list(enumerate(counts, 1)))

    def test_layers(self):
        self.exported("run")
        events = self.events("run")
        for tag, numbers in (
                ("layers/norm/conv1.weight", [0.5, 1.5]), ("layers/norm/conv1.bias", [2]),
                ("layers/weight/conv1.weight", [0.25, 0.75]),
                ("layers/weight/conv1.bias", [0.25, 0.75]),
                ("layers/later/conv1.bias", [1, 1])):
            self.assert_histogram(events, tag, {1: numbers})

    def test_classes(self):
        self.exported("run")
        events = self.events("run")
        self.assert_scalars(events, "recall/T-shirt/top", [(1, 0.5), (3, 0.7)])
        self.assert_scalars(events, "classes/later/cat, tabby", [(1, 2), (3, 4)])
        self.assertEqual([tag for tag in events.Tags()["scalars"] if tag.startswith("recall/")],
                         ["recall/T-shirt/top"])  # nothing was measured of the other
        self.assertEqual(events.SummaryMetadata("recall/T-shirt/top").summary_description,
                         "of 10 test samples")

    def test_configuration(self):
        self.exported("run")
        events = self.events("run")
        ((step, text),) = self.texts(events, "config")
        self.assertEqual((step, text), (0, f"```toml\n{CONFIG}\n```"))
        content = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
        session = HParamsPluginData.FromString(content).session_start_info
        settings = {key: getattr(value, value.WhichOneof("kind"))
                    for key, value in session.hparams.items()}
        self.assertEqual(settings, {
            "seed": 3, "train.rounds": 3, "train.shuffle": True, "train.optimizer.name": "sgd",
            "train.optimizer.lr": 0.01, "model.hidden": "[8, 4]"})
        self.assertEqual((session.group_name, session.start_time_secs), ("run", BEGIN))

    def test_times(self):
        self.exported("run")
        times = [event.wall_time for event in self.events("run").Scalars("seconds/round")]
        self.assertEqual(times, [BEGIN + 2.5, BEGIN + 3.5, BEGIN + 7.5])

    def test_times_without_a_log(self):
        (self.folder / "run/log.txt").unlink()
        os.utime(self.folder / "run/rounds.csv", (1000, 1000))
        self.exported("run")
        times = [event.wall_time for event in self.events("run").Scalars("seconds/round")]
        self.assertEqual(times, [995, 996, 1000])

    def test_tables_that_are_missing(self):
        (self.folder / "run/layers.csv").unlink()
        (self.folder / "run/classes.csv").unlink()
        self.assertIn("without layers.csv, classes.csv\n", self.exported("run"))
        tags = self.events("run").Tags()
        self.assertFalse([tag for tag in tags["histograms"] if tag.startswith("layers/")])
        self.assertFalse([tag for tag in tags["scalars"] if tag.startswith("recall/")])

    def test_export_again(self):
        self.exported("run")
        self.assert_scalars(self.events("run"), "seconds/round", [(1, 2.5), (2, 1), (3, 4)])
        with open(self.folder / "run/rounds.csv", "a") as file:
            file.write("4,0.5,,2,0.5,0.5,9,8,1,,,\n")
        self.exported("run")
        self.assert_scalars(self.events("run"), "seconds/round",
                            [(1, 2.5), (2, 1), (3, 4), (4, 8)])
        self.assertEqual(len(list((self.folder / "events/run").iterdir())), 1)

    def test_round_that_is_just_being_written(self):
        with open(self.folder / "run/clients.csv", "a") as file:
            file.write("4,1,10,1,1,1,dead,1,calm\n")
        with open(self.folder / "run/classes.csv", "a") as file:
            file.write("4,T-shirt/top,10,1,1\n")
        self.exported("run")
        events = self.events("run")
        self.assertEqual({event.step for event in events.Histograms("clients/samples")},
                         {1, 2, 3})
        self.assertNotIn("status/dead", events.Tags()["scalars"])
        self.assert_scalars(events, "recall/T-shirt/top", [(1, 0.5), (3, 0.7)])

    def test_run_before_its_first_round(self):
        for name in ("rounds", "clients", "layers", "classes"):
            path = self.folder / f"run/{name}.csv"
            path.write_text(path.read_text().splitlines()[0] + "\n")
        self.assertIn("run: 0 rounds, 0 tags, 0 points\n", self.exported("run"))
        self.assertEqual(self.events("run").Tags()["scalars"], [])

    def test_sweep(self):
        for name in ("alpha=0.1,seed=1", "alpha=0.1,seed=2"):
            self.write_run(f"sweep/{name}")
        (self.folder / "sweep/not a run").mkdir()
        (self.folder / "sweep/notes.txt").touch()
        (self.folder / "sweep/alpha=0.1,seed=2/rounds.csv").write_text(
            ROUNDS.replace("1,0.1,", "1,0.9,"))
        out = self.exported("sweep", "run")
        self.assertEqual(len(out.splitlines()), 3)
        for name, accuracy in (("alpha=0.1,seed=1", 0.1), ("alpha=0.1,seed=2", 0.9),
                               ("run", 0.1)):
            self.assert_scalars(self.events(name), "test/accuracy", [(1, accuracy), (3, 0.3)])
        self.assertEqual(len(list((self.folder / "events").iterdir())), 3)

    def test_a_damaged_run_does_not_stop_the_others(self):
        self.write_run("sweep/a")
        (self.write_run("sweep/b") / "rounds.csv").write_text("")
        self.write_run("sweep/c")
        done = self.run_script(SCRIPT, "sweep", "--logdir", "events")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "export_tensorboard.py: sweep/b/rounds.csv:1: empty: "
                         "no header\n")
        self.assertEqual(sorted(path.name for path in (self.folder / "events").iterdir()),
                         ["a", "c"])

    def test_runs_of_one_name_are_refused(self):
        self.write_run("a/run")
        self.assert_refused("run and a/run have one name", "--logdir", runs=("run", "a"))
        self.assertFalse((self.folder / "events").exists())
        self.exported("run", self.folder / "run")  # one run, said twice

    def test_folders_that_are_no_runs(self):
        (self.folder / "empty").mkdir()
        self.assert_refused("none: no such folder", runs=("none",))
        self.assert_refused("empty: not a run folder", "rounds.csv", runs=("empty",))
        self.assert_refused("run/rounds.csv: not a folder", runs=("run/rounds.csv",))
        (self.folder / "run/config.toml").unlink()
        self.assert_refused("run/config.toml: No such file")

    def test_damaged_tables(self):
        for file, old, new, *words in (
                ("rounds.csv", "0.5,188604808", "0.5", ":2: 11 cells, but the header has 12"),
                ("rounds.csv", "1,0.1,", "1,O.1,", ":2: test_accuracy is 'O.1', not a number"),
                ("rounds.csv", "1,0.1,", "1, 0.1,", ":2: test_accuracy is ' 0.1'"),
                ("rounds.csv", "\n2,", "\n3,", ":3: round 3 where 2 was due"),
                ("rounds.csv", "\n2,", "\n0,", ":3: round '0'"),
                ("rounds.csv", ",wild\n", ",wild", ":4: has no line end", "cut off"),
                ("rounds.csv", "later", "", ":1: a column without a name"),
                ("rounds.csv", "round,", "turn,", ":1: no column 'round'"),
                ("rounds.csv", "weight_min", "weight_max", ":1: two columns 'weight_max'"),
                ("clients.csv", "\n2,1,10,0,", "\n2,1,10,zero,", ":6: weight is 'zero'"),
                ("clients.csv", "\n2,1,", "\ntwo,1,", ":6: round 'two'"),
                ("layers.csv", "tensor,", "array,", ":1: no column 'tensor'"),
                ("layers.csv", "1.5,0.75", "1.5,0_75", ":4: weight is '0_75'"),
                ("classes.csv", 'tabby",0,,4', "tabby,0,,4", ":5: "),
                ("config.toml", "seed = 3", "seed == 3", "line 1")):
            with self.subTest(file, new=new):
                path = self.folder / "run" / file
                whole = path.read_text()
                self.change(file, old, new)
                self.assert_refused(f"run/{file}", *words)
                path.write_text(whole)
        (self.folder / "run/classes.csv").write_bytes(CLASSES.encode() + b"3,\xff,1,1,1\n")
        self.assert_refused("run/classes.csv:6: not UTF-8")
        self.assertFalse((self.folder / "events").exists())

    def test_measurements_on_the_clients_own_data_are_numbers(self):
        for file, columns in (
                ("rounds.csv", ("clients_evaluated", "clients_accuracy_mean",
                                "clients_accuracy_weighted", "clients_accuracy_worst",
                                "clients_accuracy_std")),
                ("clients.csv", ("accuracy_before", "accuracy_after"))):
            path = self.folder / "run" / file
            whole = path.read_text()
            for column in columns:
                with self.subTest(column):
                    lines = [line + ",0.5" for line in whole.splitlines()]
                    lines[0] = lines[0].removesuffix("0.5") + column
                    lines[2] = lines[2].removesuffix("0.5") + "O.5"
                    path.write_text("\n".join(lines) + "\n")
                    self.assert_refused(f"{file}:3: {column} is 'O.5', not a number")
            path.write_text(whole)

    def test_an_error_leaves_the_earlier_export(self):
        self.exported("run")
        self.change("rounds.csv", "1,0.1,", "1,x,")
        self.assert_refused("rounds.csv:2")
        self.assert_scalars(self.events("run"), "test/accuracy", [(1, 0.1), (3, 0.3)])

    def test_events_of_others_are_left_alone(self):
        other = self.folder / "events/run/events.out.tfevents.1.host"
        other.parent.mkdir(parents=True)
        other.write_bytes(b"theirs")
        self.assert_refused("events.out.tfevents.1.host", "--logdir")
        self.assertEqual([path.name for path in other.parent.iterdir()], [other.name])
        self.assertEqual(other.read_bytes(), b"theirs")

    def test_logdir_that_holds_the_runs(self):
        self.write_run("runs/a")
        before = sorted(path.name for path in (self.folder / "runs/a").iterdir())
        done = self.run_script(SCRIPT, "runs", "--logdir", "runs")
        self.assertEqual(done.returncode, 3)
        self.assertIn("is the run itself; name another --logdir", done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "runs/a").iterdir()), before)

    def test_logdir_that_is_a_file(self):
        (self.folder / "events").touch()
        self.assert_refused("events/run: cannot be written: Not a directory")

    def test_wrong_calls(self):
        for arguments in ((), ("run",), ("--logdir", "events")):
            done = self.run_script(SCRIPT, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: ", done.stderr)

    def test_without_tensorboard(self):
        done = self.run_script(SCRIPT, "run", "--logdir", "events", options=["-S"], PYTHONPATH="")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("pip install tensorboard", done.stderr)

    def test_numbers_that_buckets_cannot_part(self):
        numbers = {1: [0.1, math.nextafter(0.1, 1), 0.1], 2: [-1e308, 1e308, 0],
                   3: [5e-324, 1e-323]}
        lines = "".join(f"{round_},{i},{number!r}\n" for round_, of in numbers.items()
                        for i, number in enumerate(of))
        (self.folder / "run/clients.csv").write_text("round,client,later\n" + lines)
        self.exported("run")
        for event in self.events("run").Histograms("clients/later"):
            it = event.histogram_value
            self.assertEqual((it.min, it.max), (min(numbers[event.step]), max(numbers[event.step])))
            self.assertEqual(it.bucket, [len(numbers[event.step])])


@needs_tensorboard
class WrittenByTheProgram(Folder, ExampleTest):
    """Runs of the program, so that columns and files are those of today."""

    def setUp(self):
        super().setUp()
        for run, method in (("one", "fedvg"), ("two", "fedavg")):
            self.run_in_folder("fedvg", "run", "examples/fashion_mnist_fedvg.toml", "--out",
                               f"runs/{run}", "--set", f"method={{name='{method}'}}",
                               "--set", "report.layers_every=1", "--set", "evaluate.every=2")

    def table(self, run, name):
        with open(self.folder / "runs" / run / name, newline="") as file:
            return list(csv.DictReader(file))

    def measured(self, rows, column):
        return [(int(row["round"]), float(row[column])) for row in rows if row[column]]

    def grouped(self, rows, column):
        """Round to the finite numbers of its lines."""
        groups = {}
        for round_, number in self.measured(rows, column):
            if math.isfinite(number):
                groups.setdefault(round_, []).append(number)
        return groups

    def test_every_number_of_every_table(self):
        self.exported("runs")
        for run in ("one", "two"):
            events = self.events(run)
            tags = events.Tags()
            scalars, histograms = set(tags["scalars"]), set(tags["histograms"])

            rounds = self.table(run, "rounds.csv")
            self.assertEqual([row["round"] for row in rounds], ["1", "2"])
            self.assertEqual(rounds[0]["test_accuracy"], "")  # evaluate.every = 2
            of_sections = ("test", "val", "bytes", "seconds")
            for column in set(rounds[0]) - {"round"}:
                section, _, rest = column.partition("_")
                tag = "seconds/round" if column == "seconds" else (
                    f"{section}/{rest}" if section in of_sections else
                    f"weights/{rest}" if section == "weight" else f"round/{column}")
                expected = self.measured(rounds, column)
                if expected:
                    self.assert_scalars(events, tag, expected)
                self.assertEqual(tag in scalars, bool(expected), tag)
                scalars.discard(tag)

            clients = self.table(run, "clients.csv")
            for column in set(clients[0]) - {"round", "client", "status"}:
                expected = self.grouped(clients, column)
                if expected:
                    self.assert_histogram(events, f"clients/{column}", expected)
                self.assertEqual(f"clients/{column}" in histograms, bool(expected), column)
                histograms.discard(f"clients/{column}")
            self.assert_scalars(events, "status/ok", [
                (round_, sum(row["round"] == str(round_) and row["status"] == "ok"
                             for row in clients)) for round_ in (1, 2)])
            scalars.discard("status/ok")

            layers = self.table(run, "layers.csv")
            for tensor in {row["tensor"] for row in layers}:
                of_it = [row for row in layers if row["tensor"] == tensor]
                for column in set(layers[0]) - {"round", "client", "tensor", "block"}:
                    expected = self.grouped(of_it, column)
                    if expected:
                        self.assert_histogram(events, f"layers/{column}/{tensor}", expected)
                    histograms.discard(f"layers/{column}/{tensor}")

            classes = self.table(run, "classes.csv")
            self.assertEqual({row["round"] for row in classes}, {"2"})
            for name in {row["class"] for row in classes}:
                self.assert_scalars(events, f"recall/{name}", self.measured(
                    [row for row in classes if row["class"] == name], "recall"))
                scalars.discard(f"recall/{name}")

            self.assertEqual((scalars, histograms), (set(), set()))  # nothing that no file has

        # The above compares something: FedVG measures norms, FedAvg does not.
        one, two = (set(self.events(run).Tags()["histograms"]) for run in ("one", "two"))
        self.assertTrue({"clients/weight", "clients/score", "clients/norm"} <= one)
        self.assertIn("clients/weight", two)
        self.assertNotIn("clients/norm", two)
        self.assertTrue([tag for tag in one if tag.startswith("layers/norm/")])

    def test_every_column_is_known(self):
        spec = importlib.util.spec_from_file_location("export_tensorboard", SCRIPT)
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        for name, known in script.NUMBERS.items():
            columns = set(self.table("one", name)[0]) - set(script.KEYS[name]) - {"status"}
            self.assertEqual(columns, known, name)

    def test_programs_of_the_document(self):
        """They run with a stand-in for each package that writes down what it is told."""
        programs = {info.removeprefix("python "): text
                    for info, text in fenced_blocks(SOURCE / "docs/export.md")
                    if info.startswith("python ")}
        self.assertEqual(set(programs), {"log_mlflow.py", "log_wandb.py", "read_rounds.py"})
        for name, text in programs.items():
            (self.folder / name).write_text(text)
        stand_in = """\
import contextlib
class Run:
    def log(self, numbers, step): print(step, sorted(numbers.items()))
log_metrics = Run().log
log_param = log_params = set_experiment = lambda *settings: None
@contextlib.contextmanager
def start(**about):
    print("begin", about.get("name", about.get("run_name")))
    yield Run()
init = start_run = start
"""
        expected = ""
        for run in ("one", "two"):
            expected += f"begin {run}\n"
            for row in self.table(run, "rounds.csv"):
                step = row.pop("round")
                numbers = sorted((name, float(cell)) for name, cell in row.items() if cell)
                expected += f"{step} {numbers}\n"
        (self.folder / "stand_in").mkdir()
        for name in ("mlflow", "wandb"):
            (self.folder / f"stand_in/{name}.py").write_text(stand_in)
            done = self.run_script(f"log_{name}.py", "runs/one", "runs/two",
                                   PYTHONPATH=str(self.folder / "stand_in"))
            self.assertEqual(done.stdout, expected, done.stderr)
        done = self.run_script("read_rounds.py", "runs/one")
        self.assertEqual(done.stdout, "1 not measured\n2 "
                         f"{self.table('one', 'rounds.csv')[1]['test_accuracy']}\n", done.stderr)

        (_, commands), *_ = fenced_blocks(SOURCE / "docs/export.md")
        export = re.search(r"^\.venv/bin/python python/export_tensorboard\.py (.*)$", commands,
                           re.M)
        done = self.run_script(SCRIPT, *export[1].split())
        self.assertEqual(done.returncode, 0, done.stderr)
        logdir = re.search(r"^\.venv/bin/tensorboard --logdir (\w+)$", commands, re.M)[1]
        self.assertIn("test/accuracy", self.events("one", logdir).Tags()["scalars"])


if __name__ == "__main__":
    unittest.main()
