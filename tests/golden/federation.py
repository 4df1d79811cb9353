"""What one method computes on one case, round by round: the formulas, slow and plain."""

import math

import torch

from network import Network, cross_entropy, differentiable, gradients, squares

ROWS = {
    "fedavg": {},
    "fedavgm": {"server": {"name": "sgd", "momentum": 0.9, "nesterov": True}},
    "fedadam": {"server": {"name": "adam"}},
    "fedyogi": {"server": {"name": "yogi"}},
    "fedadagrad": {"server": {"name": "adagrad"}},
    "fedprox": {"correction": {"name": "fedprox"}},
    "scaffold": {"correction": {"name": "scaffold"}, "weighting": {"name": "uniform"}},
    "feddyn": {"correction": {"name": "feddyn"}},
    "elastic": {"correction": {"name": "elastic"}},
    "fednova": {"correction": {"name": "fednova"}},
    "moon": {"correction": {"name": "moon"}},
    "fedvg": {"weighting": {"name": "fedvg"}},
}
# The file's name of a hyperparameter: part and option.
TARGETS = {
    "server_lr": ("server", "lr"), "server_momentum": ("server", "momentum"),
    "nesterov": ("server", "nesterov"), "beta1": ("server", "beta1"),
    "beta2": ("server", "beta2"), "global_lr": ("server", "lr"),
    "alpha": ("correction", "alpha"), "max_grad_norm": ("correction", "max_grad_norm"),
    "proximal": ("correction", "proximal"), "mu": ("correction", "mu"),
    "temperature": ("correction", "temperature"), "accumulate": ("correction", "accumulate"),
}
# What the reference does where the file does not say: see hyperparameters in make_golden.py.
REFERENCE = {"feddyn": {"proximal": False}, "elastic": {"accumulate": True}}
# Names of the reference's file only.
VARIANTS = {
    "fedvg-l2": {"norm": "l2"},
    "fedvg-layerwise": {"granularity": "layer"},
    "fedvg-blockwise": {"granularity": "block"},
    "fedvg-spectral": {"norm": "spectral", "granularity": "layer"},
}
ELASTIC_TAU = {"tau": ("correction", "tau")}
ADAPTIVE_TAU = {"tau": ("server", "tau")}


def as_part(value):
    return {"name": value} if isinstance(value, str) else dict(value)


def fedvg_of(case):
    """FedVG's rule; without `reduce` the reference's: the gradient of the mean over batches of
    the summed loss, which is the mean loss's times the mean batch size, and norms summed."""
    given = case["hyperparameters"]["fedvg"]
    rule = {"name": "fedvg", "eps": given["eps"], "reduce": given.get("reduce", "sum")}
    if given.get("norm_order", 1) == 2:
        rule["norm"] = "l2"
    if "reduce" not in given:
        batches = case["validation"]
        rule["scale"] = sum(len(b["y"]) for b in batches) / len(batches)
    return rule


def parts_of(name, case, entry):
    """Correction, weighting, server optimizer, local optimizer and rules of one entry."""
    given = entry.get("parts", {})
    fedvg = fedvg_of(case) | VARIANTS.get(name, {})
    row, plus, other = given.get("method", "fedvg" if name in VARIANTS else name).partition("+")
    if row == "fedvg" and plus:
        row, other = other, row
    parts = {"correction": {"name": "none"}, "weighting": {"name": "size"},
             "server": {"name": "sgd"}}
    for kind, part in ROWS[row].items():
        parts[kind] = dict(part)
    parts["correction"] |= REFERENCE.get(row, {})
    own = {}
    for names, values in case["hyperparameters"].items():
        if row in names.split("/"):
            own = values
    for key, value in own.items():
        tau = ELASTIC_TAU if row == "elastic" else ADAPTIVE_TAU
        kind, option = (TARGETS | tau).get(key, (None, None))
        if kind:
            parts[kind][option] = value
    if row == "fedvg" or other:
        parts["weighting"] = fedvg
    if row == "fedavg" and other:
        parts["weighting"] = {"name": "mix", "of": [fedvg, "size"]}
    client = case["hyperparameters"]["client"]
    parts["train"] = {"epochs": client["epochs"], "steps": 0,
                      "clip": client.get("max_grad_norm", 0), "buffers": "global"}
    if row == "scaffold" and not own.get("full_epochs"):
        parts["train"]["steps"] = client["epochs"]
    parts["optimizer"] = {"name": client["optimizer"]}
    for key, value in client.items():
        if key not in ("optimizer", "epochs", "batch_size", "shuffle", "max_grad_norm"):
            parts["optimizer"][key] = value
    parts["scoring"] = {"mode": "train"}
    for kind in ("correction", "weighting", "server", "optimizer"):
        if kind in given:
            parts[kind] = as_part(given[kind])
    for kind in ("train", "scoring"):
        parts[kind] |= given.get(kind, {})
    return parts


