#!/usr/bin/env python3
"""Writes the golden files beside it: the global models that small federations must reach.

    make_golden.py            write every file
    make_golden.py --check    compare the files with what it computes now; exit 1 if they differ

An implementation of its own, from the formulas of the method's description and of the papers,
in float64 and with torch.autograd; it shares nothing with src/. Slow and plain on purpose: a
model is a dictionary of tensors, a round is a loop.

The files have the form of docs/formats.md ("Conformance files"). They choose the product's conventions
by these further keys, which fedvg-conformance (apps/conformance/method_settings.cpp) reads:

hyperparameters.client    momentum, nesterov, weight_decay, beta1, …: options of the local
                          optimizer; max_grad_norm: largest norm of the corrected gradient
hyperparameters.feddyn.proximal, .elastic.accumulate, .scaffold.full_epochs
                          true or false: whether w_local is in FedDyn's gradient, whether the
                          probe's gradients pile up, whether `epochs` counts passes over the
                          data or steps (the reference: false, true, false)
hyperparameters.fedvg.reduce
                          "mean" or "sum" of the norms over tensors. Where it is given, eps is
                          added to just that, of the gradient of the mean loss
methods.NAME.parts        what makes up this entry, whatever its name: `method` (a row of the
                          table or X+fedvg), `correction`, `weighting`, `server`, `optimizer`
                          (a name or {name, options…}, as in a configuration), `train` {epochs,
                          steps, clip, buffers} and `scoring` {mode}
flatten_order             may name NAME.num_batches_tracked
"""

import argparse
import json
import math
import pathlib
import random
import sys

import torch

from federation import ROWS, VARIANTS, run
from network import Network

FOLDER = pathlib.Path(__file__).resolve().parent
LIMIT = 150_000  # bytes of a file

HYPERPARAMETERS = {
    "client": {"optimizer": "sgd", "lr": 0.08, "epochs": 2, "batch_size": 4, "shuffle": False},
    "fedavgm": {"server_momentum": 0.9, "nesterov": True, "server_lr": 1.0},
    "fedadam/fedyogi/fedadagrad": {"beta1": 0.9, "beta2": 0.99, "server_lr": 0.05, "tau": 0.002},
    "fedprox": {"mu": 0.4},
    "scaffold": {"global_lr": 0.9, "full_epochs": True},
    "feddyn": {"alpha": 0.15, "max_grad_norm": 10, "proximal": True},
    "elastic": {"tau": 0.6, "mu": 0.9, "accumulate": False},
    "moon": {"temperature": 0.4, "mu": 2},
    "fedvg": {"eps": 1e-8, "reduce": "mean"},
}
NAMES = list(ROWS) + [f"{row}+fedvg" for row in ROWS if row != "fedvg"]

PLAIN = [
    {"type": "linear", "name": "base.0", "in": 4, "out": 4, "bias": True},
    {"type": "tanh"},
    {"type": "linear", "name": "base.1", "in": 4, "out": 3, "bias": False},
    {"type": "tanh"},
    {"type": "linear", "name": "classifier", "in": 3, "out": 3, "bias": True},
]
# Blocks of 3, 5 and 1 tensors. A convolution in front of BatchNorm has no bias: its gradient
# would be 0 but for rounding, and layer by layer such noise would have a weight.
IMAGES = [
    {"type": "conv2d", "name": "stem.conv", "in": 1, "out": 2, "kernel": 3, "stride": 1,
     "padding": 1, "bias": False},
    {"type": "batchnorm2d", "name": "stem.bn", "features": 2},
    {"type": "relu"},
    {"type": "conv2d", "name": "late.conv1", "in": 2, "out": 2, "kernel": 2, "stride": 2,
     "padding": 0, "bias": False},
    {"type": "batchnorm2d", "name": "late.bn", "features": 2},
    {"type": "relu"},
    {"type": "conv2d", "name": "late.conv2", "in": 2, "out": 2, "kernel": 1, "stride": 1,
     "padding": 0, "bias": True},
    {"type": "global_avg_pool"},
    {"type": "linear", "name": "head", "in": 2, "out": 3, "bias": False},
]


def make_case(about, layers, hyperparameters, sizes, participants, seed):
    """Random samples: of each client `sizes` batches; everything rounded to three digits."""
    numbers = random.Random(seed)
    net = Network(layers)
    shape = (layers[0]["in"],) if layers[0]["type"] == "linear" else (1, 4, 4)
    classes = layers[-1]["out"]

    def batch(count, skew):
        ys = [numbers.choice([skew, numbers.randrange(classes)]) for _ in range(count)]
        xs = []
        for y in ys:
            values = [round(numbers.gauss(0.5 * y - 0.4, 1), 3) for _ in range(math.prod(shape))]
            xs.append(torch.tensor(values).reshape(shape).tolist())
        return {"x": xs, "y": ys}

    def client(batches, skew):
        return [batch(count, skew) for count in batches]

    init = net.initial(numbers)
    return {
        "about": about,
        "network": {"layers": layers, "flatten_order": net.flatten_order()},
        "hyperparameters": hyperparameters,
        "population": len(sizes),
        "participants": participants,
        "init": {n: v.tolist() for n, v in init.items()},
        "data": [client(batches, k % classes) for k, batches in enumerate(sizes)],
        "probe": [client([3, 2][: k + 1], k % classes) for k in range(len(sizes))],
        "validation": client([4, 4, 3], 1),
    }


