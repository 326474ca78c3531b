#!/usr/bin/env python3
"""One attention layer at 4,096 tokens, and the encoder layer around it, through Cachet and through PyTorch in turns:
long_range.py PATH/TO/long_range_benchmark [--rounds N]

A training step (forward, backward to input and weights) of a layer 256 wide with 4 heads, batch 4, fp32, two threads.
Each round runs both; ratios are those of one round. Prints a Markdown table. Hugging Face's layer is measured where
transformers is installed.
"""
import argparse
import fnmatch
import itertools
import statistics
import subprocess
import time

import torch

from python_attention import DIM, HEADS, Elu, EncoderLayer, Glu, Performer, ReluPerformer, hugging_face_big_bird
from whole_models import quartiles

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
    """A table of one kind of layer, "attention" or "encoder"; pairs of (our function, the other's name, its layer); a
    string as the layer is a function of our own program."""
    print(f"## One {kind} layer at {TOKENS:,} tokens\n\nTraining step, batch {BATCH}, {DIM} wide, {HEADS} heads, fp32, two "
          f"threads; the other ÷ Cachet, above 1 is faster than it; medians of {rounds} rounds. MiB of live tensors above the "
          "operands at the peak.\n")
    print("| function | Cachet, ms | MiB | other | other, ms | MiB | ratio (quartiles) |\n|---|---:|---:|---|---:|---:|---:|")

    def ours(name):
        line = subprocess.run([program, f"--{kind}", name], check=True, capture_output=True, text=True).stdout
        return [float(cell) for cell in line.split("\t")[1:]]

    for name, other, layer in pairs:
        own, others = [], []
        for _ in range(rounds):
            own.append(ours(name))
            others.append(ours(layer) if isinstance(layer, str) else python_step(layer))
        low, middle, high = quartiles([b[0] / a[0] for a, b in zip(own, others)])
        (own_ms, own_mib), (other_ms, other_mib) = (map(statistics.median, zip(*each)) for each in (own, others))
        print(f"| {name} | {own_ms:.0f} | {own_mib:.0f} | {other} | {other_ms:.0f} | {other_mib:.0f} | "
              f"{middle:.2f} ({low:.2f}–{high:.2f}) |", flush=True)
    print()


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
