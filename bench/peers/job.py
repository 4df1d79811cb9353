"""The job that every system does: a data folder, who has which image, who takes part in which
round, and how local training goes. Standard library and numpy only.

A partition is {"clients": [[index, ...], ...], "validation": [index, ...]}, a cohorts file a list of
rounds, each a list of clients: the forms that `partition.file` and `train.cohorts` of fedvg read.
Indices count the training images in file order, clients count from 0. No client has an image of
the validation part.
"""

import dataclasses
import gzip
import json
import pathlib

import numpy

CLASSES = 10
LEAST = 10  # images that a client of a drawn partition has
DRAWS = 10_000


class JobError(Exception):
    """What is wrong with a file or setting, for people."""


@dataclasses.dataclass(frozen=True)
class Job:
    data: str  # the folder of the *-ubyte.gz files
    partition: str
    cohorts: str
    method: str = "fedavg"  # or "fedvg"
    rounds: int = 4
    epochs: int = 5
    batch_size: int = 32
    learning_rate: float = 0.01
    seed: int = 1

    def write(self, path):
        pathlib.Path(path).write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n")

    @staticmethod
    def read(path):
        return Job(**json.loads(pathlib.Path(path).read_text()))

    def clients(self):
        """For each client the indices of its images."""
        return read_partition(self.partition)["clients"]

    def validation(self):
        """The indices of D_val; refused when a method needs them and there are none."""
        indices = read_partition(self.partition)["validation"]
        if self.method == "fedvg" and not indices:
            raise JobError(f"{self.partition} has no \"validation\", which fedvg scores on: give a "
                           "partition that has, or run --methods fedavg")
        return indices

    def schedule(self):
        """For each round the clients that take part; a short file is repeated."""
        rounds = read_cohorts(self.cohorts, len(self.clients()))
        return [rounds[i % len(rounds)] for i in range(self.rounds)]


def read_partition(path):
    """The partition of a file; a bare list of clients has no validation part."""
    content = _read_json(path)
    if isinstance(content, list):
        content = {"clients": content}
    if not isinstance(content, dict) or not content.get("clients"):
        raise JobError(f"{path}: expected a list of clients or {{\"clients\": [...]}}")
    clients, validation = content["clients"], content.get("validation", [])
    if not all(isinstance(client, list) and client for client in clients):
        raise JobError(f"{path}: each client must be a list of at least one index")
    held_out = set(validation)
    for number, client in enumerate(clients):
        if not held_out.isdisjoint(client):
            raise JobError(f"{path}: client {number} has images of the validation part")
    return {"clients": clients, "validation": validation}


def read_cohorts(path, clients):
    """The rounds of a file. All of one size: not every system can change it between rounds."""
    rounds = _read_json(path)
    if not isinstance(rounds, list) or not rounds or not all(isinstance(r, list) for r in rounds):
        raise JobError(f"{path}: expected a list of rounds, each a list of clients")
    for number, cohort in enumerate(rounds, 1):
        if not cohort or len(cohort) != len(rounds[0]):
            raise JobError(f"{path}: round {number} has {len(cohort)} clients, round 1 has "
                           f"{len(rounds[0])}; all must have the same number, at least 1")
        wrong = [client for client in cohort if not 0 <= client < clients]
        if wrong:
            raise JobError(f"{path}: round {number} names client {wrong[0]}, there are {clients}")
    return rounds


def _read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except OSError as error:
        raise JobError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise JobError(f"{path} is not JSON: {error}") from None


def read_idx(folder, part, kind):
    """The bytes of `part` ("train", "t10k"): "images" [N, 28, 28] or "labels" [N]."""
    dimensions = {"images": 3, "labels": 1}[kind]
    path = pathlib.Path(folder, f"{part}-{kind}-idx{dimensions}-ubyte.gz")
    try:
        content = gzip.decompress(path.read_bytes())
    except OSError as error:
        raise JobError(f"{path}: {error.strerror or error}; expected Fashion-MNIST's four "
                       "*-ubyte.gz files (Debian: dataset-fashion-mnist), see --data") from None
    shape = numpy.frombuffer(content, ">u4", count=dimensions, offset=4)
    return numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


def draw_dirichlet(labels, clients=100, alpha=0.1, every=10, seed=1):
    """A partition by label skew, class by class, with every `every`-th image as validation part.

    A client that already has its equal share takes no more of a class; drawn again until each
    client has LEAST images.
    """
    random = numpy.random.default_rng(seed)
    validation = numpy.arange(0, len(labels), every)
    rest = numpy.setdiff1d(numpy.arange(len(labels)), validation)
    if LEAST * clients > len(rest):
        raise JobError(f"{clients} clients cannot have {LEAST} images each of {len(rest)}")
    for _ in range(DRAWS):
        lists = [[] for _ in range(clients)]
        for label in range(CLASSES):
            indices = random.permutation(rest[labels[rest] == label])
            shares = random.dirichlet([alpha] * clients)
            shares *= [len(held) < len(rest) / clients for held in lists]
            cuts = (numpy.cumsum(shares / shares.sum()) * len(indices)).astype(int)[:-1]
            for held, more in zip(lists, numpy.split(indices, cuts)):
                held.extend(more.tolist())
        if min(map(len, lists)) >= LEAST:
            return {"clients": [sorted(held) for held in lists], "validation": validation.tolist()}
    raise JobError(f"no partition of {clients} clients with {LEAST} images each in {DRAWS} draws")


def draw_cohorts(clients=100, participants=10, rounds=20, seed=2):
    """Rounds of `participants` different clients each."""
    random = numpy.random.default_rng(seed)
    return [sorted(random.choice(clients, participants, replace=False).tolist())
            for _ in range(rounds)]


def spread_evenly(clients=1000, images=6):
    """Many small clients: the first clients * images images, dealt out in turn; no validation."""
    return {"clients": [list(range(i, clients * images, clients)) for i in range(clients)],
            "validation": []}