# ----------------------------------------------------------------------- one federation


class Federation:
    """The rounds of one method on one case."""

    def __init__(self, case, parts):
        self.case, self.parts = case, parts
        self.net = Network(case["network"]["layers"])
        self.w = {n: torch.tensor(case["init"][n]) for n in self.net.parameters}
        self.buffers = self.net.fresh_buffers()
        self.data = [self.batches(client) for client in case["data"]]
        self.probe = [self.batches(client) for client in case["probe"]]
        self.validation = self.batches(case["validation"])
        self.population = case["population"]
        self.client_state = {}          # correction's, by client
        self.client_buffers = {}        # train.buffers = local
        self.server_state = {}
        self.c = {n: torch.zeros_like(v) for n, v in self.w.items()}    # scaffold
        self.sum_h = {n: torch.zeros_like(v) for n, v in self.w.items()}  # feddyn

    @staticmethod
    def batches(given):
        return [(torch.tensor(b["x"]), torch.tensor(b["y"])) for b in given]

    # -- the client

    def train(self, client):
        """An update: delta, buffers, samples, steps, path, note, new state. None: no step."""
        kind = self.parts["correction"]["name"]
        rules = self.parts["train"]
        state = self.client_state.get(client, {})
        buffers = dict(self.buffers)
        if rules["buffers"] == "local":
            buffers = dict(self.client_buffers.get(client, self.buffers))
        elif rules["buffers"] == "reset":
            buffers = self.net.fresh_buffers()
        omega = self.sensitivity(client, buffers) if kind == "elastic" else None

        usable = [b for b in self.data[client] if not self.net.buffers or len(b[1]) > 1]
        if not usable:
            return None
        plan = usable * rules["epochs"]
        if rules["steps"]:
            plan = [usable[i % len(usable)] for i in range(rules["steps"])]

        w = differentiable(self.w)
        optimizer = self.local_optimizer(list(w.values()))
        for x, y in plan:
            logits, z = self.net.forward(w, buffers, x, "train")
            loss = cross_entropy(logits, y).mean()
            if kind == "moon":
                loss = loss + self.contrast(state, x, z)
            g = self.corrected(gradients(loss, w), w, state)
            if rules["clip"] > 0:
                g = clipped(g, rules["clip"])
            for name, value in w.items():
                value.grad = g[name]
            optimizer.step()
        w = {n: v.detach() for n, v in w.items()}
        update = {"client": client, "w": w, "buffers": buffers, "steps": len(plan),
                  "delta": {n: w[n] - self.w[n] for n in w}, "omega": omega,
                  "samples": sum(len(y) for _, y in self.data[client])}
        update["path"] = self.path_length(len(plan))
        update["state"] = self.next_state(update, state)
        return update

    def local_optimizer(self, w):
        options = dict(self.parts["optimizer"])
        name = options.pop("name")
        if name == "sgd":
            return torch.optim.SGD(w, **options)
        betas = (options.pop("beta1", 0.9), options.pop("beta2", 0.999))
        kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
        return kind(w, betas=betas, **options)

    def path_length(self, steps):
        """Where steps at learning rate 1 end under a constant gradient of -1, by doing them."""
        options = dict(self.parts["optimizer"])
        if options.pop("name") != "sgd":
            return None
        options |= {"lr": 1.0, "weight_decay": 0.0}
        place = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.SGD([place], **options)
        for _ in range(steps):
            place.grad = -torch.ones(1)
            optimizer.step()
        return float(place.detach())

    def corrected(self, g, w, state):
        correction = self.parts["correction"]
        kind = correction["name"]
        w = {n: v.detach() for n, v in w.items()}
        if kind == "fedprox":
            mu = correction.get("mu", 0.01)
            return {n: g[n] + mu * (w[n] - self.w[n]) for n in g}
        if kind == "scaffold":
            return {n: g[n] + self.c[n] - state.get("c", self.zero())[n] for n in g}
        if kind == "feddyn":
            alpha, h = correction.get("alpha", 0.1), state.get("h", self.zero())
            local = 1.0 if correction.get("proximal", True) else 0.0
            g = {n: g[n] + alpha * (h[n] + local * w[n] - self.w[n]) for n in g}
            return clipped(g, correction.get("max_grad_norm", 10))
        return g

    def zero(self):
        return {n: torch.zeros_like(v) for n, v in self.w.items()}

    def next_state(self, update, state):
        kind = self.parts["correction"]["name"]
        delta = update["delta"]
        if kind == "scaffold":
            own = state.get("c", self.zero())
            walked = update["path"] * self.parts["optimizer"]["lr"]
            return {"c": {n: own[n] - self.c[n] - delta[n] / walked for n in own}}
        if kind == "feddyn":
            h = state.get("h", self.zero())
            return {"h": {n: h[n] + delta[n] for n in h}}
        if kind == "moon":
            return {"w": update["w"], "buffers": dict(update["buffers"])}
        return {}

    def contrast(self, state, x, z):
        correction = self.parts["correction"]
        temperature, mu = correction.get("temperature", 0.5), correction.get("mu", 5)
        with torch.no_grad():
            at_global = self.net.forward(self.w, self.buffers, x, "eval")[1]
            previous = self.net.forward(state.get("w", self.w),
                                        state.get("buffers", self.buffers), x, "eval")[1]

        def similarity(other):
            lengths = torch.sqrt((z ** 2).sum(1)) * torch.sqrt((other ** 2).sum(1))
            return (z * other).sum(1) / lengths

        near = torch.exp(similarity(at_global) / temperature)
        far = torch.exp(similarity(previous) / temperature)
        return mu * (-torch.log(near / (near + far))).mean()

    def sensitivity(self, client, buffers):
        mu = self.parts["correction"].get("mu", 0.95)
        pile_up = self.parts["correction"].get("accumulate", False)
        omega, piled = {n: 0.0 for n in self.w}, self.zero()
        if not self.probe[client]:
            return None
        for x, y in self.probe[client]:
            w = differentiable(self.w)
            g = gradients(cross_entropy(self.net.forward(w, buffers, x, "eval")[0], y).mean(), w)
            if pile_up:
                g = piled = {n: piled[n] + g[n] for n in g}
            for n in omega:
                omega[n] = mu * omega[n] + (1 - mu) * float((g[n] ** 2).sum())
        return omega

    # -- the weights

    def validation_gradient(self, w, buffers):
        mode = "eval" if self.parts["scoring"]["mode"] == "eval" else "batch"
        total = sum(len(y) for _, y in self.validation)
        w = differentiable(w)
        loss = sum(cross_entropy(self.net.forward(w, buffers, x, mode)[0], y).sum()
                   for x, y in self.validation) / total
        return gradients(loss, w)

    def norms(self, rule, w, buffers, delta):
        kind = rule.get("norm", "l1")
        if kind == "delta":
            return {n: float(d.abs().sum()) for n, d in delta.items()}
        result = {}
        for n, g in self.validation_gradient(w, buffers).items():
            g = g * rule.get("scale", 1.0)
            if kind == "l1":
                result[n] = float(g.abs().sum())
            elif kind == "linf":
                result[n] = float(g.abs().max())
            elif kind == "l2" or g.dim() == 1:
                result[n] = math.sqrt(float((g ** 2).sum()))
            else:
                matrix = g.reshape(g.shape[0], -1)
                largest = torch.linalg.eigvalsh(matrix.T @ matrix)[-1]
                result[n] = math.sqrt(max(float(largest), 0.0))
        return result

    def columns(self, rule, norms):
        """The norm that each tensor's weight comes from."""
        grain, reduce = rule.get("granularity", "model"), rule.get("reduce", "mean")
        if grain == "layer":
            return dict(norms)
        result = {}
        for n in norms:
            group = [m for m in norms if grain == "model" or block(m) == block(n)]
            total = sum(norms[m] for m in group)
            result[n] = total / len(group) if reduce == "mean" else total
        return result

    def shares(self, rule, updates):
        """For each update the share by tensor and the share by buffer; columns sum to 1."""
        kind = rule["name"]
        names, buffers = self.net.parameters, self.net.buffers
        if kind == "mix":
            rules = [as_part(one) for one in rule["of"]]
            parts = rule.get("shares") or [1] * len(rules)
            mixed = [({n: 0.0 for n in names}, {b: 0.0 for b in buffers}) for _ in updates]
            for one, part in zip(rules, parts):
                for (w, v), (w1, v1) in zip(mixed, self.shares(one, updates)):
                    for n in names:
                        w[n] += part / sum(parts) * w1[n]
                    for b in buffers:
                        v[b] += part / sum(parts) * v1[b]
            return mixed
        u = []
        if kind == "fedvg":
            u = [self.inverse_norms(rule, update) for update in updates]
        else:
            for update in updates:
                value = {"size": update["samples"], "uniform": 1.0}.get(kind)
                if kind == "accuracy":
                    value = self.accuracy(update)
                u.append(({n: value for n in names}, {b: value for b in buffers}))
            if kind == "accuracy" and all(one[0][names[0]] == 0 for one in u):
                return self.shares({"name": "uniform"}, updates)
        return [({n: one[0][n] / sum(other[0][n] for other in u) for n in names},
                 {b: one[1][b] / sum(other[1][b] for other in u) for b in buffers}) for one in u]

    def inverse_norms(self, rule, update):
        eps = rule.get("eps", 1e-8)
        columns = self.columns(rule, self.norms(rule, update["w"], update["buffers"],
                                                update["delta"]))
        floor = rule.get("score_floor", 0)
        if floor > 0:
            at_global = self.columns(rule, self.norms(rule, self.w, self.buffers, self.zero()))
            columns = {n: max(columns[n], floor * at_global[n]) for n in columns}
        u = {n: 1 / (columns[n] + eps) for n in columns}
        grain = rule.get("granularity", "model")
        first = self.net.parameters[0]
        of_buffers = {}
        for b in self.net.buffers:
            if grain == "model":
                of_buffers[b] = u[first]
            elif grain == "layer":
                of_buffers[b] = 1.0
            else:
                of_buffers[b] = u[next(n for n in u if block(n) == block(b))]
        return u, of_buffers

    def accuracy(self, update):
        right = total = 0
        for x, y in self.validation:
            logits = self.net.forward(update["w"], update["buffers"], x, "eval")[0]
            right += int((logits.argmax(1) == y).sum())
            total += len(y)
        return right / total

    # -- the server

    def round(self, cohort):
        """The weights of the cohort, one row of [1] or [tensors] each."""
        updates = [u for u in (self.train(client) for client in cohort) if u]
        weights = self.shares(self.parts["weighting"], updates)
        kind = self.parts["correction"]["name"]
        d = {}
        for n in self.w:
            if kind == "fednova":
                mean_path = sum(w[0][n] * u["path"] for w, u in zip(weights, updates))
                d[n] = mean_path * sum(w[0][n] * u["delta"][n] / u["path"]
                                       for w, u in zip(weights, updates))
            else:
                d[n] = sum(w[0][n] * u["delta"][n] for w, u in zip(weights, updates))
            if kind == "elastic":
                d[n] = d[n] * self.zeta(n, weights, updates)
        w = self.server_step(d)
        if kind == "scaffold":
            for u in updates:
                before = self.client_state.get(u["client"], {}).get("c", self.zero())
                self.c = {n: self.c[n] + (u["state"]["c"][n] - before[n]) / self.population
                          for n in self.c}
        if kind == "feddyn":
            for u in updates:
                self.sum_h = {n: self.sum_h[n] + u["delta"][n] for n in w}
            w = {n: w[n] + self.sum_h[n] / self.population for n in w}
        self.w = w
        for u in updates:
            self.client_state[u["client"]] = u["state"]
            if self.parts["train"]["buffers"] == "local":
                self.client_buffers[u["client"]] = u["buffers"]
        self.buffers = self.combined_buffers(weights, updates)
        rows = {u["client"]: row(w[0]) for u, w in zip(updates, weights)}
        return [rows.get(client, [0.0]) for client in cohort]

    def zeta(self, n, weights, updates):
        tau = self.parts["correction"].get("tau", 0.5)
        measured = [(w[0][n], u["omega"][n]) for w, u in zip(weights, updates) if u["omega"]]
        most = max([omega for _, omega in measured], default=0)
        return 1 + tau - (sum(w * omega for w, omega in measured) / most if most > 0 else 1)

    def server_step(self, d):
        server, state = self.parts["server"], self.server_state
        kind = server["name"]
        w = {}
        for n in self.w:
            lr = server.get("lr", 1 if kind == "sgd" else 0.1)
            if kind == "sgd":
                rho = server.get("momentum", 0)
                v = rho * state.get(("v", n), 0) + d[n]
                state["v", n] = v
                step = d[n] + rho * v if server.get("nesterov", True) else v
                w[n] = self.w[n] + lr * (step if rho else d[n])
                continue
            beta1, beta2 = server.get("beta1", 0.9), server.get("beta2", 0.999)
            m = beta1 * state.get(("m", n), torch.zeros_like(d[n])) + (1 - beta1) * d[n]
            v, square = state.get(("v", n), torch.zeros_like(d[n])), d[n] ** 2
            if kind == "adam":
                v = beta2 * v + (1 - beta2) * square
            elif kind == "yogi":
                v = v - (1 - beta2) * square * torch.sign(v - square)
            elif kind == "adagrad":
                v = v + square
            state["m", n], state["v", n] = m, v
            w[n] = self.w[n] + lr * m / (torch.sqrt(v) + server.get("tau", 1e-3))
        return w

    def combined_buffers(self, weights, updates):
        if self.parts["train"]["buffers"] != "global":
            fresh = self.net.fresh_buffers()
            with torch.no_grad():
                for x, _ in self.validation:
                    self.net.forward(self.w, fresh, x, "cumulative")
            return fresh
        result = {}
        for b in self.net.buffers:
            value = sum(w[1][b] * u["buffers"][b].double() for w, u in zip(weights, updates))
            counter = b.endswith("num_batches_tracked")
            result[b] = torch.round(value).long() if counter else value
        return result

    def flat(self):
        tensors = self.w | self.buffers
        return [float(v) for n in self.net.flatten_order() for v in tensors[n].flatten()]


def block(name):
    return name.split(".")[0]


def row(weights):
    values = [float(v) for v in weights.values()]
    return [values[0]] if len(set(values)) == 1 else values


def clipped(g, most):
    factor = min(1.0, most / (math.sqrt(squares(g)) + 1e-6))
    return {n: factor * v for n, v in g.items()}


def run(case, name, entry):
    federation = Federation(case, parts_of(name, case, entry))
    models, weights = [], []
    for cohort in case["participants"]:
        weights.append(federation.round(cohort))
        models.append(federation.flat())
    return dict(entry, **{"global": models, "weights": weights})
