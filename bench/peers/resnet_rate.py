"""Images per second of a plain PyTorch loop on ResNet-18: 10 classes, random 32x32 images, batch 32.

    resnet_rate.py [--threads N] [--channels-last] [--batches 40]

`train` is local training; `score` is FedVG's pass over D_val: train mode, gradients of the summed
loss added up over the batches. The better of three passes each, after one that warms up. The
network is torchvision's resnet18 (7x7 stem), written out so that torchvision need not be there.
"""

import argparse
import json
import time

import torch
from torch import nn

CLASSES, BATCH = 10, 32
PASSES = 3


class BasicBlock(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + shortcut)


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, padding=3, bias=False), nn.BatchNorm2d(64),
              nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]
    channels_in = 64
    for channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [BasicBlock(channels_in, channels, stride), BasicBlock(channels, channels, 1)]
        channels_in = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


def train(model, optimizer, batches):
    for images, labels in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()


def score(model, batches):
    parameters = list(model.parameters())
    sums = [torch.zeros_like(parameter) for parameter in parameters]
    for images, labels in batches:
        loss = nn.functional.cross_entropy(model(images), labels, reduction="sum")
        torch._foreach_add_(sums, torch.autograd.grad(loss, parameters))
    return sum(total.abs().sum().item() for total in sums)


def images_per_second(work, images):
    work()
    best = float("inf")
    for _ in range(PASSES):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return round(images / best, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--channels-last", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    layout = torch.channels_last if options.channels_last else torch.contiguous_format
    model = resnet18().train().to(memory_format=layout)
    batches = [(torch.rand(BATCH, 3, 32, 32).contiguous(memory_format=layout),
                torch.randint(0, CLASSES, (BATCH,))) for _ in range(options.batches)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = BATCH * options.batches
    rates = {"train": images_per_second(lambda: train(model, optimizer, batches), images),
             "score": images_per_second(lambda: score(model, batches), images)}
    print(json.dumps({"images_per_second": rates, "torch": torch.__version__}), flush=True)


if __name__ == "__main__":
    main()
