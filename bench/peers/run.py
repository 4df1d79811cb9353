#!/usr/bin/env python3
"""Runs fedvg and other simulators on the same job, one after another, and compares them.

    run.py --out DIR [--case main|small-clients|resnet18] [--systems fedvg,flower,...] ...
    run.py --out DIR --table

Each result is appended to DIR/results.jsonl as it comes; the table of all of them is printed at the
end. README.md says what is compared. Needs numpy; the systems need what requirements.txt names.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

import fedvg_program
import process_tree
import results_table
import systems
from job import (Job, JobError, draw_cohorts, draw_dirichlet, read_cohorts, read_idx,
                 read_partition, spread_evenly)

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCHS = {"main": 5, "small-clients": 1}
CLIENTS, IMAGES = 1000, 6  # of small-clients
BUDGET = 0.2
BENCH_ROUNDS = 3  # of fedvg bench
# What glibc reads at start: large buffers are kept instead of given back after each operation.
TUNED_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="systems: " + ", ".join(system.name for system in systems.SYSTEMS))
    add = parser.add_argument
    add("--out", required=True, type=pathlib.Path, metavar="DIR",
        help="folder for results, logs and what is drawn")
    add("--table", action="store_true", help="only print the table of what is there")
    add("--case", default="main", choices=["main", "small-clients", "resnet18"],
        help="default main")
    add("--systems", metavar="NAMES", help="names or families (hand, blazefl) by comma, default all "
                                           "that are installed")
    add("--methods", default="fedavg", metavar="NAMES",
        help="fedavg, fedvg or both by comma, default fedavg")
    add("--workers", default="1,2", metavar="COUNTS",
        help="processes or threads, as a system has it, default 1,2")
    add("--rounds", type=int, default=4, metavar="N", help="default 4")
    add("--epochs", type=int, metavar="N", help="local epochs, default 5, small-clients 1")
    add("--repeats", type=int, default=1, metavar="N",
        help="how often the whole list is run, default 1; the table has medians")
    add("--data", default="/usr/share/datasets/fashion-mnist", metavar="DIR",
        help="Fashion-MNIST's *-ubyte.gz files, default Debian's")
    add("--partition", metavar="FILE",
        help="JSON as fedvg reads it, default Dirichlet(0.1) over 100 clients, drawn into --out")
    add("--cohorts", metavar="FILE",
        help="JSON as fedvg reads it, default 10 clients a round, drawn into --out")
    add("--fedvg", default=str(ROOT / "build/release/bin/fedvg"), metavar="PROGRAM",
        help="default build/release/bin/fedvg of the checkout")
    add("--python", action="append", default=[], metavar="FAMILY=PATH",
        help="the interpreter of a system that has its own environment, else this one; may be "
             "repeated")
    add("--malloc", default="default", choices=["default", "tuned"],
        help="of the other systems: glibc's, or told to keep large buffers; fedvg sets its own")
    add("--core", type=int, metavar="N", help="pins runs with one worker to this core")
    add("--timeout", type=float, default=3600, metavar="SECONDS",
        help="that a run may take, default 3600")
    return parser.parse_args(arguments)


def files_of(options):
    """The job of a case but for its method; what no file gives is drawn into the out folder."""
    partition, cohorts = options.partition, options.cohorts
    if options.case == "small-clients":
        if partition or cohorts:
            raise JobError("--partition and --cohorts are not for small-clients, which has its own")
        partition = _kept(options.out / "small_partition.json",
                          lambda: spread_evenly(CLIENTS, IMAGES))
        cohorts = _kept(options.out / "small_cohorts.json", lambda: [list(range(CLIENTS))])
    partition = partition or _kept(options.out / "partition.json", lambda: draw_dirichlet(
        read_idx(options.data, "train", "labels")))
    clients = len(read_partition(partition)["clients"])
    cohorts = cohorts or _kept(options.out / "cohorts.json", lambda: draw_cohorts(clients))
    read_cohorts(cohorts, clients)
    return Job(data=options.data, partition=str(partition), cohorts=str(cohorts),
               rounds=options.rounds, epochs=options.epochs or EPOCHS[options.case])


def _kept(path, draw):
    if not path.exists():
        path.write_text(json.dumps(draw(), separators=(",", ":")) + "\n")
    return path


def runs_of(options):
    """(system, method, workers) for each run, in order; what cannot be run is said or refused."""
    methods = options.methods.split(",")
    wrong = [method for method in methods if method not in systems.BOTH]
    if wrong:
        raise JobError(f"--methods: {wrong[0]!r} is not one of {', '.join(systems.BOTH)}")
    if options.case == "small-clients" and methods != ["fedavg"]:
        raise JobError("small-clients has no D_val: only --methods fedavg")
    if options.case == "resnet18":
        methods = ["-"]
    runs = [(system, method, workers)
            for method in methods for system in _systems_of(options) for workers in _counts(options)
            if method in ("-", *system.methods)
            and system.least_workers <= workers <= system.most_workers]
    if not runs:
        raise JobError("nothing to run: no chosen system has this case, method and worker count")
    return runs


def _counts(options):
    try:
        counts = [int(count) for count in options.workers.split(",")]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise JobError(f"--workers {options.workers}: expected numbers from 1 on, as in 1,2")
    return counts


def _systems_of(options):
    asked = options.systems.split(",") if options.systems else None
    try:
        listed = systems.chosen(asked) if asked else systems.SYSTEMS
    except KeyError as error:
        names = ", ".join(system.name for system in systems.SYSTEMS)
        raise JobError(f"--systems: {error} is not one of {names}, or their families") from None
    present = []
    for system in listed:
        if options.case not in system.cases:
            continue
        missing = _missing(system, options)
        if missing and asked:
            raise JobError(f"{system.name}: {missing}")
        if missing:
            print(f"{system.name} is left out: {missing}", file=sys.stderr)
        else:
            present.append(system)
    return present


def _missing(system, options):
    """Why a system cannot be run here; empty when it can."""
    if not system.script:
        if os.access(options.fedvg, os.X_OK):
            return ""
        return f"{options.fedvg} is no program: build it, or give --fedvg"
    python = _python_of(system, options)
    find = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({system.package!r}))"
    try:
        found = subprocess.run([python, "-c", find], cwd="/", stderr=subprocess.DEVNULL)
    except OSError as error:
        return f"{python}: {error.strerror}"
    if found.returncode == 0:
        return ""
    return (f"{python} has no package {system.package}: see README.md, and give "
            f"--python {system.family}=PATH where it has an environment of its own")


def _python_of(system, options):
    return dict(entry.partition("=")[::2] for entry in options.python).get(
        system.family, sys.executable)


def check_interpreters(options):
    families = {system.family for system in systems.SYSTEMS}
    for entry in options.python:
        family, equals, path = entry.partition("=")
        if family not in families or not equals or not path:
            raise JobError(f"--python {entry}: expected FAMILY=PATH, FAMILY one of "
                           f"{', '.join(sorted(families))}")


def measure(system, method, workers, job, options):
    """One run, as a line of results.jsonl."""
    name = f"{options.case}-{method}-{system.name}-{workers}"
    folder = options.out / "runs" / f"{datetime.datetime.now():%Y%m%d-%H%M%S-%f}-{name}"
    folder.mkdir(parents=True)
    command = _command(system, workers, job, folder, options)
    environment = dict(os.environ, OMP_NUM_THREADS=str(system.omp_threads(workers)))
    malloc = options.malloc if system.script else "own"
    if malloc == "tuned":
        environment.update(TUNED_MALLOC)
    output, log = folder / "output.txt", folder / "log.txt"
    cores = {options.core} if options.core is not None and workers == 1 else None
    finished = process_tree.run(command, environment, output, log, cores, options.timeout)
    result = {"case": options.case, "system": system.name, "method": method, "workers": workers,
              "rounds": job.rounds if job else None, "epochs": job.epochs if job else None,
              "malloc": malloc, "core": options.core if cores else None,
              "processor": _processor(), "cores": os.cpu_count(),
              "time": f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S}",
              "wall_seconds": finished.seconds, "peak_mb": finished.peak_mb,
              "cpu_seconds": finished.own_cpu_seconds,
              "other_cpu_seconds": finished.other_cpu_seconds}
    if finished.code != 0:
        reason = "the time was up" if finished.code is None else f"exit code {finished.code}"
        return result | {"failed": f"{reason}, see {log}"}
    return result | _reported(system, job, folder, output)


def _command(system, workers, job, folder, options):
    if system.script:
        if job:
            job.write(folder / "job.json")
        return system.command(_python_of(system, options),
                              [str(folder / "job.json")] if job else [], workers)
    if not job:
        return [options.fedvg, "bench", "cifar-resnet18", "--json", "--rounds", str(BENCH_ROUNDS),
                "--workers", str(workers)]
    (folder / "run.toml").write_text(
        fedvg_program.configuration(job, BUDGET if system.budget else 0.0))
    return [options.fedvg, "run", str(folder / "run.toml"), "--out", str(folder / "run"),
            "--workers", str(workers)]


def _reported(system, job, folder, output):
    """What the run says of itself: a driver's last line in braces, or files of fedvg."""
    if not system.script:
        if job:
            return fedvg_program.result(folder / "run")
        return fedvg_program.rates(output.read_text())
    lines = [line for line in output.read_text().splitlines() if line.startswith("{")]
    if not lines:
        return {"failed": f"it printed no result, see {output}"}
    return json.loads(lines[-1])


