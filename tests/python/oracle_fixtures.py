"""The fixtures of tests/data/oracles for tests of Python: tensors by name, and their metadata."""
import json
import pathlib

import torch
from safetensors import safe_open

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "oracles"
TOLERANCE = 1e-9  # of the largest element, at least of 1: README.md there


class Oracle:
    """One fixture. Floating tensors are float64."""

    def __init__(self, name):
        self.name = name
        with safe_open(FOLDER / f"{name}.safetensors", "pt") as file:
            self.tensors = {key: self.widened(file.get_tensor(key)) for key in file.keys()}
            self.about = {key: self.parsed(text) for key, text in (file.metadata() or {}).items()}

    @staticmethod
    def widened(tensor):
        return tensor.double() if tensor.is_floating_point() else tensor

    @staticmethod
    def parsed(text):
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text

    def __getitem__(self, key):
        return self.tensors[key]

    def __contains__(self, key):
        return key in self.tensors

    def below(self, prefix):
        """The tensors below a prefix, without it."""
        return {key.removeprefix(prefix): tensor for key, tensor in self.tensors.items() if key.startswith(prefix)}

    def close(self, actual, expected, what):
        """Raises AssertionError unless a tensor is the fixture's to its tolerance."""
        expected = self[expected] if isinstance(expected, str) else expected
        assert actual is not None and actual.shape == expected.shape, f"{self.name} {what}: {actual}"
        if expected.numel() == 0:
            return
        error = (actual.to(expected.dtype) - expected).abs().max().item() / max(1.0, expected.abs().max().item())
        assert error <= TOLERANCE, f"{self.name} {what}: {error:.1e} from the fixture"


def oracles(*prefixes):
    """All fixtures whose names begin with one of the prefixes; there have to be some."""
    names = sorted(file.stem for file in FOLDER.glob("*.safetensors") if file.stem.startswith(prefixes))
    assert names, f"no fixture in {FOLDER} begins with {prefixes}"
    return [Oracle(name) for name in names]
