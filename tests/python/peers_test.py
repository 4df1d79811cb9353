"""bench/peers: who has which image, what is made of the results, and fedvg through the script."""

import contextlib
import csv
import gzip
import io
import json
import os
import pathlib
import random
import struct
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("numpy is not installed") from None

PEERS = pathlib.Path(os.environ["FEDVG_SOURCE_DIR"], "bench", "peers")
PROGRAM = os.environ["FEDVG_PROGRAM"]
sys.path.insert(0, str(PEERS))

import fedvg_program
import job
import process_tree
import results_table
import run
import systems


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        (self.folder / name).write_text(content if isinstance(content, str) else
                                        json.dumps(content))
        return str(self.folder / name)

    def a_job(self, **changes):
        settings = {"data": "data", "rounds": 5,
                    "partition": self.file("p.json", {"clients": [[1, 2], [3], [4]],
                                                      "validation": [0]}),
                    "cohorts": self.file("c.json", [[0, 2], [1, 2]])}
        return job.Job(**settings | changes)


class Partition(unittest.TestCase):
    labels = numpy.arange(2000) % job.CLASSES

    def test_every_image_has_one_owner_or_is_of_the_validation_part(self):
        drawn = job.draw_dirichlet(self.labels, clients=20, every=7)
        self.assertEqual(drawn["validation"], list(range(0, 2000, 7)))
        self.assertEqual(len(drawn["clients"]), 20)
        self.assertEqual(sorted(sum(drawn["clients"], drawn["validation"])), list(range(2000)))
        self.assertGreaterEqual(min(map(len, drawn["clients"])), job.LEAST)

    def test_labels_are_skewed_by_alpha(self):
        def most_of_one_class(alpha):
            lists = job.draw_dirichlet(self.labels, clients=10, alpha=alpha)["clients"]
            return numpy.mean([numpy.bincount(self.labels[held]).max() / len(held)
                               for held in lists])

        self.assertGreater(most_of_one_class(0.1), 0.4)
        self.assertLess(most_of_one_class(1000.0), 0.15)

    def test_the_seed_decides(self):
        first = job.draw_dirichlet(self.labels, clients=10, seed=3)
        self.assertEqual(first, job.draw_dirichlet(self.labels, clients=10, seed=3))
        self.assertNotEqual(first, job.draw_dirichlet(self.labels, clients=10, seed=4))
        json.dumps(first)  # plain numbers

    def test_what_cannot_be_is_refused(self):
        with self.assertRaisesRegex(job.JobError, "300 clients cannot have 10 images"):
            job.draw_dirichlet(self.labels, clients=300)

    def test_spread(self):
        self.assertEqual(job.spread_evenly(3, 2),
                         {"clients": [[0, 3], [1, 4], [2, 5]], "validation": []})

    def test_cohorts(self):
        rounds = job.draw_cohorts(clients=12, participants=5, rounds=4)
        self.assertEqual(len(rounds), 4)
        for cohort in rounds:
            self.assertEqual(len(set(cohort)), 5)
            self.assertTrue(set(cohort) <= set(range(12)))
        self.assertNotEqual(rounds[0], rounds[1])
        json.dumps(rounds)


class Files(FolderTest):
    def test_both_forms_of_a_partition(self):
        lists = self.file("lists.json", [[1], [2, 3]])
        self.assertEqual(job.read_partition(lists), {"clients": [[1], [2, 3]], "validation": []})
        whole = self.file("whole.json", {"clients": [[1]], "validation": [0], "counts": [[1]]})
        self.assertEqual(job.read_partition(whole), {"clients": [[1]], "validation": [0]})

    def test_a_partition_that_is_none_is_refused(self):
        for content, words in ((5, "expected a list of clients"), ([[1], []], "at least one index"),
                               ({"clients": [[3], [1, 2]], "validation": [2]},
                                "client 1 has images of the validation part"), ("{", "not JSON")):
            with self.assertRaisesRegex(job.JobError, words):
                job.read_partition(self.file("p.json", content))
        with self.assertRaisesRegex(job.JobError, "absent.json: No such file"):
            job.read_partition(self.folder / "absent.json")

    def test_cohorts_that_are_none_are_refused(self):
        for content, words in (([], "expected a list of rounds"), ([[0], [1, 2]], "round 2 has 2"),
                               ([[0], [3]], "round 2 names client 3, there are 3")):
            with self.assertRaisesRegex(job.JobError, words):
                job.read_cohorts(self.file("c.json", content), 3)

    def test_a_short_schedule_is_repeated(self):
        self.assertEqual(self.a_job().schedule(), [[0, 2], [1, 2], [0, 2], [1, 2], [0, 2]])

    def test_fedvg_needs_a_validation_part(self):
        bare = self.file("bare.json", [[1], [2]])
        self.assertEqual(self.a_job(partition=bare).validation(), [])
        with self.assertRaisesRegex(job.JobError, "has no \"validation\""):
            self.a_job(partition=bare, method="fedvg").validation()

    def test_a_job_survives_its_file(self):
        written = self.a_job(method="fedvg", epochs=2)
        written.write(self.folder / "job.json")
        self.assertEqual(job.Job.read(self.folder / "job.json"), written)


