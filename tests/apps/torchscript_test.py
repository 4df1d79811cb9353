"""A network out of a TorchScript file: what no run can use is refused before one starts."""

import unittest
import warnings

from program import ProgramTest

try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "this Python has no torch")
class Torchscript(ProgramTest):
    def save(self, module):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            torch.jit.script(module).save(self.folder / "net.ts")
        return self.set_each('model={file="net.ts"}')

    def assert_refused(self, words, module):
        self.write("tiny.toml", (self.folder / "tiny.toml").read_text().replace(
            'name = "mlp"\nhidden = [8]\n', ""))
        model = self.save(module)
        for command in ("check", "run"):
            self.refused_in_words(3, ["net.ts: ", *words], command, "tiny.toml", *model)
        self.assertFalse((self.folder / "runs").exists())

    def test_without_a_gradient(self):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(36, 3)

            def forward(self, x):
                with torch.no_grad():
                    return self.fc(x.flatten(1))
        self.assert_refused(["its logits have no gradient", "torch.no_grad()"], Net())

    def test_of_five_samples_only(self):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(36, 3)

            def forward(self, x):
                return self.fc(x.flatten(1))[:5]
        self.assert_refused(["forward() makes [5, 3] of samples [7, 1, 6, 6]"], Net())

    def test_with_a_cast_to_another_type(self):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(36, 3)
                self.double()

            def forward(self, x):
                return self.fc(x.flatten(1).double())
        self.assert_refused(["fc.weight is float64 in the file", "module.float()"], Net())

    def test_other_types_are_converted_and_said(self):
        for module in (torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 3)).half(),
                       torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 3)).double()):
            self.write("own.toml", (self.folder / "tiny.toml").read_text().replace(
                'name = "mlp"\nhidden = [8]\n', ""))
            run = f"r{next(module.parameters()).element_size()}"
            done = self.succeeds("run", "own.toml", "--out", run, *self.save(module))
            self.assertIn("net.ts: 1.weight is float", done.stderr)
            self.assertEqual(self.model(run)[0]["1.weight"]["dtype"], "F32")


if __name__ == "__main__":
    unittest.main()
