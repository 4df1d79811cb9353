"""Partitions from the command line: printed, written, and read back by a run."""

import json
import unittest

from program import ProgramTest

POOLED = ("data.split=pooled", "partition.scheme=dirichlet-client")


class Partition(ProgramTest):
    def rows(self, text):
        """Name of each line of the printed table, and its numbers."""
        lines = text.split("\n\n")[1].splitlines()[1:]
        return {line.split()[0]: [int(word) for word in line.split()[1:]] for line in lines}

    def test_a_pooled_partition_counts_and_writes_its_test_set(self):
        done = self.succeeds("partition", "tiny.toml", "-o", "p.json", *self.set_each(*POOLED))
        rows = self.rows(done.stdout)
        written = json.loads((self.folder / "p.json").read_text())
        # 390 samples of six clients: 65 each give 16 and 6.
        self.assertEqual(rows["test"][0], 96)
        self.assertEqual(rows["D_val"][0], 36)
        self.assertEqual(rows["clients"][0], 390 - 96 - 36)
        self.assertEqual(len(written["test"]), 96)
        self.assertEqual(len(written["validation"]), 36)
        everything = sum(written["clients"], written["test"] + written["validation"])
        self.assertEqual(sorted(everything), list(range(390)))
        self.assertEqual(written["data"]["samples"], 390)
        for k, counts in enumerate(written["counts"]):
            self.assertEqual(rows[str(k)], [sum(counts), *counts])

    def test_a_run_reads_a_pooled_partition_back(self):
        done = self.succeeds("run", "tiny.toml", "--out", "drawn", *self.set_each(*POOLED))
        self.assertIn("390 images pooled, 96 of them for the test", done.stdout)
        self.assertIn("96 test images", done.stdout)
        self.succeeds("run", "tiny.toml", "--out", "read", *self.set_each(
            "data.split=pooled", "partition.scheme=file",
            "partition.file=drawn/partition.json"))
        for name in ("rounds.csv", "clients.csv"):
            self.assertEqual(self.without_seconds("drawn", name),
                             self.without_seconds("read", name))
        self.assertEqual((self.folder / "drawn/model.safetensors").read_bytes(),
                         (self.folder / "read/model.safetensors").read_bytes())
        drawn, read = (json.loads((self.folder / run / "partition.json").read_text())
                       for run in ("drawn", "read"))
        for key in ("clients", "validation", "test", "counts", "data"):
            self.assertEqual(drawn[key], read[key], key)

    def test_other_data_refuse_a_pooled_partition(self):
        self.succeeds("partition", "tiny.toml", "-o", "p.json", *self.set_each(*POOLED))
        file = ("partition.scheme=file", "partition.file=p.json")
        self.refused_in_words(3, "written for other data", "partition", "tiny.toml",
                              *self.set_each(*file))
        self.refused_in_words(3, "written for other data", "partition", "tiny.toml",
                              *self.set_each("data.split=pooled", "data.take=299", *file))

    def test_balanced_clients_come_first(self):
        done = self.succeeds("partition", "tiny.toml", *self.set_each("partition.balanced=2"))
        rows = self.rows(done.stdout)
        self.assertEqual(rows["0"], [45, 15, 15, 15])  # of 270 for six clients
        self.assertEqual(rows["1"], rows["0"])
        self.assertIn("partition.balanced = 2", done.stderr)

    def test_a_column_of_a_table_says_who_the_clients_are(self):
        # Client 9 has 6 rows of class 0, client 10 has 4 of class 1; numbers, so 9 comes first.
        people = (10, 9, 9, 10, 9, 9, 10, 9, 9, 10)
        rows = "".join(f"{i}.5,{int(who == 10)},{who}\n" for i, who in enumerate(people))
        self.write("mine.csv", "size,label,who\n" + rows)
        self.write("test.csv", "size,label\n1,0\n2,1\n")
        self.write("mine.toml", '[data]\nname = "csv"\npath = "mine.csv"\ntest = "test.csv"\n'
                   '[partition]\nscheme = "natural"\ncolumn = "who"\n'
                   '[validation]\nsource = "none"\n[model]\nname = "mlp"\nhidden = [2]\n'
                   '[train]\nrounds = 1\nparticipation = 1.0\n')
        done = self.succeeds("partition", "mine.toml", "-o", "p.json")
        table = [line.split() for line in done.stdout.splitlines()[3:]]
        self.assertEqual(table, [["0", "9", "6", "6", "0"], ["1", "10", "4", "0", "4"],
                                 ["clients", "10", "6", "4"]])
        written = json.loads((self.folder / "p.json").read_text())
        self.assertEqual(written["clients"], [[1, 2, 4, 5, 7, 8], [0, 3, 6, 9]])
        self.refused_in_words(2, "has 2 clients", "partition", "mine.toml",
                              "--set", "partition.clients=3")
        self.succeeds("run", "mine.toml", "--out", "r")
        self.assertIn("clients = 2\n", (self.folder / "r/config.toml").read_text())
        self.succeeds("run", "r/config.toml", "--out", "again")

    def test_every_drawn_scheme_is_printed(self):
        for scheme in ("dirichlet", "dirichlet-client", "iid", "shards", "classes", "quantity"):
            with self.subTest(scheme):
                rows = self.rows(self.succeeds("partition", "tiny.toml", *self.set_each(
                    f"partition.scheme={scheme}")).stdout)
                self.assertEqual(rows["clients"], [270, 90, 90, 90])
                self.assertEqual(len(rows), 6 + 2)

    def test_a_scheme_whose_options_cannot_hold_is_refused(self):
        for code, words, *settings in (
                (2, "classes_per_client = 4", "partition.scheme=classes",
                 "partition.classes_per_client=4"),
                (2, "at most 5", "partition.balanced=6"),
                (2, "partition.column", "partition.scheme=natural"),
                (2, "does not say whose", "partition.scheme=natural", "partition.column=who"),
                (2, "their sum must be below 1", "data.split=pooled", "data.val_ratio=0.8")):
            with self.subTest(settings):
                self.refused_in_words(code, words, "partition", "tiny.toml",
                                      *self.set_each(*settings))


if __name__ == "__main__":
    unittest.main()