def result(system="fedvg", seconds=(9.0, 1.0, 3.0), **changes):
    return {"case": "main", "system": system, "method": "fedavg", "workers": 1, "rounds": 3,
            "epochs": 5, "malloc": "own", "round_seconds": list(seconds), "accuracy": 0.5,
            "peak_mb": 100.0, "wall_seconds": 20.0, "other_cpu_seconds": 1.0, **changes}


class Results(unittest.TestCase):
    def test_the_first_round_does_not_count(self):
        self.assertEqual(results_table.steady_seconds([9.0, 1.0, 3.0]), 2.0)
        self.assertIsNone(results_table.steady_seconds([9.0]))

    def test_repetitions_are_one_row(self):
        rows = results_table.merged([
            result(), result("flower"), result(seconds=(0.0, 7.0), peak_mb=300.0),
            result(seconds=(0.0, 4.0), accuracy=0.75, peak_mb=200.0), result(failed="no")])
        self.assertEqual([row["system"] for row in rows], ["fedvg", "flower"])
        self.assertEqual(rows[0]["seconds"], 4.0)
        self.assertEqual(rows[0]["accuracy"], 0.75)
        self.assertEqual(rows[0]["peak_mb"], 300.0)
        self.assertEqual(rows[0]["runs"], 3)

    def test_other_jobs_are_other_rows(self):
        changes = ({}, {"method": "fedvg"}, {"workers": 2}, {"rounds": 4}, {"epochs": 1},
                   {"malloc": "tuned"}, {"case": "small-clients"})
        rows = results_table.merged([result(**change) for change in changes])
        self.assertEqual(len(rows), len(changes))

    def test_ratio_to_fedvg_of_the_same_job(self):
        rows = results_table.with_ratios(results_table.merged([
            result(seconds=(0.0, 2.0)), result(seconds=(0.0, 5.0), workers=2),
            result("flower", (0.0, 3.0)), result("flower", (0.0, 20.0), workers=2),
            result("pfl", (0.0, 1.0), method="fedvg")]))
        self.assertEqual([row.get("ratio") for row in rows], [1.0, 1.0, 1.5, 4.0, None])

    def test_table(self):
        text = results_table.markdown([
            result(torch="2.13.0"), result("flower", (0.0, 5.0), malloc="tuned", torch="2.13.0"),
            result("pfl", failed="exit code 1"), result(method="fedvg")])
        self.assertEqual(text, """\
**main, fedavg, rounds 2 to 3, epochs: 5**

| system | workers | torch | malloc | seconds a round | ratio to fedvg | peak MB | accuracy | other load |
| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |
| fedvg | 1 | 2.13.0 | own | 2.000 | 1.00 | 100 | 0.5000 | 5% |
| flower | 1 | 2.13.0 | tuned | 5.000 | 2.50 | 100 | 0.5000 | 5% |
| pfl | 1 | - | own | failed | - | - | - | - |

**main, fedvg, rounds 2 to 3, epochs: 5**

| system | workers | torch | malloc | seconds a round | ratio to fedvg | peak MB | accuracy | other load |
| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |
| fedvg | 1 | - | own | 2.000 | 1.00 | 100 | 0.5000 | 5% |""")

    def test_table_of_rates(self):
        rate = {"case": "resnet18", "system": "fedvg", "method": "-", "workers": 2, "rounds": None,
                "epochs": None, "malloc": "own", "peak_mb": 900.0, "wall_seconds": 10.0,
                "other_cpu_seconds": 0.0, "images_per_second": {"train": 801.4, "score": 799.6}}
        self.assertEqual(results_table.markdown([rate]), """\
**ResNet-18, 32x32, images per second**

| system | workers | torch | malloc | train | score | peak MB | other load |
| --- | ---: | --- | --- | ---: | ---: | ---: | ---: |
| fedvg | 2 | - | own | 801 | 800 | 900 | 0% |""")


