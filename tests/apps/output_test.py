"""What a command writes destroys nothing: no input, no pipe, no link; and nobody has to read it."""

import os
import pathlib
import signal
import subprocess
import threading
import unittest

from program import PROGRAM, ProgramTest


class Output(ProgramTest):
    def read_in_background(self, path):
        """What comes out of a pipe, in a list that is filled once the thread has ended."""
        content = []
        thread = threading.Thread(target=lambda: content.append(pathlib.Path(path).read_text()),
                                  daemon=True)
        thread.start()
        return thread, content

    def test_a_pipe_is_written_through(self):
        os.mkfifo(self.folder / "pipe")
        thread, content = self.read_in_background(self.folder / "pipe")
        self.succeeds("partition", "tiny.toml", "-o", "pipe")
        thread.join(60)
        self.assertTrue((self.folder / "pipe").is_fifo())
        self.succeeds("partition", "tiny.toml", "-o", "p.json")
        self.assertEqual(content, [(self.folder / "p.json").read_text()])

    def test_a_link_is_followed_and_a_folder_refused(self):
        self.succeeds("run", "tiny.toml", "--out", "r")
        self.write("target.csv", "old")
        (self.folder / "link.csv").symlink_to("target.csv")
        self.succeeds("evaluate", "r/model.safetensors", "--predictions", "link.csv")
        self.assertTrue((self.folder / "link.csv").is_symlink())
        self.assertTrue((self.folder / "target.csv").read_text().startswith("sample,"))
        for command in (("evaluate", "r/model.safetensors", "--predictions"),
                        ("partition", "tiny.toml", "-o")):
            self.refused_in_words(2, "this is a folder", *command, "r")
            self.refused_in_words(2, "got nothing", *command, "")

    def test_standard_output_is_not_written_over(self):
        with open(self.folder / "all", "w") as file:
            subprocess.run([PROGRAM, "partition", "tiny.toml", "-o", "/dev/stdout"],
                           cwd=self.folder, stdout=file, stderr=subprocess.DEVNULL, check=True)
        text = (self.folder / "all").read_text()
        self.assertTrue(text.startswith('{"source"'), text[:80])
        self.assertIn("}\n", text)
        self.assertIn("\n clients      270", text)  # the table, behind it

    def test_an_input_is_no_output(self):
        self.succeeds("run", "tiny.toml", "--out", "r")
        self.succeeds("partition", "tiny.toml", "-o", "p.json")
        os.link(self.folder / "p.json", self.folder / "hard.json")
        (self.folder / "link.toml").symlink_to("tiny.toml")
        evaluate = ("evaluate", "r/model.safetensors", "--predictions")
        partition = ("partition", "tiny.toml", *self.set_each(
            "partition.scheme=file", "partition.file=p.json"), "-o")
        images = "set/train-images-idx3-ubyte.gz"
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for name, *command in (("model", *evaluate, "r/model.safetensors"),
                               ("configuration", *evaluate, "r/config.toml"),
                               ("data.path", *evaluate, images),
                               ("partition.file", *partition, "p.json"),
                               ("partition.file", *partition, "./hard.json"),
                               ("configuration", *partition, "tiny.toml"),
                               ("configuration", *partition, "link.toml"),
                               ("data.path", *partition, images)):
            with self.subTest(command):
                self.refused_in_words(2, ["is read as ", name], *command)
        self.assertEqual(before, {path: path.read_bytes() for path in self.folder.rglob("*")
                                  if path.is_file()})


class NobodyReads(ProgramTest):
    """A run whose standard output is closed goes on; log.txt has every line."""

    def assert_a_whole_run(self, returned, messages):
        self.assertEqual(returned, 0, messages)
        self.assert_whole("r")
        self.assertEqual(len(self.table("r", "rounds.csv")), 200)
        self.model("r")
        return (self.folder / "r" / "log.txt").read_text()

    def test_a_pipe_that_closes(self):
        process = subprocess.Popen(
            [PROGRAM, "run", "tiny.toml", "--out", "r", "--set", "train.rounds=200"],
            cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        self.addCleanup(process.kill)
        process.stdout.readline()
        process.stdout.close()
        messages = process.stderr.read()
        process.stderr.close()
        log = self.assert_a_whole_run(process.wait(timeout=60), messages)
        self.assertEqual(messages.count("the run goes on, and r/log.txt has what it prints"), 1)
        self.assertNotIn("error", messages)
        self.assertIn("finished    200 rounds", log)

    def test_no_standard_output_at_all(self):
        done = subprocess.run(
            ["sh", "-c", 'exec "$0" run tiny.toml --out r --set train.rounds=200 >&- 2>&-', PROGRAM],
            cwd=self.folder, env=self.environment(), timeout=300)
        log = self.assert_a_whole_run(done.returncode, "")
        # Its lines must not get into the file that was opened first.
        self.assertTrue((self.folder / "r/config.toml").read_text().startswith("seed"))
        self.assertEqual(log.count("finished    200 rounds"), 1)

    def test_a_short_command_is_quiet_about_it(self):
        done = subprocess.run(["sh", "-c", '"$0" list --markdown | head -1', PROGRAM],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
