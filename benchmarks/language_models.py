#!/usr/bin/env python3
"""Training steps of Transformer-XL beside the published module: language_models.py PATH/TO/language_benchmark
[--rounds N] [--precision fp32,bf16]

TRANSFORMER_XL_SRC names a checkout of the published code (its folder pytorch); nothing is printed without one. It is
patched as little as it needs to run: masks are boolean. Both train transformer_xl_wt103_base on made-up tokens, segments
of 150 behind a memory of 150, four lanes, with AdamW, and take turns step by step. Prints CSV: time of the published step
÷ ours, above 1 ours is faster.
"""
import argparse
import os
import pathlib
import sys
import time

import torch

from measurements import median, print_row, ratio_columns
from served_program import ServedProgram

THREADS, LANES, LENGTH, WORDS = 2, 4, 150, 267735
CUTOFFS = [20000, 40000, 200000]


def published_model(source):
    """The published module; its byte masks, which PyTorch takes no more, made boolean."""
    sys.path[:0] = [str(source), str(source / "utils")]
    torch.version.cuda = torch.version.cuda or "0.0"  # which the module splits, though a build for CPUs has none
    text = (source / "mem_transformer.py").read_text().replace(".byte()", ".bool()")
    module = {"__name__": "mem_transformer"}
    exec(compile(text, "mem_transformer.py", "exec"), module)
    return module["MemTransformerLM"](WORDS, 16, 10, 410, 41, 2100, 0.1, 0.0, tie_weight=True, d_embed=410, div_val=1,
                                      tie_projs=[False, True, True, True], tgt_len=LENGTH, ext_len=0, mem_len=LENGTH,
                                      cutoffs=CUTOFFS)


class Published:
    """The published module in training; its weights drawn small, as its training script does."""

    def __init__(self, source, narrow):
        self.model, self.narrow, self.memory = published_model(source), narrow, ()
        for parameter in self.model.parameters():
            torch.nn.init.normal_(parameter, 0.0, 0.02)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        for _ in range(4):
            self.step()

    def step(self):
        """Milliseconds without the optimizer's part, and with it."""
        start = time.perf_counter()
        self.optimizer.zero_grad()
        ids, target = torch.randint(WORDS, (2, LENGTH, LANES))
        with torch.autocast("cpu", torch.bfloat16, enabled=self.narrow):
            loss, *self.memory = self.model(ids, target, *self.memory)
            loss = loss.float().mean()
        loss.backward()
        passes = time.perf_counter() - start
        self.optimizer.step()
        return 1e3 * passes, 1e3 * (time.perf_counter() - start)


class Ours(ServedProgram):
    """The benchmark program, which makes a step for each line."""

    def __init__(self, program, narrow):
        super().__init__([program, "--serve", "bf16" if narrow else "fp32", "name=transformer_xl_wt103_base"])

    def step(self):
        return tuple(map(float, self.ask("step").split()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--precision", default="fp32,bf16")
    arguments = parser.parse_args()
    source = os.environ.get("TRANSFORMER_XL_SRC")
    if not source:
        return
    torch.set_num_threads(THREADS)
    for precision in arguments.precision.split(","):
        theirs, ours = Published(pathlib.Path(source), precision == "bf16"), Ours(arguments.program, precision == "bf16")
        pairs = [(ours.step(), theirs.step()) for _ in range(arguments.rounds)]
        ours.close()
        for part, what in enumerate(("forward and backward", "whole step")):
            own, other = ([pair[side][part] for pair in pairs] for side in (0, 1))
            tokens = LANES * LENGTH / (sum(own) / len(own)) * 1e3
            print_row(model="transformer_xl_wt103_base", part=what, precision=precision, threads=THREADS, ms=median(own, 0),
                      published_ms=median(other, 0), tokens_per_second=f"{tokens:.0f}", **ratio_columns(other, own))


if __name__ == "__main__":
    main()
