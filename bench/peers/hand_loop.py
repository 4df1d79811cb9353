"""FedAvg and FedVG as a plain PyTorch loop: one process, one client after another.

    hand_loop.py JOB.json [--loop dataloader|tensors] [--channels-last] [--threads N]
"""

import argparse
import time

import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

import workload
from job import Job

EPSILON = 1e-8


class DataLoaderLoop:
    """Images through torch.utils.data, as a tutorial does it."""

    def __init__(self, job, data):
        dataset = TensorDataset(data.images, data.labels)
        self.job = job
        self.clients = [Subset(dataset, indices) for indices in job.clients()]
        self.validation = DataLoader(Subset(dataset, job.validation()), batch_size=job.batch_size)

    def train(self, model, client):
        workload.train_with_dataloader(model, self.clients[client], self.job)

    def validation_batches(self):
        return self.validation


class TensorLoop:
    """Each client's images as one tensor."""

    def __init__(self, job, data):
        self.job = job
        self.clients = [(data.images[indices], data.labels[indices]) for indices in job.clients()]
        indices = job.validation()
        self.validation = (data.images[indices], data.labels[indices])

    def train(self, model, client):
        workload.train_with_tensors(model, *self.clients[client], self.job)

    def validation_batches(self):
        return zip(*(part.split(self.job.batch_size) for part in self.validation))


def gradient_norm(model, batches):
    """FedVG's norm: l1, mean over the model's tensors, of the validation loss' gradient."""
    model.train()
    parameters = list(model.parameters())
    sums = [torch.zeros_like(parameter) for parameter in parameters]
    images_seen = 0
    for images, labels in batches:
        loss = torch.nn.functional.cross_entropy(model(images), labels, reduction="sum")
        torch._foreach_add_(sums, torch.autograd.grad(loss, parameters))
        images_seen += len(labels)
    return sum(total.abs().sum().item() for total in sums) / images_seen / len(sums)


class WeightedMean:
    """The mean of state dicts, one after another, each with a share, whatever the shares' sum."""

    def __init__(self):
        self.sums, self.total = {}, 0.0

    def add(self, state, share):
        if not self.sums:
            self.sums = {name: torch.zeros_like(tensor) for name, tensor in state.items()}
        for name, tensor in state.items():
            self.sums[name].add_(tensor, alpha=share)
        self.total += share

    def value(self):
        return {name: tensor / self.total for name, tensor in self.sums.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job")
    parser.add_argument("--loop", default="dataloader", choices=["dataloader", "tensors"])
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    job = Job.read(options.job)
    data = workload.Data(job.data)
    loop = {"dataloader": DataLoaderLoop, "tensors": TensorLoop}[options.loop](job, data)
    sizes = [len(client) for client in job.clients()]
    model = workload.make_model()
    if options.channels_last:
        model = model.to(memory_format=torch.channels_last)
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    clock, train_seconds, score_seconds = workload.RoundClock(), [], []
    clock.start()
    for cohort in job.schedule():
        mean, train, score = WeightedMean(), 0.0, 0.0
        for client in cohort:
            begin = time.perf_counter()
            model.load_state_dict(state)
            loop.train(model, client)
            trained = time.perf_counter()
            share = sizes[client]
            if job.method == "fedvg":
                share = 1 / (gradient_norm(model, loop.validation_batches()) + EPSILON)
            train += trained - begin
            score += time.perf_counter() - trained
            mean.add(model.state_dict(), share)
        state = mean.value()
        clock.lap()
        train_seconds.append(round(train, 4))
        score_seconds.append(round(score, 4))
    model.load_state_dict(state)
    workload.report(clock.seconds, workload.accuracy(model, data),
                    train_seconds=train_seconds, score_seconds=score_seconds)


if __name__ == "__main__":
    main()
