#!/usr/bin/env python3
"""Writes optimizers/torch_optim.json: the steps of PyTorch's own optimizers.

    make_torch_optim.py            write the file
    make_torch_optim.py --check    compare it with what PyTorch does now; exit 1 if it differs

Each case names a local optimizer of fedvg with its options and lists where torch.optim's
optimizer of the same name and options stands after every step, from `start`, with the given
gradients and learning rates, in float64.
"""

import json
import pathlib
import sys

import torch

torch.set_default_dtype(torch.float64)
PATH = pathlib.Path(__file__).resolve().parent / "optimizers" / "torch_optim.json"

START = [1.0, -2.0, 0.5, 0.0]
GRADIENTS = [[0.3, -0.7, 1.1, 0.0], [-0.2, 0.4, 0.9, 0.0], [0.0, 1.5, -2.0, 1e-3],
             [0.6, -0.1, 0.2, -1e-3], [0.1, 0.1, -0.4, 5.0]]
STEADY = [0.1] * 5
FALLING = [0.1, 0.1, 0.05, 0.05, 0.025]

SGD = [
    {},
    {"weight_decay": 0.1},
    {"momentum": 0.9},
    {"momentum": 0.9, "nesterov": True},
    {"momentum": 0.5, "weight_decay": 0.2},
    {"momentum": 0.5, "weight_decay": 0.2, "nesterov": True},
]
ADAM = [
    {},
    {"weight_decay": 0.1},
    {"beta1": 0.5, "beta2": 0.9, "eps": 1e-3},
    {"beta1": 0.0, "weight_decay": 0.0},
]


def optimizer(name, options, w):
    options = dict(options, lr=1.0)
    if name == "sgd":
        return torch.optim.SGD([w], **options)
    betas = (options.pop("beta1", 0.9), options.pop("beta2", 0.999))
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    return kind([w], betas=betas, **options)


def path_of(name, options, rates):
    w = torch.tensor(START, requires_grad=True)
    steps = optimizer(name, options, w)
    path = []
    for gradient, rate in zip(GRADIENTS, rates):
        steps.param_groups[0]["lr"] = rate
        w.grad = torch.tensor(gradient)
        steps.step()
        path.append(w.detach().tolist())
    return path


def values():
    cases = [{"name": name, "options": options, "rates": rates,
              "path": path_of(name, options, rates)}
             for name, choices in (("sgd", SGD), ("adam", ADAM), ("adamw", ADAM))
             for options in choices for rates in (STEADY, FALLING)]
    return {"about": "written by make_torch_optim.py", "start": START, "gradients": GRADIENTS,
            "cases": cases}


def main():
    found = values()
    if "--check" in sys.argv[1:]:
        known = json.loads(PATH.read_text())
        apart = max(abs(a - b) for one, other in zip(known["cases"], found["cases"])
                    for x, y in zip(one["path"], other["path"]) for a, b in zip(x, y))
        same = [c["options"] for c in known["cases"]] == [c["options"] for c in found["cases"]]
        print(f"{PATH.name} {apart:.3g}")
        return 0 if same and apart <= 1e-12 else 1
    PATH.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items() if k != "cases"]
    cases = ",\n  ".join(json.dumps(case) for case in found["cases"])
    PATH.write_text("{\n " + ",\n ".join(lines) + f',\n "cases": [\n  {cases}]\n}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