class Fedvg(FolderTest):
    def test_configuration(self):
        try:
            import tomllib
        except ImportError:
            self.skipTest("tomllib came with Python 3.11")
        wanted = self.a_job(method="fedvg", epochs=2, learning_rate=0.05)
        read = tomllib.loads(fedvg_program.configuration(wanted, 0.2))
        self.assertEqual(read["method"], {"name": "fedvg"})
        self.assertEqual(read["scoring"], {"budget": 0.2})
        self.assertEqual(read["partition"], {"scheme": "file", "file": wanted.partition})
        self.assertEqual(read["train"], {
            "rounds": 5, "cohorts": wanted.cohorts, "epochs": 2, "batch_size": 32,
            "optimizer": {"name": "sgd", "lr": 0.05}})
        self.assertNotIn("validation", read)
        bare = self.a_job(partition=self.file("bare.json", [[1], [2], [3]]))
        read = tomllib.loads(fedvg_program.configuration(bare))
        self.assertEqual(read["validation"], {"source": "none"})
        self.assertNotIn("scoring", read)

    def test_evaluation_is_left_out(self):
        names = ["seconds", "seconds_evaluate", "seconds_train", "seconds_score", "test_accuracy"]
        with open(self.folder / "rounds.csv", "w", newline="") as file:
            csv.writer(file).writerows([names, [5, 1.5, 3, "", 0.25], [4, "", 3.5, 0.5, 0.75]])
        self.file("environment.json", {"libtorch": "2.13.0", "fedvg": {"version": "0.1.0"}})
        read = fedvg_program.result(self.folder)
        self.assertEqual(read["round_seconds"], [3.5, 4.0])
        self.assertEqual(read["accuracy"], 0.75)
        self.assertEqual(read["score_seconds"], [0.0, 0.5])

    def test_rates_are_of_all_cores(self):
        text = json.dumps({"libtorch": "2.13.0", "workers": 2, "peak_mb": 900.5,
                           "images_per_second_core": {"train": 400.0, "score": 380.5}})
        self.assertEqual(fedvg_program.rates(text), {
            "torch": "2.13.0", "peak_mb": 900.5,
            "images_per_second": {"train": 800.0, "score": 761.0}})