def with_methods(case, entries):
    case["methods"] = {name: run(case, name, entry) for name, entry in entries.items()}
    return case


# Uneven batches; a round with one participant; other orders; a client that never takes part.
SIZES = [[4, 4, 2], [3], [4, 1], [4, 3, 3], [4]]
ROUNDS = [[0, 1, 2], [3], [2, 3, 0, 1]]


def plain():
    case = make_case("every method on a network without buffers, unequal participation",
                     PLAIN, HYPERPARAMETERS, SIZES, ROUNDS, seed=1)
    return with_methods(case, {name: {} for name in NAMES})


def batch_norm():
    """Client 2 has a batch of one, which is no step; client 4 nothing else: no weight."""
    sizes = [[4, 4, 2], [3], [4, 1], [4, 3], [1]]
    rounds = [[0, 1, 2], [3, 4], [4, 2, 3, 0]]
    case = make_case("every method with BatchNorm; batches of one are no steps",
                     IMAGES, HYPERPARAMETERS, sizes, rounds, seed=2)
    return with_methods(case, {name: {} for name in NAMES})


def local_training():
    """Momentum 0.9 and weight decay by default, and a clip that acts."""
    client = {"optimizer": "sgd", "lr": 0.05, "epochs": 2, "batch_size": 4, "shuffle": False,
              "momentum": 0.9, "nesterov": False, "weight_decay": 0.02, "max_grad_norm": 0.7}
    case = make_case("local optimizers, momentum, weight decay and a clip that acts",
                     PLAIN, HYPERPARAMETERS | {"client": client}, SIZES, ROUNDS, seed=3)
    entries = {name: {} for name in ("fedavg", "fedprox", "scaffold", "feddyn", "elastic",
                                     "fednova", "moon", "fedvg", "fednova+fedvg",
                                     "scaffold+fedvg", "moon+fedvg")}
    sgd = {"name": "sgd", "lr": 0.05}
    nesterov = sgd | {"momentum": 0.8, "nesterov": True}
    for method in ("fedavg", "fednova", "scaffold"):
        entries[f"{method}, nesterov"] = {"parts": {"method": method, "optimizer": nesterov}}
    decay = {"method": "fedavg", "optimizer": sgd | {"weight_decay": 0.1}, "train": {"clip": 0}}
    entries["weight decay alone"] = {"parts": decay}
    adam = {"name": "adam", "lr": 0.02, "beta1": 0.8, "beta2": 0.95, "weight_decay": 0.05}
    entries["adam"] = {"parts": {"method": "fedavg", "optimizer": adam}}
    entries["adamw"] = {"parts": {"method": "fedprox", "optimizer": adam | {"name": "adamw"}}}
    entries["adam, feddyn"] = {"parts": {"method": "feddyn", "optimizer": adam}}
    entries["five steps"] = {"parts": {"method": "scaffold", "train": {"steps": 5}}}
    entries["five steps, fednova"] = {"parts": {"method": "fednova", "train": {"steps": 5}}}
    entries["clipped twice"] = {"parts": {
        "method": "feddyn", "train": {"clip": 0.3},
        "correction": {"name": "feddyn", "alpha": 2.0, "max_grad_norm": 0.5}}}
    return with_methods(case, entries)


def reference():
    """The form of shared/conformance/mlp.json, for a network with BatchNorm."""
    hyperparameters = {
        "client": HYPERPARAMETERS["client"],
        "fedavgm": {"server_momentum": 0.8, "nesterov": True, "server_lr": 0.9},
        "fedadam/fedyogi/fedadagrad": HYPERPARAMETERS["fedadam/fedyogi/fedadagrad"],
        "fedprox": {"mu": 0.4},
        "scaffold": {"global_lr": 0.9, "note": "each client takes `epochs` local steps"},
        "feddyn": {"alpha": 0.15, "max_grad_norm": 0.6},
        "elastic": {"tau": 0.6, "mu": 0.9},
        "moon": {"temperature": 0.4, "mu": 2},
        "fedvg": {"norm_order": 1, "eps": 0.01, "validation loss": "sum over the batch"},
    }
    case = make_case("the reference's conventions and units, with BatchNorm",
                     IMAGES, hyperparameters, [[4, 2], [3, 3], [2, 4, 3]],
                     [[0, 1, 2], [2], [1, 0]], seed=6)
    names = [name for name in NAMES if "fednova" not in name and name != "fedavg+fedvg"]
    return with_methods(case, {name: {} for name in names + list(VARIANTS) + ["fedvg+fedavg"]})


