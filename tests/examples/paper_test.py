"""examples/paper/: each setting is that of the paper's table, is accepted and runs; every
point of every sweep is accepted. The data are small sets at the paths that the files name."""

import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib
import unittest

import paper_sets
from example import PROGRAM, SOURCE

PAPER = SOURCE / "examples/paper"

# The paper's table: clients, share of a round, batch, and pixels to which images are brought.
SETTINGS = {
    "cifar10_resnet18": (100, 0.1, 32, 0),
    "organamnist_resnet18": (100, 0.1, 32, 0),
    "tiny_imagenet_resnet50": (100, 0.1, 128, 0),
    "covid19_resnet50": (20, 0.25, 32, 224),
    "covid19_vit_s_16": (20, 0.25, 32, 224),
    "dermamnist_resnet50": (25, 0.2, 32, 224),
    "dermamnist_vit_b_16": (25, 0.2, 32, 224),
}

ABLATIONS = {"methods", "norm", "granularity", "validation_imbalance", "validation_size",
             "validation_noise", "external_validation"}

SHORT = ["partition.clients=4", "partition.min_samples=1", "train.rounds=1", "train.epochs=1",
         "train.participants=2", "train.steps=1", "validation.size=8"]


def configuration(name):
    return tomllib.loads((PAPER / f"{name}.toml").read_text())


def setting(key, value):
    """An assignment of --set."""
    return f"{key}={json.dumps(value)}"


def points(sweep):
    """The settings of each run of a sweep but for its seed: rows of [zip] x values of [grid]."""
    zipped = sweep.get("zip", {})
    rows = [dict(zip(zipped, row)) for row in zip(*zipped.values(), strict=True)] or [{}]
    grid = sweep.get("grid", {})
    for row, values in itertools.product(rows, itertools.product(*grid.values())):
        yield {**row, **dict(zip(grid, values))}


class PaperTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        paper_sets.write_all(cls.folder)
        (cls.folder / "examples").symlink_to(SOURCE / "examples")

    def fedvg(self, command, path, settings=(), *words):
        """Standard output of a command that must succeed."""
        arguments = [word for text in settings for word in ("--set", text)]
        done = subprocess.run([PROGRAM, command, path, *arguments, *words], cwd=self.folder,
                              text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=600, env=dict(os.environ, NO_COLOR="1"))
        self.assertEqual(done.returncode, 0, f"{path} {settings}\n{done.stdout}{done.stderr}")
        return done.stdout


class Settings(PaperTest):
    def test_the_folder_holds_just_these(self):
        self.assertEqual({path.stem for path in PAPER.glob("*.toml")}, set(SETTINGS))

    def test_they_are_those_of_the_paper(self):
        for name, (clients, join, batch, size) in SETTINGS.items():
            with self.subTest(name):
                given = configuration(name)
                self.assertEqual(given["partition"], {
                    "scheme": "dirichlet", "alpha": 0.1, "clients": clients, "min_samples": 10})
                self.assertEqual(given["train"], {
                    "rounds": 100, "participation": join, "epochs": 5, "batch_size": batch,
                    "optimizer": {"name": "sgd", "lr": 0.01}})
                self.assertEqual(given["data"].get("resize", 0), size)
                self.assertEqual(given["data"]["split"], "pooled")
                self.assertTrue(name.endswith(given["model"]["name"]))

    def test_each_is_accepted_as_it_stands(self):
        for name in SETTINGS:
            with self.subTest(name):
                resolved = tomllib.loads(self.fedvg("check", f"examples/paper/{name}.toml"))
                for section, table in configuration(name).items():
                    for key, value in table.items():
                        if key not in ("path", "optimizer"):
                            self.assertEqual(resolved[section][key], value, f"{section}.{key}")

    def test_each_runs_shortened(self):
        for name in SETTINGS:
            with self.subTest(name):
                given = configuration(name)
                small = ["data.resize=32"] * ("resize" in given["data"])
                small += ["model.image_size=32"] * ("image_size" in given["model"])
                self.fedvg("run", f"examples/paper/{name}.toml", SHORT + small, "--out", name)
                header, *lines = (self.folder / name / "rounds.csv").read_text().splitlines()
                self.assertEqual(len(lines), 1)
                row = dict(zip(header.split(","), lines[0].split(",")))
                self.assertEqual((row["participants"], row["rejected"]), ("2", "0"))
                self.assertTrue(0 <= float(row["test_accuracy"]) <= 1, row)
                self.assertTrue(0 < float(row["weight_min"]) <= float(row["weight_max"]) < 1, row)
                model = self.folder / name / "model.safetensors"
                self.assertGreater(model.stat().st_size, 40e6)
                model.unlink()

    def test_weights_for_init_are_named(self):
        for name in SETTINGS:
            model = configuration(name)["model"]["name"]
            self.assertIn(f'\n# init = "{model}.safetensors"\n',
                          (PAPER / f"{name}.toml").read_text())


