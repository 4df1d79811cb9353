"""A network some taps of whose kernels meet no pixel: what a run says of it and leaves."""

import json
import unittest

from program import ProgramTest

RESNET = ["--set", 'model={name="resnet18"}', "--set", "data.resize=8",
          "--set", "train.rounds=1", "--set", "train.participation=0.2",
          "--set", "report.layers_every=0"]
ALL = 11178051  # of ResNet-18 with 3 classes


class LiveTaps(ProgramTest):
    def run_resnet(self, folder, *settings):
        done = self.succeeds("run", "tiny.toml", "--out", folder, *RESNET,
                             *self.set_each(*settings))
        text = done.stdout + done.stderr
        return text, json.loads((self.folder / folder / "environment.json").read_text())

    def test_are_told_and_the_file_is_whole(self):
        text, environment = self.run_resnet("live")
        live = environment["weights"]["live_taps"]
        self.assertEqual(environment["weights"]["all"], ALL)
        self.assertLess(live, ALL // 2)
        self.assertIn(f"live taps {live / 1e6:.1f} of 11.2 M weights", text)
        header, _ = self.model("live")
        self.assertEqual(header["layer4.1.conv2.weight"]["shape"], [512, 512, 3, 3])

    def test_can_be_left_off(self):
        text, environment = self.run_resnet("whole", "engine.live_taps=false")
        self.assertEqual(environment["weights"], {"all": ALL, "live_taps": ALL})
        self.assertNotIn("live taps", text)

    def test_are_off_and_said_where_the_method_moves_dead_taps(self):
        text, environment = self.run_resnet("feddyn", 'method={name="feddyn"}',
                                            "method.correction.proximal=false")
        self.assertEqual(environment["weights"]["live_taps"], ALL)
        self.assertIn("engine.live_taps: off, weights that no pixel meets are kept, as "
                      "method.correction feddyn", text)


if __name__ == "__main__":
    unittest.main()
