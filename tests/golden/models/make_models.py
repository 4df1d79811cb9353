#!/usr/bin/env python3
"""Writes the golden files beside it: what torchvision's and timm's models compute.

    make_models.py [NAME...]           write the files of these models, or of all
    make_models.py --check [NAME...]   compare the files with what is computed now; exit 1 if
                                       they differ

Needs an environment of its own, which is too large for the tests (it works on the CPU):

    python3 -m venv VENV
    VENV/bin/pip install torch==2.14.1 torchvision==0.29.1 timm==1.0.31

A file is one JSON object, NAME.json:

made_with           versions of the libraries
model, options      model.name and its options, as in a configuration
classes, batch      of the head; images of the batch
image               [channels, height, width]
parameters          number of trainable numbers
names, buffers      [[name, shape], ...] of named_parameters() and named_buffers(), in order
logits_eval_f32, logits_train_f32, logits_eval_f64, logits_train_f64
                    [batch][class], in either mode and precision; each starts from the filled
                    buffers
loss_train_f64      mean cross-entropy of logits_train_f64
gradient_norms_f64  by name of a parameter the l2 norm of that loss's gradient
running_f64         by name the l2 norm of a running mean or variance after that one pass

Nothing random is in them. In unsigned integers of 32 bits let

    x = i + 1 + 1000003 t
    x = (x xor x >> 16) * 0x85ebca6b
    x = (x xor x >> 13) * 0xc2b2ae35
    u(i, t) = 2 (x xor x >> 16) / 2^32 - 1

Element i (row-major) of tensor t, counted through `names` and on through `buffers`, is

    names ending in class_token, cls_token, pos_embedding, pos_embed    0.1 u
    other tensors of two or more dimensions    u sqrt(3 / fan_in), fan_in = product of dims 1...
    running_mean                               0.1 u
    running_var                                1 + 0.5 |u|
    num_batches_tracked                        0
    names ending in bn3.weight                 0.2 + 0.1 u
    one dimension, name ends in "weight"       1 + 0.1 u
    one dimension, name ends in "bias"         0.1 u

an element of the images is (u(i, 7777) + 1) / 2, and the label of image n is n mod classes.
All of it is computed in double and cast to float for the _f32 values.
"""

import argparse
import functools
import json
import math
import pathlib
import sys

import timm
import torch
import torchvision

FOLDER = pathlib.Path(__file__).resolve().parent
CLASSES = 10
BATCH = 8
TOKENS = ("class_token", "cls_token", "pos_embedding", "pos_embed")


def resnet(build, norm="batch", stem="imagenet"):
    group = functools.partial(torch.nn.GroupNorm, 32)
    model = build(num_classes=CLASSES, norm_layer=group if norm == "group" else None)
    if stem == "cifar":
        model.conv1 = torch.nn.Conv2d(3, 64, 3, stride=1, padding=1, bias=False)
        model.maxpool = torch.nn.Identity()
    return model


def vit_b_16(image_size, patch):
    assert patch == 16
    return torchvision.models.vit_b_16(image_size=image_size, num_classes=CLASSES)


def vit_s_16(image_size, patch):
    assert patch == 16
    return timm.create_model("vit_small_patch16_224", img_size=image_size, num_classes=CLASSES)


RESNET18 = functools.partial(resnet, torchvision.models.resnet18)
IMAGENET = {"norm": "batch", "stem": "imagenet"}
VIT = {"image_size": 32, "patch": 16}

# File: model, options, how it is built from them, size of the images.
MODELS = {
    "resnet18": ("resnet18", IMAGENET, RESNET18, 32),
    "resnet18_64": ("resnet18", IMAGENET, RESNET18, 64),
    "resnet18_cifar": ("resnet18", {"norm": "batch", "stem": "cifar"}, RESNET18, 32),
    "resnet18_group": ("resnet18", {"norm": "group", "stem": "imagenet"}, RESNET18, 32),
    "resnet34": ("resnet34", IMAGENET,
                 functools.partial(resnet, torchvision.models.resnet34), 64),
    "resnet50": ("resnet50", IMAGENET,
                 functools.partial(resnet, torchvision.models.resnet50), 64),
    "vit_b_16": ("vit_b_16", VIT, vit_b_16, 32),
    "vit_s_16": ("vit_s_16", VIT, vit_s_16, 32),
}


