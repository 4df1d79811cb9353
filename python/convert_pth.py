#!/usr/bin/env python3
"""Converts PyTorch weights (.pth, .pt, .bin) to the safetensors that fedvg's model.init reads.

    convert_pth.py WEIGHTS.pth [OUT.safetensors]

Takes a state dict, or a checkpoint that holds one under state_dict or model; a leading
"module." of the names, left there by DataParallel, is dropped. Needs torch and safetensors
(requirements.txt). Nothing of the file is executed, so a pickled module is refused.
"""

import argparse
import pathlib
import pickle
import sys
import zipfile

import torch
from safetensors.torch import save_file

KEYS = ("state_dict", "model")
PREFIX = "module."


class Refused(Exception):
    """What is wrong with the input, for people."""


def load(path):
    """What the file holds, without running code of it."""
    if is_torchscript(path):
        raise Refused(
            f"{path}: is a TorchScript file, a network and its weights in one: set "
            "model.name=torchscript and model.file to it. For model.init save the tensors where "
            "it was made: torch.save(model.state_dict(), \"weights.pth\")")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    except pickle.UnpicklingError as error:
        if "Unsupported global" in str(error):
            raise Refused(
                f"{path}: holds a Python object, not only tensors (a whole module, saved as "
                "torch.save(model)?). Loading it would run code of the file. Save its tensors "
                "where it was made: torch.save(model.state_dict(), \"weights.pth\")") from None
        raise Refused(f"{path}: is no file of torch.save: {first_line(error)}") from None
    except RuntimeError as error:
        raise Refused(f"{path}: cannot be read: {first_line(error)}") from None
    except EOFError:
        raise Refused(f"{path}: is empty or cut off") from None


def is_torchscript(path):
    """Whether torch.jit.save wrote the file: such an archive has a record of constants."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith("/constants.pkl") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False  # torch.load says what is wrong


def first_line(error):
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def state_dict(content, path):
    """The dictionary of tensors in a file's content, however deep a checkpoint wraps it."""
    while isinstance(content, dict):
        inner = next((key for key in KEYS if isinstance(content.get(key), dict)), None)
        if inner is None:
            break
        content = content[inner]
    if not isinstance(content, dict) or not content:
        raise Refused(f"{path}: holds {describe(content)}; a dictionary of tensors by name was "
                      f"expected, or a checkpoint with one under {' or '.join(KEYS)}")
    for name, value in content.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            raise Refused(f"{path}: {name!r} is {describe(value)}, not a tensor, and no "
                          f"{' or '.join(KEYS)} beside it holds the tensors; there are "
                          f"{', '.join(map(str, list(content)[:8]))}")
    return content


def describe(value):
    if isinstance(value, torch.Tensor):
        return "a single tensor"
    return f"an empty {type(value).__name__}" if value in ({}, [], ()) else type(value).__name__


def converted(tensors, path):
    """Tensors that safetensors can write: names without PREFIX, each with memory of its own."""
    result = {}
    for name, tensor in tensors.items():
        name = name.removeprefix(PREFIX)
        if name in result:
            raise Refused(f"{path}: holds both {name} and {PREFIX}{name}")
        result[name] = tensor.detach().to_dense().clone(memory_format=torch.contiguous_format)
    return result


def main():
    parser = argparse.ArgumentParser(
        description="PyTorch weights (.pth) to safetensors",
        epilog="example: convert_pth.py resnet18.pth, then --set model.init=resnet18.safetensors")
    parser.add_argument("weights", type=pathlib.Path, metavar="WEIGHTS.pth")
    parser.add_argument("out", type=pathlib.Path, nargs="?", metavar="OUT.safetensors",
                        help="default: beside WEIGHTS.pth")
    arguments = parser.parse_args()
    path = arguments.weights
    out = arguments.out or path.with_suffix(".safetensors")
    try:
        if out == path:
            raise Refused(f"{path}: would be overwritten; name another OUT.safetensors")
        tensors = converted(state_dict(load(path), path), path)
        try:
            save_file(tensors, out, metadata={"format": "pt"})
        except Exception as error:
            raise Refused(f"{out}: cannot be written: {first_line(error)}") from None
    except Refused as error:
        print(f"convert_pth.py: {error}", file=sys.stderr)
        return 3
    for name, tensor in tensors.items():
        print(f"{name}  {list(tensor.shape)}  {str(tensor.dtype).removeprefix('torch.')}")
    numbers = sum(tensor.numel() for tensor in tensors.values())
    print(f"{out}: {len(tensors)} tensors, {numbers:,} numbers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
