#!/usr/bin/env python3
"""Training steps of Transformer-XL compared with the published module: language_models.py PATH/TO/language_benchmark
[--rounds N] [--precision fp32,bf16]

TRANSFORMER_XL_SRC names a checkout of the published code (its folder pytorch); nothing is printed without one. It is
patched as little as it needs to run: masks are boolean. Both train transformer_xl_wt103_base on synthetic tokens, segments
of 150 after a memory of 150, four batch rows, with AdamW, and take turns step by step. Prints CSV: time of the published step
÷ ours, above 1 ours is faster.
"""
import argparse
import os
import pathlib
import sys

import torch

from measurements import pairs_of
from training_steps import TrainingProgram, print_steps, timed_step

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
        def loss():
            ids, target = torch.randint(WORDS, (2, LENGTH, LANES))
            loss, *self.memory = self.model(ids, target, *self.memory)
            return loss.float().mean()
        return timed_step(loss, self.optimizer, self.narrow)


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
        narrow = precision == "bf16"
        theirs = Published(pathlib.Path(source), narrow)
        ours = TrainingProgram(arguments.program, narrow, "name=transformer_xl_wt103_base")
        pairs = pairs_of(arguments.rounds, ours.step, theirs.step)
        ours.close()
        print_steps("transformer_xl_wt103_base", precision, pairs, LANES * LENGTH, "published")


if __name__ == "__main__":
    main()
