"""What [data] does to samples before a model sees them: normalize and augment."""

import random
import unittest

from program import ProgramTest


class Input(ProgramTest):
    def run_in(self, folder, *settings):
        return self.succeeds("run", "tiny.toml", "--out", folder, *self.set_each(*settings))

    def normalised(self, folder, value):
        """The lines of a run with `normalize` = value written into the file."""
        text = (self.folder / "tiny.toml").read_text()
        name = self.write(f"{folder}.toml", text.replace('path = "set"\n',
                                                         f'path = "set"\nnormalize = {value}\n'))
        return self.succeeds("run", name, "--out", folder)

    def test_given_numbers_in_either_form(self):
        self.normalised("named", '{name = "given", mean = [0.5], std = [0.25]}')
        done = self.normalised("short", "{mean = [0.5], std = [0.25]}")
        self.assertIn("mean = [0.5]", done.stdout + done.stderr)
        self.normalised("dataset", '"dataset"')
        self.run_in("plain")
        self.run_in("parts", "data.normalize.mean=[0.5]", "data.normalize.std=[0.25]")
        self.succeeds("run", "short/config.toml", "--out", "again")
        self.assertEqual(self.model("named"), self.model("short"))
        self.assertEqual(self.model("parts"), self.model("short"))
        self.assertEqual(self.model("again"), self.model("short"))
        self.assertNotEqual(self.model("plain"), self.model("short"))
        self.assertNotEqual(self.model("plain"), self.model("dataset"))

    # U32
    def test_three_numbers_for_one_channel(self):
        self.refused_in_words(2, ["data.normalize", "3 numbers", "1 channel"], "run", "tiny.toml",
                              *self.set_each("data.normalize.mean=[0.5, 0.5, 0.5]",
                                             "data.normalize.std=[0.2, 0.2, 0.2]"))
        self.refused_in_words(2, ["mean has 1 number", "std 2"], "run", "tiny.toml",
                              *self.set_each("data.normalize.mean=[0.5]",
                                             "data.normalize.std=[0.2, 0.2]"))
        self.assertFalse((self.folder / "runs").exists())

    def test_augmentation_is_said_and_repeats(self):
        settings = ('data.augment=["flip", "crop"]', "data.augment_padding=2")
        done = self.run_in("one", *settings)
        self.assertIn("flip, crop (padding 2)", done.stdout + done.stderr)
        self.succeeds("run", "tiny.toml", "--out", "two", "--workers", "1",
                      *self.set_each(*settings))
        self.run_in("plain")
        self.assertEqual(self.model("one"), self.model("two"))
        self.assertNotEqual(self.model("one"), self.model("plain"))
        self.assertEqual((self.folder / "one" / "partition.json").read_text(),
                         (self.folder / "plain" / "partition.json").read_text())

    def test_augmentation_that_would_do_nothing(self):
        for words, settings in ((["data.augment_padding", "crop"], ["data.augment_padding=2"]),
                                (["data.augment", "twice"], ['data.augment=["flip", "flip"]']),
                                (["data.augment", "flip"], ['data.augment=["flop"]']),
                                (["6 x 6", "at most 5"],
                                 ['data.augment=["crop"]', "data.augment_padding=6"])):
            self.refused_in_words(2, words, "run", "tiny.toml", *self.set_each(*settings))
        self.assertFalse((self.folder / "runs").exists())

    # U32
    def test_gray_images_for_a_model_of_colours(self):
        resnet = self.set_each('model={name="resnet18", stem="cifar"}', "data.resize=8")
        done = self.succeeds("check", "tiny.toml", *resnet)
        self.assertIn("the one channel is repeated to the 3", done.stdout + done.stderr)
        for count in (1, 3):
            self.succeeds("check", "tiny.toml", *resnet, *self.set_each(
                f"data.normalize.mean={[0.5] * count}", f"data.normalize.std={[0.2] * count}"))
        done = self.succeeds("check", "tiny.toml", *self.set_each(
            'model={name="resnet18", stem="cifar", channels=1}', "data.resize=8"))
        self.assertNotIn("repeated", done.stdout + done.stderr)

    # U32
    def test_colour_images_for_a_model_of_one_channel(self):
        noise = random.Random(3)
        folder = self.folder / "colours"
        folder.mkdir()
        for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
            (folder / f"{name}.bin").write_bytes(b"".join(
                bytes([i % 10]) + noise.randbytes(3072) for i in range(20)))
        settings = ('data={name="cifar10", path="colours"}', "partition.min_samples=1")
        self.refused_in_words(
            2, ["model.name", "resnet18 takes images of 1 channel", "these have 3 channels"],
            "check", "tiny.toml",
            *self.set_each(*settings, 'model={name="resnet18", stem="cifar", channels=1}'))
        self.succeeds("check", "tiny.toml",
                      *self.set_each(*settings, 'model={name="resnet18", stem="cifar"}'))

    def test_features(self):
        noise = random.Random(4)
        rows = ["a,b,constant,label"]
        for i in range(120):
            label = i % 2
            rows.append(f"{noise.gauss(40 * label, 5)},{noise.gauss(0, 1)},7,{'yn'[label]}")
        self.write("rows.csv", "\n".join(rows) + "\n")
        settings = ('data={name="csv", path="rows.csv", normalize="dataset"}',
                    "partition.scheme=iid", "train.rounds=20", "train.participation=1",
                    "train.batch_size=5")
        done = self.run_in("features", *settings)
        self.assertIn("3 features, 2 classes", done.stdout + done.stderr)
        self.assertIn("1 of 3 features have one value", done.stdout + done.stderr)
        self.assertGreater(float(self.table("features", "rounds.csv")[-1]["test_accuracy"]), 0.9)
        for words, setting in ((["cnn takes images", "3 features", "mlp"], 'model={name="cnn"}'),
                               (["resnet18 takes images", "mlp"], 'model={name="resnet18"}'),
                               (["data.augment", "3 features"], 'data.augment=["flip"]'),
                               (["1 number", "3 features"],
                                'data.normalize={name="given", mean=[1], std=[2]}')):
            self.refused_in_words(2, words, "check", "tiny.toml",
                                  *self.set_each(*settings, setting))


if __name__ == "__main__":
    unittest.main()
