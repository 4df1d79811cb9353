#!/usr/bin/env python3
"""Writes runs of fedvg as event files that TensorBoard shows.

    export_tensorboard.py RUN|SWEEP... --logdir DIR

A folder with rounds.csv is a run; of any other folder the runs directly in it are taken. Each
becomes DIR/NAME, NAME being the run folder's; what an earlier export put there is replaced.
Tags and columns: docs/export.md. Needs tensorboard (requirements.txt), not TensorFlow.
"""

import argparse
import csv
import datetime
import io
import json
import math
import os
import pathlib
import re
import sys
import time

try:
    import tomllib

    from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata
    from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
    from tensorboard.plugins.hparams.summary_v2 import hparams_pb
    from tensorboard.plugins.text.summary_v2 import text_pb
    from tensorboard.summary.writer.record_writer import RecordWriter
except ModuleNotFoundError as error:
    need = "needs Python 3.11 or newer" if error.name == "tomllib" else (
        f"{error}; pip install tensorboard, or use the Python that has it, .venv/bin/python")
    print(f"export_tensorboard.py: {need}", file=sys.stderr)
    sys.exit(2)

# Columns of numbers: anything else in them is damage. A column that is not named here holds
# numbers when all its cells are.
NUMBERS = {
    "rounds.csv": {
        "test_accuracy", "test_loss", "val_accuracy", "val_loss", "participants", "rejected",
        "weight_min", "weight_max", "weight_entropy", "bytes_down", "bytes_up", "seconds",
        "seconds_train", "seconds_score", "seconds_combine", "seconds_evaluate",
        "test_balanced_accuracy", "val_balanced_accuracy", "test_macro_f1", "val_macro_f1",
        "test_macro_auroc", "val_macro_auroc", "scored", "clients_evaluated",
        "clients_accuracy_mean", "clients_accuracy_weighted", "clients_accuracy_worst",
        "clients_accuracy_std"},
    "clients.csv": {
        "samples", "steps", "weight", "score", "norm", "loss_first", "loss_last",
        "seconds_train", "seconds_score", "corrupted", "accuracy_before", "accuracy_after"},
    "layers.csv": {"norm", "weight"},
    "classes.csv": {"samples", "recall"},
}
# What a line is about; these columns are no measurements.
KEYS = {
    "rounds.csv": ("round",),
    "clients.csv": ("round", "client"),
    "layers.csv": ("round", "client", "tensor", "block"),
    "classes.csv": ("round", "class"),
}
# test_accuracy is test/accuracy; a column of another kind is round/COLUMN.
SECTIONS = {"test": "test", "val": "val", "weight": "weights", "bytes": "bytes",
            "seconds": "seconds"}
BUCKETS = 30
OWN = ".fedvg"  # how event files of this script end


class Refused(Exception):
    """What is wrong with the input, for people."""


class Table:
    """A CSV file of a run folder: `columns` of measurements, and `rows` as dictionaries whose
    numbers are float, whose words are str, and which lack what was not measured."""

    def __init__(self, path, last_round=None):
        """Lines of rounds after `last_round`, which a run at work is about to finish, are
        left out."""
        self.path = path
        lines = read_csv(path)
        _, header = next(lines)
        self.check(header)
        keys = KEYS[path.name]
        self.columns = [name for name in header if name not in keys]
        self.rows = [row for row in (self.row(header, *line) for line in lines)
                     if last_round is None or row["round"] <= last_round]
        self.words = set()
        for name in set(self.columns) - NUMBERS[path.name]:
            self.settle(name)

    def check(self, header):
        for key in KEYS[self.path.name]:
            if key not in header:
                raise Refused(f"{self.path}:1: no column '{key}'")
        for name in header:
            if not name:
                raise Refused(f"{self.path}:1: a column without a name")
            if header.count(name) > 1:
                raise Refused(f"{self.path}:1: two columns '{name}'")

    def row(self, header, number, cells):
        """Cells of unknown columns remain text."""
        row = {}
        for name, cell in zip(header, cells):
            if name == "round":
                if not re.fullmatch("[1-9][0-9]{0,8}", cell):
                    raise Refused(f"{self.path}:{number}: round '{cell}'; a number from 1 was "
                                  "expected")
                row[name] = int(cell)
            elif name in KEYS[self.path.name]:
                row[name] = sys.intern(cell)
            elif cell:
                row[name] = cell
                if name in NUMBERS[self.path.name]:
                    row[name] = number_in(cell)
                    if row[name] is None:
                        raise Refused(f"{self.path}:{number}: {name} is '{cell}', not a number")
        return row

    def settle(self, name):
        """Whether an unknown column holds numbers or words."""
        numbers = [number_in(row[name]) for row in self.rows if name in row]
        if None in numbers:
            self.words.add(name)
            return
        for row, number in zip((row for row in self.rows if name in row), numbers):
            row[name] = number


def number_in(cell):
    """The number that a cell is, or nothing."""
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if cell == cell.strip() and "_" not in cell else None