class Systems(unittest.TestCase):
    def test_names_and_families(self):
        self.assertEqual([s.name for s in systems.chosen(["pfl", "blazefl", "hand-tensors"])],
                         ["hand-tensors", "pfl", "blazefl-single", "blazefl-thread",
                          "blazefl-process"])
        self.assertEqual([s.name for s in systems.chosen(["fedvg"])], ["fedvg"])
        with self.assertRaisesRegex(KeyError, "flowr"):
            systems.chosen(["flowr"])

    def test_commands(self):
        hand, pfl = systems.chosen(["hand-tensors", "pfl"])
        self.assertEqual(hand.command("python", ["job.json"], 2),
                         ["python", str(PEERS / "hand_loop.py"), "job.json", "--loop", "tensors",
                          "--threads", "2"])
        self.assertEqual(hand.omp_threads(2), 2)
        script = str(PEERS / "pfl_sim.py")
        self.assertEqual(pfl.command("python", ["job.json"], 1), ["python", script, "job.json"])
        self.assertEqual(pfl.command("python", ["job.json"], 2),
                         ["python", "-m", "torch.distributed.run", "--nproc-per-node", "2", script,
                          "job.json"])
        self.assertEqual(pfl.omp_threads(2), 1)

    def test_every_driver_is_there(self):
        for system in systems.SYSTEMS:
            if system.script:
                self.assertTrue((PEERS / system.script).is_file(), system.name)
                self.assertTrue(system.package, system.name)


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
class ProcessTree(FolderTest):
    def run_python(self, code, **keywords):
        return process_tree.run([sys.executable, "-c", code], dict(os.environ),
                                self.folder / "out", self.folder / "log", every=0.05, **keywords)

    def test_figures_of_proc(self):
        self.assertEqual(process_tree.pss_kilobytes("00-ff [rollup]\nRss:  9 kB\nPss:  7 kB\n"), 7)
        self.assertEqual(process_tree.pss_kilobytes(""), 0)
        fields = " ".join(str(i) for i in range(3, 30))
        self.assertEqual(process_tree.cpu_ticks(f"12 (a b) c) {fields}"), 14 + 15)

    def test_children_that_leave_count_and_are_ended(self):
        child = ("import os, time; os.setsid(); kept = b'x' * (64 << 20); "
                 "open('child', 'w').write(str(os.getpid())); time.sleep(600)")
        finished = self.run_python(
            "import os, subprocess, sys, time\n"
            f"os.chdir({str(self.folder)!r})\n"
            f"subprocess.Popen([sys.executable, '-c', {child!r}])\n"
            "while not os.path.exists('child') or not open('child').read(): time.sleep(0.01)\n"
            "time.sleep(0.5)\nprint('done')")
        self.assertEqual(finished.code, 0)
        self.assertEqual((self.folder / "out").read_text(), "done\n")
        self.assertGreater(finished.peak_mb, 64)
        child_pid = (self.folder / "child").read_text()
        stat = pathlib.Path("/proc", child_pid, "stat")
        self.assertTrue(not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")

    def test_codes(self):
        self.assertEqual(self.run_python("raise SystemExit(3)").code, 3)
        self.assertIsNone(self.run_python("import time; time.sleep(600)", timeout=0.2).code)


@unittest.skipUnless(sys.platform == "linux" and os.access(PROGRAM, os.X_OK),
                     "the program fedvg is not built")
class Script(FolderTest):
    """The script with fedvg alone, on a small set in Fashion-MNIST's files."""

    def setUp(self):
        super().setUp()
        noise = random.Random(1)
        for part, count in (("train", 600), ("t10k", 100)):
            labels = bytes(i % job.CLASSES for i in range(count))
            images = b"".join(bytes(noise.randrange(25) + 20 * label for _ in range(28 * 28))
                              for label in labels)
            self.zipped(f"{part}-images-idx3-ubyte.gz",
                        struct.pack(">IIII", 0x803, count, 28, 28) + images)
            self.zipped(f"{part}-labels-idx1-ubyte.gz", struct.pack(">II", 0x801, count) + labels)

    def zipped(self, name, content):
        (self.folder / name).write_bytes(gzip.compress(content))

    def script(self, *arguments):
        """Exit code, standard output and standard error."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = run.main(["--out", str(self.folder / "out"), "--fedvg", PROGRAM,
                             "--data", str(self.folder), *arguments])
        return code, out.getvalue(), errors.getvalue()

    def test_fedvg_on_given_files(self):
        partition = self.file("p.json", {"clients": [list(range(k, 600, 6)) for k in range(1, 6)],
                                         "validation": list(range(0, 600, 6))})
        cohorts = self.file("c.json", [[0, 1], [2, 4]])
        code, table, errors = self.script(
            "--systems", "fedvg,fedvg-budget", "--methods", "fedavg,fedvg", "--workers", "1",
            "--epochs", "1", "--rounds", "3", "--partition", partition, "--cohorts", cohorts)
        self.assertEqual(code, 0, errors)
        lines = (self.folder / "out" / "results.jsonl").read_text().splitlines()
        results = [json.loads(line) for line in lines]
        self.assertEqual([(r["system"], r["method"]) for r in results],
                         [("fedvg", "fedavg"), ("fedvg", "fedvg"), ("fedvg-budget", "fedvg")])
        for one in results:
            self.assertEqual(len(one["round_seconds"]), 3)
            self.assertGreater(one["peak_mb"], 10)
            self.assertGreater(min(one["round_seconds"]), 0)
        clients = next((self.folder / "out" / "runs").glob("*-fedavg-*/run/clients.csv"))
        with open(clients, newline="") as file:
            rows = [(row["round"], row["client"]) for row in csv.DictReader(file)]
        self.assertEqual(sorted(rows), [("1", "0"), ("1", "1"), ("2", "2"), ("2", "4"),
                                        ("3", "0"), ("3", "1")])
        self.assertEqual(table.count("| fedvg | 1 |"), 2)
        self.assertEqual(self.script("--table")[1], table)

    def test_a_failure_is_told(self):
        code, table, errors = self.script(
            "--systems", "fedvg", "--workers", "1", "--rounds", "2",
            "--partition", self.file("p.json", [[1], [99999]]),
            "--cohorts", self.file("c.json", [[0]]))
        self.assertEqual(code, 1)
        self.assertIn("fedvg failed: exit code 3", errors)
        self.assertIn("| failed |", table)

    def test_refusals(self):
        for words, *arguments in (
                ("--rounds must be at least 2", "--rounds", "1"),
                ("'flowr' is not one of", "--systems", "flowr"),
                ("'fedsgd' is not one of", "--methods", "fedsgd"),
                ("expected numbers", "--workers", "two"),
                ("FAMILY=PATH", "--python", "/usr/bin/python3"),
                ("only --methods fedavg", "--case", "small-clients", "--methods", "fedvg"),
                ("not for small-clients", "--case", "small-clients", "--partition", "p.json",
                 "--systems", "fedvg"),
                ("nothing has been measured", "--table")):
            code, table, errors = self.script(*arguments)
            self.assertEqual((code, table), (2, ""), arguments)
            self.assertIn(words, errors)


if __name__ == "__main__":
    unittest.main()
