"""pfl (pfl-research): FederatedAveraging with SimulatedBackend.

    pfl_sim.py JOB.json                                                  one worker
    python -m torch.distributed.run --nproc-per-node 2 pfl_sim.py JOB.json   two

pfl slices a client's tensors in a fixed order: no shuffling between epochs. With several workers
it divides a cohort by the clients' sizes.
"""

import argparse

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.internal.ops.selector import get_default_framework_module
from pfl.metrics import Metrics
from pfl.model.pytorch import PyTorchModel

import workload
from job import Job

NEVER = 10 ** 6  # rounds


class Network(torch.nn.Module):
    """The model with the two functions that pfl calls."""

    def __init__(self):
        super().__init__()
        self.layers = workload.make_model()

    def forward(self, images):
        return self.layers(images)

    def loss(self, images, labels, eval=False):
        self.train(not eval)
        return torch.nn.functional.cross_entropy(self(images), labels)

    def metrics(self, images, labels, eval=False):
        return {}


class ScheduledSampler:
    """Hands out the clients of the schedule one by one."""

    def __init__(self, schedule):
        self.order = [client for cohort in schedule for client in cohort]
        self.position = 0

    def __call__(self):
        client = self.order[self.position % len(self.order)]  # pfl asks ahead of the last round
        self.position += 1
        return client


class Clock(TrainingProcessCallback):
    def __init__(self):
        self.clock = workload.RoundClock()

    def on_train_begin(self, *, model):
        self.clock.start()
        return Metrics()

    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        self.clock.lap()
        return False, Metrics()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job")
    job = Job.read(parser.parse_args().job)
    torch.set_num_threads(1)

    data, schedule, clients = workload.Data(job.data), job.schedule(), job.clients()
    users = [Dataset((data.images[indices], data.labels[indices]), user_id=number)
             for number, indices in enumerate(clients)]
    network = Network()
    model = PyTorchModel(network, local_optimizer_create=torch.optim.SGD,
                         central_optimizer=torch.optim.SGD(network.parameters(), lr=1.0))
    federated = FederatedDataset(lambda user: users[user], ScheduledSampler(schedule),
                                 {number: len(indices) for number, indices in enumerate(clients)})
    backend = SimulatedBackend(training_data=federated, val_data=federated,
                               postprocessors=[WeightByDatapoints()])
    timing = Clock()
    FederatedAveraging().run(
        NNAlgorithmParams(central_num_iterations=job.rounds, evaluation_frequency=NEVER,
                          train_cohort_size=len(schedule[0]), val_cohort_size=0),
        backend, model,
        NNTrainHyperParams(local_batch_size=job.batch_size, local_num_epochs=job.epochs,
                           local_learning_rate=job.learning_rate),
        None, [timing], send_metrics_to_platform=False)
    if get_default_framework_module().distributed.global_rank == 0:
        workload.report(timing.clock.seconds, workload.accuracy(network, data))


if __name__ == "__main__":
    main()