def read_csv(path):
    """Yields (line number, cells): the header, then every line."""
    text = read_text(path)
    if text and not text.endswith("\n"):
        raise Refused(f"{path}:{text.count(chr(10)) + 1}: has no line end: the file is cut off, "
                      "or its run is just writing (then export again)")
    if not text:
        raise Refused(f"{path}:1: empty: no header")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    width = None
    begin = 1
    try:
        for cells in reader:
            width = width or len(cells)
            if len(cells) != width:
                raise Refused(f"{path}:{begin}: {len(cells)} cells, but the header has {width}")
            yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        raise Refused(f"{path}:{begin}: {error}") from None


def read_text(path):
    try:
        content = path.read_bytes()
        return content.decode()
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Refused(f"{path}:{line}: not UTF-8") from None


class Points:
    """What a run has measured, by round: what becomes the values of one event."""

    def __init__(self):
        self.by_round = {}
        self.tags = {}  # and how many points each has

    def add(self, round_, tag, **value):
        self.by_round.setdefault(round_, []).append(Summary.Value(tag=tag, **value))
        self.tags[tag] = self.tags.get(tag, 0) + 1

    def number(self, round_, tag, number, description=""):
        about = {"metadata": SummaryMetadata(
            summary_description=description,
            plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))} if description else {}
        self.add(round_, tag, simple_value=number, **about)

    def text(self, round_, tag, text):
        self.by_round.setdefault(round_, []).extend(text_pb(tag, text).value)
        self.tags[tag] = self.tags.get(tag, 0) + 1

    def spread(self, round_, tag, numbers):
        """A histogram of the numbers that are finite, if there are any."""
        finite = [number for number in numbers if math.isfinite(number)]
        if finite:
            self.add(round_, tag, histo=histogram(finite))


def histogram(numbers):
    """Equal buckets from the smallest to the largest number; one when they do not differ."""
    low, high = min(numbers), max(numbers)
    width = (high - low) / BUCKETS
    if not math.isfinite(width) or low + width <= low or high - width >= high:
        limits, counts = [high], [len(numbers)]
    else:
        limits = [low + width * (i + 1) for i in range(BUCKETS - 1)] + [high]
        counts = [0] * BUCKETS
        for number in numbers:
            counts[min(int((number - low) / width), BUCKETS - 1)] += 1
    return HistogramProto(min=low, max=high, num=len(numbers), sum=sum(numbers),
                          sum_squares=sum(number * number for number in numbers),
                          bucket_limit=limits, bucket=counts)


def tag_of(column):
    """Of a column of rounds.csv."""
    if column == "seconds":
        return "seconds/round"
    section, _, rest = column.partition("_")
    return f"{SECTIONS[section]}/{rest}" if section in SECTIONS and rest else f"round/{column}"


def add_rounds(points, table):
    for row in table.rows:
        for column in table.columns:
            if column not in row:
                continue
            if column in table.words:
                points.text(row["round"], tag_of(column), row[column])
            else:
                points.number(row["round"], tag_of(column), row[column])


def add_classes(points, table):
    for row in table.rows:
        name = row["class"]
        for column in table.columns:
            if column not in row or column == "samples":
                continue
            if column == "recall":
                samples = f"of {row['samples']:.0f} test samples" if "samples" in row else ""
                points.number(row["round"], f"recall/{name}", row[column], samples)
            elif column in table.words:
                points.text(row["round"], f"classes/{column}/{name}", row[column])
            else:
                points.number(row["round"], f"classes/{column}/{name}", row[column])


def add_clients(points, table, prefix, behind=None):
    """Histograms over the clients of a round, and how often each word occurs, 0 included.
    `behind`: the column whose words tell groups of lines apart (a tensor's)."""
    groups = {}
    for row in table.rows:
        groups.setdefault((row["round"], row[behind] if behind else ""), []).append(row)
    for column in table.columns:
        known = sorted({row[column] for row in table.rows if column in row}) \
            if column in table.words else []
        for (round_, group), rows in groups.items():
            measured = [row[column] for row in rows if column in row]
            end = f"/{group}" if group else ""
            if column not in table.words:
                points.spread(round_, f"{prefix}/{column}{end}", measured)
                continue
            for word in known:
                start = "status" if column == "status" else f"{prefix}/{column}"
                points.number(round_, f"{start}{end}/{word}", measured.count(word))


def read_run(folder):
    """Points of a run, its configuration as text and by key, and when its rounds ended."""
    rounds = Table(folder / "rounds.csv")
    for due, row in enumerate(rounds.rows, 1):
        if row["round"] != due:
            raise Refused(f"{rounds.path}:{due + 1}: round {row['round']} where {due} was due")
    config = read_text(folder / "config.toml")
    try:
        settings = dict(flat(tomllib.loads(config)))
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"{folder / 'config.toml'}: {error}") from None

    points = Points()
    last = len(rounds.rows)
    add_rounds(points, rounds)
    missing = []
    for name, add in (
            ("clients.csv", lambda table: add_clients(points, table, "clients")),
            ("layers.csv", lambda table: add_clients(points, table, "layers", "tensor")),
            ("classes.csv", lambda table: add_classes(points, table))):
        if (folder / name).exists():
            add(Table(folder / name, last))
        else:
            missing.append(name)
    return points, config, settings, times(folder, rounds), missing