class Sweeps(PaperTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # D_val of 2,500 images needs more of them.
        (cls.folder / "many").mkdir()
        paper_sets.write_cifar10(cls.folder / "many/cifar-10-batches-bin", 4700)

    def test_the_folder_holds_just_the_ablations(self):
        self.assertEqual({path.stem for path in (PAPER / "sweeps").iterdir()}, ABLATIONS)

    def test_form(self):
        for name in ABLATIONS:
            with self.subTest(name):
                sweep = tomllib.loads((PAPER / f"sweeps/{name}.toml").read_text())
                self.assertLessEqual(set(sweep), {"base", "out", "seeds", "grid", "zip"})
                self.assertTrue((PAPER / "sweeps" / sweep["base"]).is_file())
                self.assertEqual(sweep["out"], f"sweeps/paper-{name.replace('_', '-')}")
                self.assertEqual(sweep["seeds"], [1, 2, 3, 4, 5])
                self.assertGreater(len(list(points(sweep))), 3)

    def test_every_point_is_accepted(self):
        for name in sorted(ABLATIONS):
            path = PAPER / f"sweeps/{name}.toml"
            sweep = tomllib.loads(path.read_text())
            for point in points(sweep):
                with self.subTest(name, **point):
                    settings = [setting(key, value) for key, value in point.items()]
                    if "validation.size" in point:
                        settings.append(setting("data.path", "many/cifar-10-batches-bin"))
                    resolved = tomllib.loads(self.fedvg("check", path.parent / sweep["base"],
                                                        settings))
                    self.assert_resolved(resolved, point)

    def test_fedvg_sweep_plans_just_these(self):
        for name in sorted(ABLATIONS):
            with self.subTest(name):
                sweep = tomllib.loads((PAPER / f"sweeps/{name}.toml").read_text())
                shown = self.fedvg("sweep", f"examples/paper/sweeps/{name}.toml", (), "--dry-run")
                lines = shown.splitlines()
                self.assertEqual(len(lines), len(list(points(sweep))) * len(sweep["seeds"]))
                self.assertEqual(len({line.split()[0] for line in lines}), len(lines))
                for line in lines:
                    self.assertTrue(line.startswith(f"{sweep['out']}/"), line)
                self.assertFalse((self.folder / sweep["out"]).exists())

    def assert_resolved(self, resolved, point):
        for key, value in point.items():
            found = resolved
            for word in key.split("."):
                found = found[word]
            if key in ("validation.path", "validation.mapping") and value:
                value = str(self.folder.resolve() / value)
            self.assertEqual(found, value, key)

    def test_external_images_are_mapped(self):
        sweep = tomllib.loads((PAPER / "sweeps/external_validation.toml").read_text())
        point = list(points(sweep))[-1]
        settings = [setting(key, value) for key, value in point.items()]
        out = subprocess.run(
            [PROGRAM, "check", PAPER / "cifar10_resnet18.toml",
             *(word for text in settings for word in ("--set", text))],
            cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(out.returncode, 0, out.stderr)
        # Seven classes, two images each.
        self.assertRegex(out.stderr, r"D_val: 14 samples of .*train\.bin")


class Readme(unittest.TestCase):
    def test_it_names_every_file(self):
        text = (PAPER / "README.md").read_text()
        names = {path.name for path in PAPER.rglob("*.*") if path.is_file()} - {"README.md"}
        self.assertLessEqual(names, set(re.findall(r"[\w]+\.(?:toml|csv)", text)))

    def test_external_mapping_is_that_of_the_paper(self):
        lines = (PAPER / "cifar100_to_cifar10.csv").read_text().splitlines()
        self.assertEqual(set(lines[1:]), {
            "automobile,bus", "automobile,motorcycle", "cat,leopard", "cat,lion", "cat,tiger",
            "dog,wolf", "dog,fox"})


if __name__ == "__main__":
    unittest.main()
