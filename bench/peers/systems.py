"""The systems that run.py knows, and how each is called."""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
BOTH = ("fedavg", "fedvg")


@dataclasses.dataclass(frozen=True)
class System:
    """One row of the table. A driver of its own, or the program fedvg where `script` is empty."""
    name: str
    script: str = ""
    options: tuple = ()
    workers_option: str = ""    # tells the driver the number of workers or threads
    threads: bool = False       # workers are OpenMP threads of one process
    launcher: tuple = ()        # of several processes, between Python and the script
    most_workers: int = 64
    least_workers: int = 1
    methods: tuple = ("fedavg",)
    budget: bool = False        # fedvg with scoring.budget
    cases: tuple = ("main", "small-clients")
    package: str = ""           # what must be importable

    @property
    def family(self):
        """What --python and --systems call it together with its variants."""
        return self.name.split("-")[0]

    def command(self, python, job, workers):
        """The call of a driver."""
        launcher = [part.format(workers=workers) for part in self.launcher] if workers > 1 else []
        count = [self.workers_option, str(workers)] if self.workers_option else []
        return [python, *launcher, str(HERE / self.script), *job, *self.options, *count]

    def omp_threads(self, workers):
        return workers if self.threads else 1


def _hand(name, *options):
    return System(name, "hand_loop.py", options, "--threads", threads=True, methods=BOTH,
                  package="torch")


def _blazefl(mode, **limits):
    return System(f"blazefl-{mode}", "blazefl_sim.py", ("--mode", mode), "--workers",
                  package="blazefl", **limits)


def _resnet(name, *options):
    return System(name, "resnet_rate.py", options, "--threads", threads=True, cases=("resnet18",),
                  package="torch")


SYSTEMS = (
    System("fedvg", methods=BOTH, cases=("main", "small-clients", "resnet18")),
    System("fedvg-budget", methods=("fedvg",), budget=True),
    _hand("hand-dataloader", "--loop", "dataloader"),
    _hand("hand-tensors", "--loop", "tensors"),
    _hand("hand-channels-last", "--loop", "tensors", "--channels-last"),
    System("flower", "flower_sim.py", (), "--workers", package="flwr"),
    System("pfl", "pfl_sim.py", package="pfl",
           launcher=("-m", "torch.distributed.run", "--nproc-per-node", "{workers}")),
    System("fluke", "fluke_sim.py", (), "--threads", threads=True, package="fluke"),
    _blazefl("single", most_workers=1),
    _blazefl("thread", least_workers=2),
    _blazefl("process", least_workers=2),
    _resnet("hand-resnet-contiguous"),
    _resnet("hand-resnet-channels-last", "--channels-last"),
)


def chosen(names):
    """The systems of these names, or families where no system has the name, in the table's order;
    KeyError names a stranger."""
    single = {system.name for system in SYSTEMS}
    families = {system.family for system in SYSTEMS} - single
    for name in names:
        if name not in single | families:
            raise KeyError(name)
    return [system for system in SYSTEMS
            if system.name in names or system.family in families.intersection(names)]
