"""What README.md and docs/ show is true: blocks are run, generated text is current.

    ```toml NAME.toml       written to NAME.toml, for the blocks that follow
    ```sh run               run in a folder that has examples/ and a shortened fedvg
    ```sh                   not run here; commands of ./dev must exist
    ```cpp PATH             a part of the file PATH; C++ that is not there must compile
"""

import os
import re
import subprocess
import unittest

from example import PROGRAM, SOURCE, ExampleTest, fenced_blocks

TORCH = os.environ.get("FEDVG_TORCH_DIR", "")
DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


class Documents(ExampleTest):
    def test_blocks_run(self):
        ran = 0
        for document in DOCUMENTS:
            for info, text in fenced_blocks(document):
                with self.subTest(document.name, block=text[:60]):
                    language, _, rest = info.partition(" ")
                    if language == "toml":
                        self.assertRegex(rest, r"^\w+\.toml$", "a toml block names its file")
                        (self.folder / rest).write_text(text)
                    elif info == "sh run":
                        self.run_in_folder("bash", "-euo", "pipefail", "-c", text)
                        ran += 1
                    elif language == "sh":
                        self.check_commands(text)
        self.assertGreater(ran, 3)

    def check_commands(self, text):
        known = set(re.findall(r"^  (\w+) ", self.run_in_folder(SOURCE / "dev", "help"), re.M))
        for command in re.findall(r"^\./dev (\w+)", text, re.M):
            self.assertIn(command, known)

    def test_toml_blocks_are_accepted(self):
        for document in DOCUMENTS:
            for info, text in fenced_blocks(document):
                if info.startswith("toml"):
                    (self.folder / "block.toml").write_text(text)
                    self.run_in_folder("fedvg", "check", "block.toml")

    def test_code_is_that_of_the_files(self):
        for document in DOCUMENTS:
            for info, text in fenced_blocks(document):
                path = SOURCE / info[4:]
                if info.startswith("cpp ") and path.exists():
                    self.assertIn(text, path.read_text(), f"{document.name}: {info}")

    def test_code_of_new_files_compiles(self):
        if not TORCH:
            self.skipTest("FEDVG_TORCH_DIR names no torch")
        for document in DOCUMENTS:
            for info, text in fenced_blocks(document):
                name = info[4:]
                if not info.startswith("cpp ") or (SOURCE / name).exists():
                    continue
                (self.folder / "block.cpp").write_text(text)
                done = subprocess.run(
                    ["c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                     f"-I{SOURCE}/include", "-isystem", f"{TORCH}/include",
                     "-isystem", f"{TORCH}/include/torch/csrc/api/include", "block.cpp"],
                    cwd=self.folder, text=True, capture_output=True)
                self.assertEqual(done.returncode, 0, f"{document.name}: {name}\n{done.stderr}")

    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
                self.assertTrue((document.parent / target).exists(), f"{document.name}: {target}")

    def test_the_reference_is_current(self):
        now = subprocess.run([PROGRAM, "list", "--markdown"], text=True, capture_output=True,
                             check=True).stdout
        kept = (SOURCE / "docs/configuration.md").read_text()
        self.assertTrue(kept == now, "docs/configuration.md is stale: "
                        "build/release/bin/fedvg list --markdown > docs/configuration.md")

    def test_every_public_header_is_named(self):
        readme = (SOURCE / "README.md").read_text()
        for header in (SOURCE / "include/fedvg").iterdir():
            self.assertIn(f"`fedvg/{header.name}`", readme)

    def test_columns_are_described(self):
        formats = (SOURCE / "docs/formats.md").read_text()
        self.run_in_folder("fedvg", "run", "examples/fashion_mnist_fedvg.toml", "--out", "run")
        for table in ("rounds", "clients", "layers"):
            header = (self.folder / f"run/{table}.csv").read_text().splitlines()[0]
            for column in header.split(","):
                self.assertIn(f"`{column}`", formats)
        for file in (self.folder / "run").iterdir():
            self.assertIn(f"`{file.name}`", formats)


if __name__ == "__main__":
    unittest.main()
