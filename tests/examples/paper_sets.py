"""Small data sets in the publishers' formats, at the paths that examples/paper/ names.

Pixels are noise around a brightness of the class. Everything is drawn from a fixed seed.
"""

import random
import struct
import zlib

import numpy


def write_all(folder):
    """folder/data with a set for each configuration."""
    data = folder / "data"
    data.mkdir()
    write_cifar10(data / "cifar-10-batches-bin", 500)
    write_cifar100(data / "cifar-100-binary")
    write_medmnist(data / "organamnist.npz", classes=11, counts=(2000, 100, 500))
    write_medmnist(data / "dermamnist_224.npz", classes=7, counts=(400, 30, 100), rgb=True)
    write_image_folder(data / "covid19", {"COVID": 90, "Normal": 150, "Viral Pneumonia": 60})
    write_tiny_imagenet(data / "tiny-imagenet-200", classes=20, training=60, test=10)


def pixels(label, classes, count, noise):
    base = 40 + 150 * label // classes
    return bytes(base + value % 60 for value in noise.randbytes(count))


def write_cifar10(folder, images_a_file):
    folder.mkdir()
    names = "airplane automobile bird cat deer dog frog horse ship truck"
    (folder / "batches.meta.txt").write_text("\n".join(names.split()) + "\n\n")
    noise = random.Random(1)
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        image = [bytes([label]) + pixels(label, 10, 3072, noise) for label in range(10)]
        (folder / f"{name}.bin").write_bytes(
            b"".join(image[i % 10][:-2] + struct.pack(">H", i) for i in range(images_a_file)))


def write_cifar100(folder):
    """Two images of each of the 100 classes in train.bin, one in test.bin."""
    folder.mkdir()
    noise = random.Random(2)
    for name, each in (("train", 2), ("test", 1)):
        (folder / f"{name}.bin").write_bytes(
            b"".join(bytes([label // 5, label]) + pixels(label, 100, 3072, noise)
                     for label in range(100) for _ in range(each)))


def write_medmnist(path, classes, counts, rgb=False):
    noise = numpy.random.default_rng(3)
    arrays = {}
    for part, count in zip(("train", "val", "test"), counts):
        labels = numpy.arange(count, dtype=numpy.uint8) % classes
        shape = (count, 28, 28, 3) if rgb else (count, 28, 28)
        base = (40 + 150 * labels.astype(int) // classes).reshape(-1, *[1] * (len(shape) - 1))
        arrays[f"{part}_images"] = (base + noise.integers(0, 60, shape)).astype(numpy.uint8)
        arrays[f"{part}_labels"] = labels.reshape(-1, 1)
    numpy.savez_compressed(path, **arrays)


def png(side, channels, content):
    """A PNG file of side x side pixels, gray or RGB."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(
            ">I", zlib.crc32(kind + body))

    width = side * channels
    lines = b"".join(b"\0" + content[row * width:(row + 1) * width] for row in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 0 if channels == 1 else 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b""))


def write_image_folder(folder, counts):
    noise = random.Random(4)
    for label, (name, count) in enumerate(counts.items()):
        (folder / name).mkdir(parents=True)
        for i in range(count):
            content = pixels(label, len(counts), 40 * 40, noise)
            (folder / name / f"{name}-{i + 1}.png").write_bytes(png(40, 1, content))


def write_tiny_imagenet(folder, classes, training, test):
    """The publisher's folders; what its .JPEG files hold is PNG, since files go by content."""
    noise = random.Random(5)
    wnids = [f"n{1000000 + 37 * label:08}" for label in range(classes)]
    folder.mkdir()
    (folder / "wnids.txt").write_text("".join(f"{wnid}\n" for wnid in wnids))
    (folder / "words.txt").write_text(
        "".join(f"{wnid}\tthing {label}, object\n" for label, wnid in enumerate(wnids)))
    (folder / "val/images").mkdir(parents=True)
    annotations = []
    for label, wnid in enumerate(wnids):
        (folder / "train" / wnid / "images").mkdir(parents=True)
        for i in range(training):
            (folder / f"train/{wnid}/images/{wnid}_{i}.JPEG").write_bytes(
                png(64, 3, pixels(label, classes, 3 * 64 * 64, noise)))
        for i in range(test):
            name = f"val_{label * test + i}.JPEG"
            (folder / "val/images" / name).write_bytes(
                png(64, 3, pixels(label, classes, 3 * 64 * 64, noise)))
            annotations.append(f"{name}\t{wnid}\t0\t0\t63\t63\n")
    (folder / "val/val_annotations.txt").write_text("".join(annotations))
