"""A run on a folder of images, and what it keeps of them for the next one."""

import os
import unittest

from program import ProgramTest
from tiny_set import gray_png

CONFIGURATION = """\
[data]
name = "image-folder"
path = "images"
resize = 6
[partition]
scheme = "iid"
clients = 4
min_samples = 2
[model]
name = "mlp"
hidden = [8]
[train]
rounds = 2
participation = 0.5
epochs = 1
"""


class ImageFolder(ProgramTest):
    def setUp(self):
        super().setUp()
        for label, name in enumerate(("dark", "light")):
            folder = self.folder / "images" / name
            folder.mkdir(parents=True)
            for i in range(30):
                (folder / f"{i:02}.png").write_bytes(gray_png(150 * label + i, 8 + i % 3))
        self.write("images.toml", CONFIGURATION)

    def kept(self):
        return sorted((self.folder / "runs" / ".fedvg-cache").iterdir())

    def test_a_run_keeps_the_decoded_images_and_the_next_takes_them(self):
        done = self.succeeds("run", "images.toml", "--out", "runs/a")
        self.assertIn("test set: 15 of the 60 images held out", done.stderr)
        (kept,) = self.kept()
        self.assertEqual(kept.stat().st_size, 7 * 8 + 60 * 36)
        # Only the cache can hide that a file is broken: same size, same time.
        broken = self.folder / "images" / "dark" / "00.png"
        before = broken.stat()
        broken.write_bytes(b"x" * before.st_size)
        os.utime(broken, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.succeeds("run", "images.toml", "--out", "runs/b")
        self.assertEqual(self.kept(), [kept])
        self.assertEqual(self.without_seconds("runs/a", "rounds.csv"),
                         self.without_seconds("runs/b", "rounds.csv"))
        os.utime(broken)
        self.refused_in_words(3, ["00.png", "text", "not a PNG or JPEG image"],
                              "run", "images.toml", "--out", "runs/c")

    def test_commands_that_only_look_keep_nothing(self):
        self.succeeds("check", "images.toml")
        self.succeeds("partition", "images.toml")
        self.assertFalse((self.folder / "runs").exists())
        self.assertFalse((self.folder / ".fedvg-cache").exists())


if __name__ == "__main__":
    unittest.main()
