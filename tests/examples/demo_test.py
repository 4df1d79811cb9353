"""examples/demo.sh, made short: from any folder, twice in a row."""

import unittest

from example import PROGRAM, SOURCE, ExampleTest


class Demo(ExampleTest):
    def demo(self):
        environment = dict(self.environment, FEDVG_PROGRAM=PROGRAM, FEDVG_DEMO_FOLDER="demo",
                           FEDVG_DEMO_SET=" ".join(self.short))
        return self.run_in_folder("bash", SOURCE / "examples/demo.sh", env=environment)

    def test_ends_with_a_table_and_runs_again(self):
        (self.folder / "demo").mkdir()
        (self.folder / "demo/mine.txt").write_text("not the demo's")
        first = self.demo()
        table = first.splitlines()[-3:]
        self.assertTrue(table[0].startswith("method  seeds  final test_accuracy"), first)
        for line, method in zip(table[1:], ("fedavg", "fedvg")):
            self.assertRegex(line, rf"^{method} +2 +0\.\d{{4}} ± 0\.\d{{4}} ")
        for method in ("fedavg", "fedvg"):
            for seed in (1, 2):
                self.assert_run(f"demo/{method}-s{seed}")
        self.assertEqual(self.demo().splitlines()[-3:], table)
        self.assertTrue((self.folder / "demo/mine.txt").exists())


if __name__ == "__main__":
    unittest.main()
