"""What the comparisons share: how one is registered, what it is given and what it returns."""
import dataclasses
import importlib.metadata
import importlib.util
import json
import math
import pathlib
import random
import subprocess

import safetensors.torch
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass
class Found:
    """What a comparison found: how many results were compared, and the largest difference between two of them."""
    cases: int
    difference: float | None = 0.0  # None: within what is allowed, for a test that prints no number
    note: str = ""

    def add(self, difference, cases=1):
        self.cases += cases
        if math.isnan(difference) or difference > self.difference:  # nothing is larger than NaN afterwards
            self.difference = difference


@dataclasses.dataclass
class Comparison:
    peer: str
    what: str
    allowed: float
    unit: str
    source: str | None
    compare: object

    def version(self):
        return self.source or importlib.metadata.version(self.peer).split("+")[0]


COMPARISONS = []


def comparison(peer, what, allowed, unit="", source=None):
    """Registers a function of a Setting that returns a Found. The comparison fails if the difference is above `allowed`.
    `source` is the origin of the values of a peer that is not installed."""
    def register(compare):
        COMPARISONS.append(Comparison(peer, what, allowed, unit, source, compare))
        return compare
    return register


class Setting:
    """The programs that were built, and a folder to work in."""

    def __init__(self, build, scratch):
        self.build, self.scratch = pathlib.Path(build).resolve(), pathlib.Path(scratch)

    def folder(self, name):
        folder = self.scratch / name
        folder.mkdir(parents=True)
        return folder

    def run(self, program, *words, stdin=None, environment=None):
        """Standard output of a program below the build folder, as text."""
        command = [str(self.build / program), *map(str, words)]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            said = done.stdout[-2000:] + done.stderr[-2000:]
            raise RuntimeError(f"{' '.join(command)[:300]} ended with {done.returncode}\n{said}")
        return done.stdout

    def cachet(self, *words):
        return self.run("cachet", *words)

    def computed(self, program, cases, tensors):
        """The result of each case by a program of tests/peers/tensor_cases.h."""
        files = [self.scratch / f"{program}.{name}" for name in ("json", "tensors", "results")]
        files[0].write_text(json.dumps(cases))
        safetensors.torch.save_file({name: tensor.clone().contiguous() for name, tensor in tensors.items()}, files[1])
        self.run(program, *files)
        results = safetensors.torch.load_file(files[2])
        return [results[str(i)] for i in range(len(cases))]


def drawer(name):
    """A generator of random numbers for each purpose, the same in every run."""
    return random.Random(f"peers {name}")


def torch_drawer(name):
    return torch.Generator().manual_seed(drawer(name).getrandbits(63))


def script(path):
    """A program of the repository, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
