"""fluke (package fluke-fl): FedAVG with its own clients, server and FastDataLoader.

    fluke_sim.py JOB.json [--threads N]

One process; fluke's parallel mode needs two GPUs.
"""

import argparse

import torch
from fluke import DDict, FlukeENV
from fluke.algorithms.fedavg import FedAVG
from fluke.data import FastDataLoader
from fluke.evaluation import ClassificationEval
from fluke.utils import FederationObserver

import workload
from job import CLASSES, Job

NEVER = 10 ** 9  # rounds


class GivenSplit:
    """In place of fluke's DataSplitter: the job's partition."""

    def __init__(self, job, data):
        self.clients, self.data = job.clients(), data

    def assign(self, clients, batch_size):
        data = self.data
        training = [FastDataLoader(data.images[indices], data.labels[indices], num_labels=CLASSES,
                                   batch_size=batch_size, shuffle=True)
                    for indices in self.clients]
        test = FastDataLoader(data.test_images, data.test_labels, num_labels=CLASSES,
                              batch_size=500, shuffle=False)
        return (training, [None] * clients), test


class Clock(FederationObserver):
    def __init__(self):
        self.clock = workload.RoundClock()

    def start_round(self, round, global_model):
        if not self.clock.started:
            self.clock.start()

    def end_round(self, round):
        self.clock.lap()


def environment():
    """No evaluation, everything in memory, on the processor."""
    fluke = FlukeENV()
    fluke.set_seed(0)
    fluke.set_device("cpu")
    fluke.set_inmemory(True)
    fluke.set_evaluator(ClassificationEval(eval_every=NEVER, n_classes=CLASSES))
    fluke.set_eval_cfg(server=False, locals=False, pre_fit=False, post_fit=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    job = Job.read(options.job)
    data = workload.Data(job.data)
    environment()
    algorithm = FedAVG(len(job.clients()), GivenSplit(job, data), DDict(
        model=workload.make_model(),
        client=DDict(batch_size=job.batch_size, local_epochs=job.epochs,
                     loss=torch.nn.CrossEntropyLoss, persistency=False,
                     optimizer=DDict(name="SGD", lr=job.learning_rate),
                     scheduler=DDict(name="StepLR", gamma=1, step_size=1)),
        server=DDict(weighted=True)))
    cohorts = iter(job.schedule())
    algorithm.server.get_eligible_clients = lambda share: [algorithm.clients[client]
                                                           for client in next(cohorts)]
    timing = Clock()
    algorithm.set_callbacks([timing])
    algorithm.run(n_rounds=job.rounds, eligible_perc=0.1, finalize=False)
    workload.report(timing.clock.seconds, workload.accuracy(algorithm.server.model, data))


if __name__ == "__main__":
    main()