def _processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def run_all(options):
    """Whether every run succeeded."""
    if options.case != "resnet18" and options.rounds < 2:
        raise JobError("--rounds must be at least 2: the first warms up and does not count")
    if options.repeats < 1 or (options.epochs is not None and options.epochs < 1):
        raise JobError("--repeats and --epochs must be at least 1")
    if options.timeout <= 0:
        raise JobError("--timeout must be above 0")
    allotted = sorted(os.sched_getaffinity(0))
    if options.core is not None and options.core not in allotted:
        raise JobError(f"--core {options.core}: this process has cores "
                       f"{', '.join(map(str, allotted))}")
    check_interpreters(options)
    runs = runs_of(options)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JobError(f"--out {options.out}: {error.strerror}") from error
    jobs = {method: None for _, method, _ in runs}
    if options.case != "resnet18":
        base = files_of(options)
        jobs = {method: Job(**{**vars(base), "method": method}) for method in jobs}
        for job in jobs.values():
            job.validation()
    well = True
    for number, (system, method, workers) in enumerate(runs * options.repeats, 1):
        print(f"{number} of {len(runs) * options.repeats}: {system.name}, {method}, "
              f"workers: {workers}", file=sys.stderr, flush=True)
        result = measure(system, method, workers, jobs[method], options)
        with open(options.out / "results.jsonl", "a") as file:
            file.write(json.dumps(result) + "\n")
        if "failed" in result:
            well = False
            print(f"{system.name} failed: {result['failed']}", file=sys.stderr)
    return well


def results_of(folder):
    path = folder / "results.jsonl"
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except OSError as error:
        raise JobError(f"{path}: {error.strerror}; nothing has been measured into --out") from None


def main(arguments=None):
    options = parse(arguments)
    options.out = options.out.resolve()
    try:
        well = options.table or run_all(options)
        print(results_table.markdown(results_of(options.out)))
    except JobError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("run.py: interrupted; --table shows what was measured", file=sys.stderr)
        return 130
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