def flat(settings, prefix=""):
    """(key, value) of each setting: "train.optimizer.lr"; lists as text."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            simple = isinstance(value, (bool, int, float, str))
            yield prefix + key, value if simple else json.dumps(value, default=str)


def times(folder, rounds):
    """When the run began, by log.txt, and when each round ended: the seconds of the rounds so
    far later, so that the time in which a stopped run waited does not count."""
    seconds = [0.0]
    for row in rounds.rows:
        took = row.get("seconds", 0.0)
        seconds.append(seconds[-1] + (took if math.isfinite(took) else 0.0))
    try:
        with open(folder / "log.txt", encoding="utf-8") as log:
            begin = datetime.datetime.fromisoformat(log.readline().split(" ")[0]).timestamp()
    except (OSError, ValueError):
        begin = rounds.path.stat().st_mtime - seconds[-1]
    return [begin + passed for passed in seconds]


def write_events(target, name, points, config, settings, when):
    """One event file, in the order of the rounds: TensorBoard takes a step back for a restart
    and drops what came before. Events of an earlier export go once the new ones are there."""
    target.mkdir(parents=True, exist_ok=True)
    old = sorted(path for path in target.iterdir() if "tfevents" in path.name)
    for path in old:
        if not path.name.endswith(OWN):
            raise Refused(f"{path}: not written by this script, which would add to it; name "
                          "another --logdir")
    new = target / f"events.out.tfevents.{time.time_ns()}{OWN}"
    part = target / f"{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            writer = RecordWriter(file)

            def put(**content):
                writer.write(Event(**content).SerializeToString())

            put(wall_time=when[0], file_version="brain.Event:2",
                source_metadata=SourceMetadata(writer="fedvg"))
            put(wall_time=when[0], step=0,
                summary=text_pb("config", f"```toml\n{config}\n```"))
            put(wall_time=when[0], step=0,
                summary=hparams_pb(settings, trial_id=name, start_time_secs=when[0]))
            for round_ in sorted(points.by_round):
                put(wall_time=when[round_], step=round_,
                    summary=Summary(value=points.by_round[round_]))
        part.rename(new)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    for path in old:
        path.unlink(missing_ok=True)


def export(folder, logdir):
    """Exports a run; what was written, in a line."""
    name = run_name(folder)
    target = logdir / name
    if target.resolve() == folder.resolve():
        raise Refused(f"{target}: is the run itself; name another --logdir")
    points, config, settings, when, missing = read_run(folder)
    try:
        write_events(target, name, points, config, settings, when)
    except OSError as error:
        raise Refused(f"{target}: cannot be written: {error.strerror}") from None
    without = f", without {', '.join(missing)}" if missing else ""
    return (f"{target}: {len(when) - 1} rounds, {len(points.tags)} tags, "
            f"{sum(points.tags.values())} points{without}")


def run_name(folder):
    return folder.resolve().name


def is_run(folder):
    return (folder / "rounds.csv").is_file()


def runs_in(folder):
    """The folder, when it is a run, else the runs in it."""
    if not folder.is_dir():
        raise Refused(f"{folder}: " + ("not a folder" if folder.exists() else "no such folder"))
    if is_run(folder):
        return [folder]
    try:
        runs = sorted(path for path in folder.iterdir() if is_run(path))
    except OSError as error:
        raise Refused(f"{folder}: {error.strerror}") from None
    if not runs:
        raise Refused(f"{folder}: not a run folder: neither it nor a folder in it has rounds.csv")
    return runs


def all_runs(folders):
    """Each run once; two of one name are refused."""
    found = {}
    for folder in folders:
        for run in runs_in(folder):
            other = found.setdefault(run_name(run), run)
            if other.resolve() != run.resolve():
                raise Refused(f"{other} and {run} have one name and would become one in "
                              "TensorBoard; export them one after the other, each with a "
                              "--logdir of its own: DIR/a and DIR/b, shown by --logdir DIR")
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(
        description="Runs of fedvg as event files for TensorBoard",
        epilog="example: export_tensorboard.py runs --logdir events, then "
               "tensorboard --logdir events")
    parser.add_argument("folders", type=pathlib.Path, nargs="+", metavar="RUN|SWEEP",
                        help="a run folder, or a folder of run folders")
    parser.add_argument("--logdir", type=pathlib.Path, required=True, metavar="DIR",
                        help="each run becomes a folder in it; an earlier export is replaced")
    arguments = parser.parse_args()

    def say(error):
        print(f"export_tensorboard.py: {error}", file=sys.stderr)

    try:
        runs = all_runs(arguments.folders)
    except Refused as error:
        say(error)
        return 3
    code = 0
    for run in runs:
        try:
            print(export(run, arguments.logdir))
        except Refused as error:  # the other runs are exported all the same
            say(error)
            code = 3
    return code


if __name__ == "__main__":
    sys.exit(main())
