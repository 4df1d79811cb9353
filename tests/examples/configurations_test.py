"""Every configuration in examples/ is accepted as it stands, and runs."""

import re
import subprocess
import unittest

from example import PROGRAM, SOURCE, ExampleTest

# Every method of the paper, and FedVG with those that it is combined with.
METHODS = {"fedavg", "fedavgm", "fedprox", "scaffold", "feddyn", "elastic", "fednova", "moon",
           "fedadam", "fedyogi", "fedadagrad", "fedvg", "fedavg+fedvg", "fedavgm+fedvg",
           "fedprox+fedvg", "scaffold+fedvg", "feddyn+fedvg", "elastic+fedvg"}


def configurations():
    """Those of examples/ but for new_weighting_rule/ and paper/, which have tests of their own."""
    return sorted(path for folder in ("", "methods")
                  for path in (SOURCE / "examples" / folder).glob("*.toml"))


class Configurations(ExampleTest):
    def test_each_runs_shortened(self):
        self.assertGreater(len(configurations()), len(METHODS))
        for path in configurations():
            with self.subTest(path.name):
                out = self.run_in_folder("fedvg", "run", path, "--out", f"run-{path.stem}")
                method = re.search(r'^name = "(.*)"$', path.read_text(), re.MULTILINE)
                if path.parent.name == "methods":
                    self.assertEqual(method.group(1), path.stem)
                    self.assertIn(f"{path.stem} = ", out)
                self.assert_run(f"run-{path.stem}")

    def test_every_method_has_one(self):
        names = {path.stem for path in (SOURCE / "examples/methods").iterdir()}
        self.assertLessEqual(METHODS, names)

    def test_each_is_accepted_as_it_stands(self):
        for path in configurations():
            with self.subTest(path.name):
                done = subprocess.run([PROGRAM, "check", path], text=True, capture_output=True)
                if done.returncode == 3 and "dataset-fashion-mnist" in done.stderr:
                    self.skipTest("without Debian's dataset-fashion-mnist")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_path_of_a_machine(self):
        for path in (SOURCE / "examples").rglob("*.*"):
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"/(home|root|work|tmp)/")


if __name__ == "__main__":
    unittest.main()
