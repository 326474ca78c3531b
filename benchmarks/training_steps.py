"""Training steps of a model in PyTorch and of the same in a program of ours, which take turns: how each is timed, and how
both are printed."""
import time

import torch

from measurements import median, print_row, ratio_columns
from served_program import ServedProgram


def timed_step(loss_of, optimizer, narrow):
    """A step of PyTorch on what loss_of() gives: milliseconds without the optimizer's part, and with it."""
    start = time.perf_counter()
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
        loss = loss_of()
    loss.backward()
    passes = time.perf_counter() - start
    optimizer.step()
    return 1e3 * passes, 1e3 * (time.perf_counter() - start)


class TrainingProgram(ServedProgram):
    """A benchmark program of ours, which makes a step for each line and answers with the same two times."""

    def __init__(self, program, narrow, *words):
        super().__init__([program, "--serve", "bf16" if narrow else "fp32", *words])

    def step(self, line="step"):
        return tuple(map(float, self.ask(line).split()))


def print_steps(model, precision, pairs, tokens, beside):
    """A row for passes alone and one for whole steps of so many tokens. pairs: our two times and the other's, a round
    each; the last argument is the name of the other."""
    for part, what in enumerate(("forward and backward", "whole step")):
        own, other = ([pair[side][part] for pair in pairs] for side in (0, 1))
        print_row(model=model, part=what, precision=precision, threads=torch.get_num_threads(), ms=median(own, 0),
                  **{f"{beside}_ms": median(other, 0)}, tokens_per_second=f"{tokens / (sum(own) / len(own)) * 1e3:.0f}",
                  **ratio_columns(other, own))