def numbers(count, t):
    """u(0..count-1, t) as doubles."""
    x = (torch.arange(count, dtype=torch.int64) + 1 + 1000003 * t) & 0xFFFFFFFF
    # A product may wrap around 64 bits, which leaves its low 32 as they are.
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return 2 * (x ^ (x >> 16)).double() / 2**32 - 1


def filled(name, tensor, t):
    if name.endswith("num_batches_tracked"):
        return torch.zeros_like(tensor)
    u = numbers(tensor.numel(), t).reshape(tensor.shape)
    if name.endswith(TOKENS):
        return 0.1 * u
    if tensor.dim() >= 2:
        return u * math.sqrt(3.0 / math.prod(tensor.shape[1:]))
    if name.endswith("running_mean"):
        return 0.1 * u
    if name.endswith("running_var"):
        return 1 + 0.5 * u.abs()
    if name.endswith("bn3.weight"):  # else ResNet-50 amplifies float32's rounding to over 1e-4
        return 0.2 + 0.1 * u
    if name.endswith("weight"):
        return 1 + 0.1 * u
    assert name.endswith("bias"), name
    return 0.1 * u


def fill(model):
    tensors = [*model.named_parameters(), *model.named_buffers()]
    with torch.no_grad():
        for t, (name, tensor) in enumerate(tensors):
            tensor.copy_(filled(name, tensor, t))


def images(shape, dtype):
    return ((numbers(math.prod(shape), 7777) + 1) / 2).reshape(shape).to(dtype)


def logits(model, shape, dtype, train):
    model.to(dtype)
    fill(model)
    model.train(train)
    return model(images(shape, dtype))


def golden(file):
    name, options, build, size = MODELS[file]
    model = build(**options)
    shape = (BATCH, 3, size, size)
    result = {
        "made_with": {library.__name__: library.__version__
                      for library in (torch, torchvision, timm)},
        "model": name, "options": options, "classes": CLASSES, "batch": BATCH,
        "image": list(shape[1:]),
        "parameters": sum(p.numel() for p in model.parameters()),
        "names": [[n, list(p.shape)] for n, p in model.named_parameters()],
        "buffers": [[n, list(b.shape)] for n, b in model.named_buffers()],
    }
    for dtype, suffix in ((torch.float32, "f32"), (torch.float64, "f64")):
        for train in (False, True):
            key = f"logits_{'train' if train else 'eval'}_{suffix}"
            output = logits(model, shape, dtype, train)
            result[key] = output.tolist()
    # The last output is that of double precision in train mode.
    loss = torch.nn.functional.cross_entropy(output, torch.arange(BATCH) % CLASSES)
    loss.backward()
    result["loss_train_f64"] = loss.item()
    result["gradient_norms_f64"] = {n: p.grad.norm().item() for n, p in model.named_parameters()}
    result["running_f64"] = {n: b.norm().item() for n, b in model.named_buffers()
                             if not n.endswith("num_batches_tracked")}
    return result


def text(result):
    """One line a key, so that a change is seen where it is."""
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in result.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def differing(kept, now, near):
    """Whether two values of a file differ by more than rounding in another order."""
    if isinstance(now, dict):
        return kept.keys() != now.keys() or any(differing(kept[k], now[k], near) for k in now)
    if isinstance(now, list):
        return len(kept) != len(now) or any(differing(k, n, near) for k, n in zip(kept, now))
    if isinstance(now, float):
        return not abs(kept - now) <= near * max(1.0, abs(now))
    return kept != now


def check(file, now):
    """Whether the file's numbers are those computed now; names what is not."""
    kept = json.loads((FOLDER / f"{file}.json").read_text())
    wrong = [key for key in now if key != "made_with" and
             (key not in kept or
              differing(kept[key], now[key], 1e-4 if key.endswith("_f32") else 1e-10))]
    print(f"{file}: {'differs in ' + ', '.join(wrong) if wrong else 'as computed now'}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description="golden values of torchvision's and timm's models")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in MODELS]
    if unknown:
        parser.error(f"no model {unknown[0]!r}; there are {', '.join(MODELS)}")
    right = True
    for file in arguments.names or MODELS:
        now = golden(file)
        if arguments.check:
            right = check(file, now) and right
        else:
            (FOLDER / f"{file}.json").write_text(text(now))
            print(FOLDER / f"{file}.json")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