def granularity():
    """Layer and block with each correction and server optimizer."""
    case = make_case("weights by layer and by block with each method and server optimizer",
                     IMAGES, HYPERPARAMETERS, [[4, 2], [3], [2, 4, 3]], [[0, 1, 2], [2, 0]], seed=4)
    entries = {}
    for grain in ("layer", "block"):
        rule = {"name": "fedvg", "granularity": grain}
        for method in ("fedavgm", "fedadam", "fedyogi", "fedadagrad", "scaffold", "feddyn",
                       "elastic", "fednova", "moon"):
            entries[f"{method}+fedvg, {grain}"] = {"parts": {"method": method, "weighting": rule}}
        entries[f"fedvg, {grain}"] = {"parts": {"method": "fedvg", "weighting": rule}}
        plain_momentum = {"name": "sgd", "lr": 0.7, "momentum": 0.5, "nesterov": False}
        entries[f"momentum, {grain}"] = {"parts": {"method": "fedvg", "weighting": rule,
                                                   "server": plain_momentum}}
        entries[f"floor, {grain}"] = {"parts": {"method": "fedvg",
                                                "weighting": rule | {"score_floor": 0.9}}}
        entries[f"sum, {grain}"] = {"parts": {
            "method": "fedvg", "weighting": rule | {"reduce": "sum", "eps": 0.1}}}
    return with_methods(case, entries)


def weighting():
    """Norms, mixes, floors, what scoring looks at, and what becomes of buffers."""
    case = make_case("norms, mixes with shares, scoring modes, rules for buffers",
                     IMAGES, HYPERPARAMETERS, [[4, 2], [3], [2, 4, 3]], [[0, 1, 2], [2, 0]], seed=5)
    entries = {}
    for norm in ("l1", "l2", "linf", "spectral", "delta"):
        for grain in ("model", "layer", "block"):
            rule = {"name": "fedvg", "norm": norm, "granularity": grain, "eps": 0.01}
            entries[f"{norm}, {grain}"] = {"parts": {"method": "fedvg", "weighting": rule}}
    mixed = {"name": "mix", "of": ["fedvg", "size"], "shares": [3, 1]}
    entries["mix 3:1"] = {"parts": {"method": "fedavg", "weighting": mixed}}
    layered = [{"name": "fedvg", "granularity": "layer"}, "uniform", "accuracy"]
    entries["mix of three"] = {"parts": {
        "method": "fedavgm", "weighting": {"name": "mix", "of": layered, "shares": [2, 1, 2]}}}
    entries["accuracy"] = {"parts": {"method": "fedavg", "weighting": "accuracy"}}
    entries["floor"] = {"parts": {"method": "fedvg",
                                  "weighting": {"name": "fedvg", "score_floor": 0.95}}}
    for buffers in ("global", "local", "reset"):
        entries[f"eval scoring, {buffers} buffers"] = {"parts": {
            "method": "fedvg", "scoring": {"mode": "eval"}, "train": {"buffers": buffers}}}
    return with_methods(case, entries)


FILES = {"plain": plain, "batch_norm": batch_norm, "local_training": local_training,
         "reference": reference, "granularity": granularity, "weighting": weighting}


def text_of(case):
    """JSON with a line for each key, method, client, tensor and round."""
    def lines(value, depth):
        if depth == 0 or not isinstance(value, (dict, list)) or not value:
            return json.dumps(value, allow_nan=False)
        pad = " " * (3 - depth)
        if isinstance(value, dict):
            items = [f"{json.dumps(k)}: {lines(v, depth - 1)}" for k, v in value.items()]
            return "{\n" + ",\n".join(pad + item for item in items) + "}"
        return "[\n" + ",\n".join(pad + lines(v, depth - 1) for v in value) + "]"

    return lines(case, 2) + "\n"


def largest_difference(a, b):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return max((largest_difference(a[k], b[k]) for k in a), default=0)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return max((largest_difference(x, y) for x, y in zip(a, b)), default=0)
    numbers = (int, float)
    if isinstance(a, numbers) and isinstance(b, numbers):
        return abs(a - b)
    return 0 if a == b else math.inf


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare instead of writing")
    check = arguments.parse_args().check
    wrong = 0
    for name, make in FILES.items():
        path, case = FOLDER / f"{name}.json", make()
        if check:
            difference = largest_difference(json.loads(path.read_text()), case)
            print(f"{path.name} {difference:.3g}")
            wrong += not difference <= 1e-12
            continue
        text = text_of(case)
        if len(text) > LIMIT:
            raise SystemExit(f"{path.name}: {len(text)} bytes, more than {LIMIT}")
        path.write_text(text)
        print(f"{path.name} {len(text)} bytes, {len(case['methods'])} methods")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
