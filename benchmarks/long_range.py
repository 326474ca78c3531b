#!/usr/bin/env python3
"""One attention layer at 4,096 tokens, and the encoder layer around it, through Cachet and through PyTorch in turns:
long_range.py PATH/TO/long_range_benchmark [--rounds N]

A training step (forward, backward to input and weights) of a layer 256 wide with 4 heads, batch 4, fp32, two threads.
Each round runs both; ratios are those of one round. Prints CSV; MiB are of live tensors above the operands at the peak.
Hugging Face's layer is measured where transformers is installed.
"""
import argparse
import fnmatch
import itertools
import statistics
import subprocess
import time

import torch

from measurements import median, pairs_of, print_row, ratio_columns
from python_attention import DIM, HEADS, Elu, EncoderLayer, Glu, Performer, ReluPerformer, hugging_face_big_bird

BATCH, TOKENS, THREADS, STEPS = 4, 4096, 2, 3


def peak_mib(step):
    """The most that live tensors held during a step, above what they held before it."""
    with torch.autograd.profiler.profile(profile_memory=True) as profile:
        step()
    events = [event for event in profile.kineto_results.events() if event.name() == "[memory]"]
    held = itertools.accumulate(event.nbytes() for event in sorted(events, key=lambda event: event.start_ns()))
    return max(held) / 2**20


def python_step(layer):
    """Milliseconds and MiB of one training step."""
    x = torch.randn(BATCH, TOKENS, DIM, requires_grad=True)

    def step():
        y = layer(x)
        torch.autograd.grad(y, [x, *layer.parameters()], y.detach())

    step()
    times = []
    for _ in range(STEPS):
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times), peak_mib(step)


def compare(program, kind, pairs, rounds):
    """One kind of layer, "attention" or "encoder"; pairs of (our function, the other's name, its layer); a string as the
    layer is a function of our own program."""

    def ours(name):
        line = subprocess.run([program, f"--{kind}", name], check=True, capture_output=True, text=True).stdout
        return [float(cell) for cell in line.split("\t")[1:]]

    for name, other, layer in pairs:
        own, others = zip(*pairs_of(rounds, lambda: ours(name),
                                    lambda: ours(layer) if isinstance(layer, str) else python_step(layer)))
        own_ms, own_mib = zip(*own)
        other_ms, other_mib = zip(*others)
        print_row(layer=kind, function=name, threads=THREADS, rounds=rounds, ours_ms=median(own_ms, 1),
                  ours_mib=median(own_mib, 0), other=other, other_ms=median(other_ms, 1), other_mib=median(other_mib, 0),
                  **ratio_columns(other_ms, own_ms))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--functions", default="*", help="of our names, a pattern")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    equations = "the equations in PyTorch"
    layers = [("BigBird", "Hugging Face", hugging_face_big_bird(TOKENS)), ("Performer", equations, Performer()),
              ("Performer, relu", equations, ReluPerformer()), ("elu + 1", equations, Elu()), ("2×GLU", equations, Glu())]
    layers = [(name, other, layer) for name, other, layer in layers
              if layer is not None and fnmatch.fnmatch(name, options.functions)]
    # The softmax layer takes the flash path, and is its own program's.
    own = [("2×GLU", "softmax, Cachet", "softmax")] if fnmatch.fnmatch("2×GLU", options.functions) else []
    compare(options.program, "attention", layers + own, options.rounds)
    compare(options.program, "encoder", [(name, other, EncoderLayer(layer)) for name, other, layer in layers] + own,
            options.rounds)


if __name__ == "__main__":
    main()
