"""A data set of its own for tests of the program: 6 x 6 gray images of three classes.

The classes differ in which third of the rows is bright, so that a small network learns
them in a few rounds. Nothing is downloaded, and numbers are the same everywhere.
"""

import gzip
import pathlib
import random
import struct
import zlib

SIZE = 6
CLASSES = 3


def image(label, noise):
    pixels = bytearray()
    for row in range(SIZE):
        bright = row // 2 == label
        for _ in range(SIZE):
            pixels.append((160 if bright else 40) + noise.randrange(60))
    return bytes(pixels)


def images_file(images):
    return struct.pack(">IIII", 0x803, len(images), SIZE, SIZE) + b"".join(images)


def labels_file(labels):
    return struct.pack(">II", 0x801, len(labels)) + bytes(labels)


def part(count, noise):
    """Images and labels, every class as often as the others."""
    labels = [i % CLASSES for i in range(count)]
    noise.shuffle(labels)
    return [image(label, noise) for label in labels], labels


def write(folder, training=300, test=90):
    """The four files of an MNIST-like set, gzipped as usual."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    noise = random.Random(7)
    for name, count in (("train", training), ("t10k", test)):
        images, labels = part(count, noise)
        put(folder / f"{name}-images-idx3-ubyte.gz", images_file(images))
        put(folder / f"{name}-labels-idx1-ubyte.gz", labels_file(labels))
    return folder


def gray_png(value, size):
    """A PNG file of size x size pixels of one value."""
    def chunk(kind, content):
        return (struct.pack(">I", len(content)) + kind + content
                + struct.pack(">I", zlib.crc32(kind + content)))
    rows = b"".join(b"\0" + bytes([value]) * size for _ in range(size))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def put(path, content):
    path.write_bytes(gzip.compress(content, mtime=0))
