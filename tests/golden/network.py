"""Networks of the golden files: layers as functions of dictionaries of float64 tensors."""

import math

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


class Network:
    """Layers in the form of the files; parameters and buffers are dictionaries by name."""

    def __init__(self, layers):
        self.layers = layers
        self.parameters, self.buffers = [], []
        for layer in layers:
            name = layer.get("name")
            if layer["type"] in ("linear", "conv2d"):
                self.parameters += [f"{name}.weight"] + [f"{name}.bias"] * layer["bias"]
            elif layer["type"] == "batchnorm2d":
                self.parameters += [f"{name}.weight", f"{name}.bias"]
                self.buffers += [f"{name}.running_mean", f"{name}.running_var",
                                 f"{name}.num_batches_tracked"]

    def flatten_order(self):
        order = []
        for layer in self.layers:
            order += [n for n in self.parameters + self.buffers
                      if n.rpartition(".")[0] == layer.get("name")]
        return order

    def fresh_buffers(self):
        fresh = {}
        for layer in self.layers:
            if layer["type"] == "batchnorm2d":
                name, count = layer["name"], layer["features"]
                fresh[f"{name}.running_mean"] = torch.zeros(count)
                fresh[f"{name}.running_var"] = torch.ones(count)
                fresh[f"{name}.num_batches_tracked"] = torch.tensor(0)
        return fresh

    def initial(self, numbers):
        """Every number rounded, so that the file says it exactly."""
        def draw(shape, scale):
            values = [round(numbers.uniform(-scale, scale), 3) for _ in range(math.prod(shape))]
            return torch.tensor(values).reshape(shape)

        w = {}
        for layer in self.layers:
            name = layer.get("name")
            if layer["type"] == "linear":
                shape = (layer["out"], layer["in"])
            elif layer["type"] == "conv2d":
                shape = (layer["out"], layer["in"], layer["kernel"], layer["kernel"])
            elif layer["type"] == "batchnorm2d":
                w[f"{name}.weight"] = 1 + draw((layer["features"],), 0.3)
                w[f"{name}.bias"] = draw((layer["features"],), 0.2)
                continue
            else:
                continue
            scale = 1 / math.sqrt(math.prod(shape[1:]))
            w[f"{name}.weight"] = draw(shape, scale)
            if layer["bias"]:
                w[f"{name}.bias"] = draw(shape[:1], scale)
        return w

    def forward(self, w, buffers, x, mode):
        """Logits and the last linear layer's input.

        mode: `train` normalises by the batch and moves the running statistics of `buffers`;
        `batch` does not move them; `cumulative` makes them the mean over the batches seen;
        `eval` normalises by them.
        """
        features = None
        for layer in self.layers:
            kind, name = layer["type"], layer.get("name")
            if kind == "linear":
                features = x
                x = x @ w[f"{name}.weight"].T
                if layer["bias"]:
                    x = x + w[f"{name}.bias"]
            elif kind == "conv2d":
                x = torch.nn.functional.conv2d(x, w[f"{name}.weight"], w.get(f"{name}.bias"),
                                               layer["stride"], layer["padding"])
            elif kind == "batchnorm2d":
                x = self.batch_norm(w, buffers, x, mode, name)
            elif kind == "tanh":
                x = torch.tanh(x)
            elif kind == "relu":
                x = torch.clamp(x, min=0)
            elif kind == "global_avg_pool":
                x = x.mean((2, 3))
            else:
                raise ValueError(kind)
        return x, features

    @staticmethod
    def batch_norm(w, buffers, x, mode, name):
        mean, var = buffers[f"{name}.running_mean"], buffers[f"{name}.running_var"]
        if mode != "eval":
            count = x.numel() // x.shape[1]
            batch_mean = x.mean((0, 2, 3))
            batch_var = ((x - batch_mean[:, None, None]) ** 2).mean((0, 2, 3))
            if mode in ("train", "cumulative"):
                tracked = buffers[f"{name}.num_batches_tracked"] + 1
                momentum = 1 / float(tracked) if mode == "cumulative" else 0.1
                unbiased = batch_var * count / (count - 1)
                buffers[f"{name}.running_mean"] = ((1 - momentum) * mean
                                                   + momentum * batch_mean.detach())
                buffers[f"{name}.running_var"] = ((1 - momentum) * var
                                                  + momentum * unbiased.detach())
                buffers[f"{name}.num_batches_tracked"] = tracked
            mean, var = batch_mean, batch_var
        shape = (1, -1, 1, 1)
        x = (x - mean.reshape(shape)) / torch.sqrt(var.reshape(shape) + 1e-5)
        return x * w[f"{name}.weight"].reshape(shape) + w[f"{name}.bias"].reshape(shape)


def cross_entropy(logits, y):
    """[B] losses."""
    return torch.logsumexp(logits, 1) - logits[torch.arange(len(y)), y]


def differentiable(w):
    return {name: value.clone().requires_grad_() for name, value in w.items()}


def gradients(loss, w):
    found = torch.autograd.grad(loss, list(w.values()), allow_unused=True)
    return {n: torch.zeros_like(v) if g is None else g for (n, v), g in zip(w.items(), found)}


def squares(tensors):
    return sum(float((t ** 2).sum()) for t in tensors.values())
