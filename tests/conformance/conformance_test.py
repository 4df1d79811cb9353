"""The built fedvg-conformance on the golden files, and on files that it must not accept."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"])
PROGRAM = pathlib.Path(os.environ["FEDVG_PROGRAM"]).parent / "fedvg-conformance"
GOLDEN = SOURCE / "tests" / "golden"
SHARED = SOURCE.parent / "shared" / "conformance"
TOLERANCE = 1e-10


def conformance(*files):
    return subprocess.run([PROGRAM, *files], capture_output=True, text=True)


class GoldenFiles(unittest.TestCase):
    def check(self, path):
        methods = list(json.loads(path.read_text())["methods"])
        done = conformance(path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
        self.assertEqual([name for name, _, _ in lines], methods)
        for name, _, difference in lines:
            self.assertNotEqual(difference, "unsupported", name)
            self.assertLessEqual(float(difference), TOLERANCE, name)

    def test_own_files(self):
        files = sorted(GOLDEN.glob("*.json"))
        self.assertGreaterEqual(len(files), 4)
        for path in files:
            with self.subTest(path.name):
                self.assertLess(path.stat().st_size, 150_000)
                self.check(path)

    def test_shared_files(self):
        files = sorted(SHARED.glob("*.json"))
        if not files:
            self.skipTest("no shared/conformance beside the checkout")
        for path in files:
            with self.subTest(path.name):
                self.check(path)

    def test_files_are_what_their_programs_write(self):
        for name in ("make_golden.py", "make_torch_optim.py"):
            done = subprocess.run([sys.executable, GOLDEN / name, "--check"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class AlteredFiles(unittest.TestCase):
    """One method of plain.json, with a change."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "case.json")
        self.case = json.loads((GOLDEN / "plain.json").read_text())
        self.case["methods"] = {"fedvg": self.case["methods"]["fedvg"]}
        self.fedvg = self.case["methods"]["fedvg"]

    def run_case(self):
        self.path.write_text(json.dumps(self.case))
        return conformance(self.path)

    def refused(self, text, *words):
        """Exit 3, one line on standard error that names the file."""
        self.path.write_text(text)
        done = conformance(self.path)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in (self.path.name, *words):
            self.assertIn(word, done.stderr)

    def refused_case(self, *words):
        self.refused(json.dumps(self.case), *words)

    def test_unchanged(self):
        self.assertEqual(self.run_case().returncode, 0)

    def test_one_number_of_a_model(self):
        self.fedvg["global"][-1][7] += 1e-6
        done = self.run_case()
        self.assertEqual(done.returncode, 1)
        self.assertAlmostEqual(float(done.stdout.split()[1]), 1e-6, delta=1e-9)

    def test_one_weight(self):
        self.fedvg["weights"][0][1][0] -= 1e-6
        self.assertEqual(self.run_case().returncode, 1)

    def test_one_sample(self):
        self.case["data"][0][0]["x"][0][0] += 1e-3
        self.assertEqual(self.run_case().returncode, 1)

    def test_a_hyperparameter(self):
        self.case["hyperparameters"]["client"]["lr"] *= 1.001
        self.assertEqual(self.run_case().returncode, 1)

    def test_nan_in_a_model(self):
        self.fedvg["global"][0][0] = float("nan")
        done = self.run_case()
        self.assertEqual((done.returncode, done.stdout), (1, "fedvg nan\n"))

    def test_nan_in_a_weight(self):
        self.fedvg["weights"][0][0][0] = float("nan")
        self.assertEqual(self.run_case().returncode, 1)

    def test_infinity(self):
        for value in (float("inf"), float("-inf")):
            self.fedvg["global"][0][0] = value
            self.assertEqual(self.run_case().returncode, 1)

    def test_nan_in_the_initial_model(self):
        self.case["init"]["classifier.bias"][0] = float("nan")
        self.assertEqual(self.run_case().returncode, 1)

    def test_a_model_that_diverges(self):
        self.case["hyperparameters"]["client"]["lr"] = 1e200
        self.assertEqual(self.run_case().returncode, 1)
        self.case["hyperparameters"]["client"]["lr"] = 0.05
        # A first step of Adam is sqrt(10) rates long.
        self.fedvg["parts"] = {"server": {"name": "adam", "lr": 1e308, "tau": 1e-12}}
        done = self.run_case()
        self.assertEqual(done.returncode, 1)
        self.assertIn("fedvg nan", done.stdout)

    def test_an_unknown_method(self):
        self.case["methods"] = {"fedvgg": self.fedvg}
        done = self.run_case()
        self.assertEqual(done.stdout, "fedvgg unsupported\n")
        self.assertIn("fedvg", done.stderr)

    def test_no_json(self):
        self.refused("no json")
        self.refused("")
        self.refused('{"network": ')

    def test_no_file(self):
        done = conformance(self.path)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_missing_keys(self):
        for name in ("network", "hyperparameters", "population", "participants", "init", "data",
                     "validation", "methods"):
            with self.subTest(name):
                case = dict(self.case)
                del case[name]
                self.refused(json.dumps(case), name)

    def test_missing_tensor(self):
        del self.case["init"]["base.0.bias"]
        self.refused_case("base.0.bias")

    def test_foreign_tensor(self):
        self.case["init"]["extra"] = [1.0]
        self.refused_case("init")

    def test_reshaped_tensor(self):
        self.case["init"]["base.0.bias"] = [1.0]
        self.refused_case("base.0.bias")

    def test_ragged_batch(self):
        self.case["data"][0][0]["x"][0].pop()
        self.refused_case("ragged")

    def test_labels_without_samples(self):
        self.case["data"][0][0]["y"].pop()
        self.refused_case("y for each x")

    def test_label_that_the_network_lacks(self):
        self.case["data"][0][0]["y"][0] = 3
        self.refused_case()

    def test_images_that_do_not_fit(self):
        for batch in self.case["data"][0]:
            batch["x"] = [x[:2] for x in batch["x"]]
        self.refused_case()

    def test_rounds_that_do_not_fit(self):
        self.fedvg["global"].pop()
        self.refused_case("global")

    def test_weights_that_do_not_fit(self):
        self.fedvg["weights"][0].pop()
        self.refused_case("weights")

    def test_model_of_another_size(self):
        self.fedvg["global"][0].pop()
        self.refused_case("numbers")

    def test_participant_that_is_not_there(self):
        for cohort in ([9], [0, 0], [-1], []):
            self.case["participants"][0] = cohort
            self.fedvg["weights"][0] = [[1.0]] * len(cohort)
            self.refused_case("participants")

    def test_population_that_does_not_fit(self):
        self.case["population"] = 3
        self.refused_case("population")

    def test_unknown_layer(self):
        self.case["network"]["layers"][1]["type"] = "gelu"
        self.refused_case("gelu")

    def test_unknown_part(self):
        self.fedvg["parts"] = {"corection": "fedprox"}
        self.refused_case("corection")

    def test_wrong_type(self):
        self.case["population"] = "five"
        self.refused_case()


if __name__ == "__main__":
    unittest.main()
