"""Runs a command and measures its whole process tree from outside. Linux only.

Memory is PSS: a page that several processes share counts once. Processes that leave the tree
(daemons) are found by an environment variable that children inherit.
"""

import dataclasses
import os
import pathlib
import signal
import subprocess
import time
import uuid

MARK = "PEERS_RUN"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class Finished:
    code: int | None  # None: the time was up
    seconds: float
    peak_mb: float
    own_cpu_seconds: float
    other_cpu_seconds: float  # by processes that are not of the tree: a disturbed run shows


def run(command, environment, output, log, cores=None, timeout=3600.0, every=0.5):
    """Runs `command` on `cores` (None: as they are), standard output and error into two files.

    Whatever is left of the tree at the end, by an interrupt too, is ended.
    """
    mark = uuid.uuid4().hex
    tree = _Tree(f"{MARK}={mark}".encode())
    busy, begin = _busy_seconds(), time.monotonic()
    with open(output, "wb") as out, open(log, "wb") as errors:
        process = subprocess.Popen(
            command, env={**environment, MARK: mark}, stdin=subprocess.DEVNULL, stdout=out,
            stderr=errors, start_new_session=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None)
        try:
            code = None
            while code is None and time.monotonic() - begin < timeout:
                tree.sample()
                try:
                    code = process.wait(every)
                except subprocess.TimeoutExpired:
                    pass
        finally:
            seconds = time.monotonic() - begin
            other = _busy_seconds() - busy - tree.cpu_seconds()
            tree.end()
            process.wait()
    return Finished(code, round(seconds, 2), round(tree.peak_mb, 1),
                    round(tree.cpu_seconds(), 1), round(max(0.0, other), 1))


class _Tree:
    """The processes whose environment bears the mark."""

    def __init__(self, mark):
        self.mark, self.peak_mb = mark, 0.0
        self.cpu = {}  # seconds by process, as last seen

    def members(self):
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark in (folder / "environ").read_bytes().split(b"\0"):
                    yield folder
            except OSError:
                pass  # it has ended, or is somebody else's

    def sample(self):
        memory = 0
        for folder in self.members():
            try:
                memory += pss_kilobytes((folder / "smaps_rollup").read_text())
                self.cpu[folder.name] = cpu_ticks((folder / "stat").read_text()) / TICKS
            except OSError:
                pass
        self.peak_mb = max(self.peak_mb, memory / 1024)

    def cpu_seconds(self):
        return sum(self.cpu.values())

    def end(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            members = list(self.members())
            for folder in members:
                try:
                    os.kill(int(folder.name), number)
                except ProcessLookupError:
                    pass
            if not members:
                return
            time.sleep(1)


def pss_kilobytes(rollup):
    """The figure of a smaps_rollup; 0 where a process has no memory any more."""
    for line in rollup.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def cpu_ticks(stat):
    """User and system time of a /proc/PID/stat, whose second field may hold spaces."""
    fields = stat.rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def _busy_seconds():
    """Processor time of the whole machine that was not idle."""
    fields = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / TICKS
