"""Kills runs at random instants, resumes them, and compares their ends with an unbroken run.

    python tests/apps/killing.py KILLS [--seed N]

FEDVG_PROGRAM is the program. Small runs of 60 rounds, a checkpoint after each, with SCAFFOLD's
client states on disk, FedVG's weights, server momentum and BatchNorm. Each run is killed with
signal 9 again and again, after times drawn at random, and resumed until it ends; then its models
and all its tables, without their columns of seconds, must be those of the unbroken run. Prints
one line a run.
"""

import argparse
import csv
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import tiny_set

PROGRAM = os.environ["FEDVG_PROGRAM"]

CONFIGURATION = """\
seed = 5
[data]
name = "idx"
path = "set"
resize = 16
[partition]
clients = 12
min_samples = 5
[model]
name = "cnn"
norm = "batch"
[train]
rounds = 60
participation = 0.5
epochs = 1
optimizer = {lr = 0.05}
[method]
name = "scaffold+fedvg"
server = {momentum = 0.9}
[engine]
workers = 3
state_memory = 0
[checkpoint]
every = 1
[report]
layers_every = 5
"""

TABLES = ("rounds.csv", "clients.csv", "layers.csv", "classes.csv", "confusion.csv")


def table(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    kept = [i for i, name in enumerate(rows[0]) if not name.startswith("seconds")]
    return [[row[i] for i in kept] for row in rows]


def end_of(run):
    """All that must be equal."""
    tables = {name: table(run / name) for name in TABLES}
    return {"model": (run / "model.safetensors").read_bytes(),
            "best": (run / "best.safetensors").read_bytes(), **tables}


def start(folder, run):
    return subprocess.Popen([PROGRAM, "run", "kill.toml", "--out", run, "--resume"], cwd=folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    _, messages = process.communicate(timeout=600)
    if process.returncode != 0:
        raise AssertionError(f"exit code {process.returncode}: {messages}")


def kills(count, seed, show=print):
    """Kills `count` times in all; returns the names of runs whose end differs."""
    draw = random.Random(seed)
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tiny_set.write(folder / "set")
        (folder / "kill.toml").write_text(CONFIGURATION)
        begin = time.monotonic()
        finish(start(folder, "unbroken"))
        whole = time.monotonic() - begin
        wanted = end_of(folder / "unbroken")
        done = number = 0
        while done < count:
            number += 1
            run = f"run-{number}"
            here = 0
            while done < count:
                process = start(folder, run)
                try:
                    process.wait(timeout=draw.uniform(0, 0.4 * whole))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.communicate()
                    done += 1
                    here += 1
                    continue
                finish(process)
                break
            finish(start(folder, run))
            end = end_of(folder / run)
            differing = [what for what in wanted if end[what] != wanted[what]]
            left = [path.name for path in (folder / run).rglob("*.part")]
            show(f"{run}: {here} kills, " + (f"differs in {differing}" if differing else "equal")
                 + (f", left behind: {left}" if left else ""), flush=True)
            if differing or left:
                wrong.append(run)
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    sys.exit(1 if kills(arguments.kills, arguments.seed) else 0)
