"""The job in PyTorch, for the drivers of systems that train with it.

A driver is a script: DRIVER.py JOB.json [its own options]. It prints, as its last line that starts
with "{", what `report` writes; run.py adds what it measures from outside.
"""

import functools
import json
import time

import torch
from torch import nn

from job import CLASSES, read_idx


class Data:
    """All images in memory, float32 in [0, 1] of shape [N, 1, 28, 28], and their labels."""

    def __init__(self, folder):
        self.images, self.labels = _tensors(folder, "train")
        self.test_images, self.test_labels = _tensors(folder, "t10k")


def _tensors(folder, part):
    images = torch.from_numpy(read_idx(folder, part, "images").copy())
    labels = torch.from_numpy(read_idx(folder, part, "labels").copy())
    return images.unsqueeze(1).float().div_(255), labels.long()


@functools.lru_cache
def kept_data(job):
    """Data and clients of a job, loaded once a process. Here and not in a driver, so that worker
    processes find it by its module's name instead of a copy of their own for each client."""
    return Data(job.data), job.clients()


def make_model():
    """The network `cnn` of fedvg, with the same weights at each call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Conv2d(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, CLASSES))


def train_with_dataloader(model, dataset, job):
    """Local training as most people write it: DataLoader and torch.optim.SGD."""
    loader = torch.utils.data.DataLoader(dataset, batch_size=job.batch_size, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=job.learning_rate)
    loss = nn.CrossEntropyLoss()
    model.train()
    for _ in range(job.epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            loss(model(images), labels).backward()
            optimizer.step()


def train_with_tensors(model, images, labels, job):
    """The same steps without DataLoader and optimizer: one gather and one fused step a batch."""
    parameters = list(model.parameters())
    model.train()
    for _ in range(job.epochs):
        for batch in torch.randperm(len(images)).split(job.batch_size):
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            gradients = torch.autograd.grad(loss, parameters)
            with torch.no_grad():
                torch._foreach_add_(parameters, gradients, alpha=-job.learning_rate)


@torch.no_grad()
def accuracy(model, data, batch_size=500):
    """The share of the test set that the model gets right."""
    model.eval()
    hits = sum((model(images).argmax(1) == labels).sum().item() for images, labels in
               zip(data.test_images.split(batch_size), data.test_labels.split(batch_size)))
    return hits / len(data.test_labels)


class RoundClock:
    """Seconds of each round: `start` before the first, `lap` at the end of each."""

    def __init__(self):
        self.seconds = []
        self._last = None

    @property
    def started(self):
        return self._last is not None

    def start(self):
        self._last = time.perf_counter()

    def lap(self):
        now = time.perf_counter()
        self.seconds.append(now - self._last)
        self._last = now


def report(round_seconds, test_accuracy, **more):
    """The result of a driver: seconds of each round without evaluation, accuracy at the end."""
    result = {"round_seconds": [round(seconds, 4) for seconds in round_seconds],
              "accuracy": round(float(test_accuracy), 4), "torch": torch.__version__, **more}
    print(json.dumps(result), flush=True)
