#!/usr/bin/env python3
"""Writes tests/data/schedules.json: learning rates and momenta of the codes that schedules must equal.

    python3 tools/make_schedule_fixtures.py          (needs torch)

PyTorch's schedulers are run, in float64. The rules of fairseq, the Long Range Arena, timm, transformers and mmcv are
written down here as their sources have them:
    fairseq/optim/lr_scheduler/inverse_square_root_schedule.py (and trainer.py, which calls step_update(0) first)
    lra_benchmarks/utils/train_utils.py, create_learning_rate_scheduler, read at optimizer.state.step
    timm/scheduler/cosine_lr.py with warmup_prefix, one update a call
    transformers/optimization.py, get_cosine_schedule_with_warmup and get_linear_schedule_with_warmup
    mmcv/runner/hooks/lr_updater.py, StepLrUpdaterHook with a linear warm-up by iteration
"""

import json
import math
import pathlib

import torch
from torch.optim import lr_scheduler

torch.set_default_dtype(torch.float64)


def optimizer_of(lr, kind="adamw"):
    weight = torch.nn.Parameter(torch.zeros(1))
    if kind == "sgd":
        return torch.optim.SGD([weight], lr=lr, momentum=0.9)
    return torch.optim.AdamW([weight], lr=lr, betas=(0.9, 0.999))


def run_scheduler(optimizer, scheduler, steps):
    """Rate and momentum of each step, as the optimizer has them when it takes the step."""
    rates, momenta = [], []
    for _ in range(steps):
        group = optimizer.param_groups[0]
        rates.append(float(group["lr"]))
        momenta.append(float(group["betas"][0] if "betas" in group else group["momentum"]))
        optimizer.step()
        if len(rates) < steps:
            scheduler.step()
    return rates, momenta


def torch_cosine(lr, steps, minimum=0.0):
    optimizer = optimizer_of(lr)
    return run_scheduler(optimizer, lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=minimum), steps)[0]


def torch_warmed(lr, steps, warmup, start, after):
    """LinearLR, whose first step is a part of the warm-up, then `after`."""
    first = (start + (lr - start) / warmup) / lr
    optimizer = optimizer_of(lr)
    warm = lr_scheduler.LinearLR(optimizer, start_factor=first, total_iters=warmup - 1)
    schedule = lr_scheduler.SequentialLR(optimizer, [warm, after(optimizer)], milestones=[warmup])
    return run_scheduler(optimizer, schedule, steps)[0]


def torch_one_cycle(lr, steps, kind="adamw", **options):
    optimizer = optimizer_of(lr, kind)
    return run_scheduler(optimizer, lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps, **options), steps)


def torch_steps(lr, steps, milestones, factor):
    optimizer = optimizer_of(lr)
    return run_scheduler(optimizer, lr_scheduler.MultiStepLR(optimizer, milestones, factor), steps)[0]


def fairseq_inverse_sqrt(lr, warmup, start, updates):
    step = (lr - start) / warmup
    decay = lr * warmup**0.5
    return [start + n * step if n < warmup else decay * n**-0.5 for n in updates]


def arena(lr, warmup, updates):
    rates = []
    for step in updates:
        rate = lr  # constant * linear_warmup * rsqrt_decay
        rate *= min(1.0, step / warmup)
        rate /= math.sqrt(max(step, warmup))
        rates.append(rate)
    return rates


def timm_cosine(lr, steps, warmup, start, minimum):
    total = steps - warmup
    return [start + t * (lr - start) / warmup if t < warmup else
            minimum + 0.5 * (lr - minimum) * (1 + math.cos(math.pi * (t - warmup) / total)) for t in range(steps)]


def transformers_cosine(lr, steps, warmup):
    return [lr * (t / warmup) if t < warmup else
            lr * max(0.0, 0.5 * (1.0 + math.cos(math.pi * 0.5 * 2.0 * ((t - warmup) / (steps - warmup)))))
            for t in range(steps)]


def transformers_linear(lr, steps, warmup):
    return [lr * (t / warmup) if t < warmup else lr * max(0.0, (steps - t) / (steps - warmup)) for t in range(steps)]


def mmcv_steps(lr, steps, epoch, milestones, factor, warmup, ratio):
    rates = []
    for iteration in range(steps):
        regular = lr * factor ** sum(iteration // epoch >= milestone for milestone in milestones)
        k = (1 - iteration / warmup) * (1 - ratio)
        rates.append(regular * (1 - k) if iteration < warmup else regular)
    return rates


def version_0_1_0_one_cycle(lr, steps, warmup):
    """Cachet's own, before it was PyTorch's; runs of that version keep it."""
    first = lr / 25
    least = first / 1e4
    return [first + (lr - first) * (1 - math.cos(math.pi * (s + 1) / warmup)) / 2 if s < warmup else
            least + (lr - least) * (1 + math.cos(math.pi * (s - warmup) / (steps - warmup))) / 2 for s in range(steps)]


def table(name, values):
    lines = [f"[{name}]"]
    for key, value in values.items():
        text = json.dumps(value) if not isinstance(value, bool) else str(value).lower()
        lines.append(f"{key} = {text}")
    return "\n".join(lines) + "\n"


CASES = []


def case(code, steps, schedule, rates, momenta=None, lr=0.4, optimizer=None, at=None, per_epoch=10):
    """`at`: the steps to store of a long run; all of a short one."""
    kept = list(range(steps)) if at is None else at
    values = lambda all_of: [all_of[s] for s in kept] if len(all_of) == steps else all_of
    entry = {"code": code, "recipe": table("optimizer", {"lr": lr, **(optimizer or {})}) + table("schedule", schedule),
             "total_steps": steps, "steps_per_epoch": per_epoch, "steps": kept, "rates": values(rates)}
    if momenta is not None:
        entry["momenta"] = values(momenta)
    CASES.append(entry)


def cosine_and_linear():
    case("torch CosineAnnealingLR", 20, {"kind": "cosine", "minimum": 0.01}, torch_cosine(0.4, 20, 0.01))
    case("torch CosineAnnealingLR", 5000, {"kind": "cosine"}, torch_cosine(0.4, 5000), at=[0, 1, 2500, 4999])
    down = lambda steps, least: lambda o: lr_scheduler.CosineAnnealingLR(o, steps, eta_min=least)
    case("torch LinearLR, then CosineAnnealingLR", 20,
         {"kind": "cosine", "warmup": "5 steps", "warmup_from": 0.1, "minimum": 0.01},
         torch_warmed(0.4, 20, 5, 0.1, down(15, 0.01)))
    case("torch LinearLR, then CosineAnnealingLR", 5000, {"kind": "cosine", "warmup": "500 steps"},
         torch_warmed(0.4, 5000, 500, 0, down(4500, 0)), at=[0, 499, 500, 2750, 4999])
    line = lambda steps, least: lambda o: lr_scheduler.LinearLR(o, start_factor=1, end_factor=least, total_iters=steps)
    case("torch LinearLR twice", 20, {"kind": "linear", "warmup": "4 steps", "minimum": 0.02},
         torch_warmed(0.4, 20, 4, 0, line(16, 0.05)))
    case("torch LinearLR twice", 5000, {"kind": "linear", "warmup": "500 steps"},
         torch_warmed(0.4, 5000, 500, 0, line(4500, 0)), at=[0, 499, 500, 2750, 4999])
    flat = lambda o: lr_scheduler.ConstantLR(o, factor=1, total_iters=1)
    case("torch LinearLR, then ConstantLR", 20, {"kind": "constant", "warmup": "4 steps"},
         torch_warmed(0.4, 20, 4, 0, flat))
    later = {"warmup": "5 steps", "first_update": 0}
    case("timm CosineLRScheduler", 20, {"kind": "cosine", "warmup_from": 0.1, "minimum": 0.01, **later},
         timm_cosine(0.4, 20, 5, 0.1, 0.01))
    case("transformers get_cosine_schedule_with_warmup", 20, {"kind": "cosine", **later},
         transformers_cosine(0.4, 20, 5))
    case("transformers get_linear_schedule_with_warmup", 20, {"kind": "linear", **later},
         transformers_linear(0.4, 20, 5))


def steps_and_roots():
    case("torch MultiStepLR", 30, {"kind": "step", "milestones": ["8 steps", "2 epochs"], "factor": 0.5},
         torch_steps(0.4, 30, [8, 20], 0.5))
    case("mmcv StepLrUpdaterHook", 40,
         {"kind": "step", "milestones": ["2 epochs", "3 epochs"], "warmup": "6 steps", "warmup_factor": 0.001},
         mmcv_steps(0.4, 40, 10, [2, 3], 0.1, 6, 0.001))
    long_run = mmcv_steps(2e-4, 12 * 7330, 7330, [8, 11], 0.1, 500, 0.001)
    case("mmcv StepLrUpdaterHook", 12 * 7330,
         {"kind": "step", "milestones": ["8 epochs", "11 epochs"], "warmup": "500 steps", "warmup_factor": 0.001},
         long_run, lr=2e-4, at=[0, 499, 500, 8 * 7330 - 1, 8 * 7330, 12 * 7330 - 1], per_epoch=7330)
    for start in (0.0, 1e-7):
        schedule = {"kind": "inverse_sqrt", "warmup": "4 steps", "warmup_from": start}
        case("fairseq inverse_sqrt", 20, schedule, fairseq_inverse_sqrt(0.4, 4, start, range(20)))
    case("fairseq inverse_sqrt, one update later", 20,
         {"kind": "inverse_sqrt", "warmup": "4 steps", "first_update": 1}, fairseq_inverse_sqrt(0.4, 4, 0, range(1, 21)))
    case("fairseq inverse_sqrt", 100_000, {"kind": "inverse_sqrt", "warmup": "6000 steps", "warmup_from": 1e-7},
         fairseq_inverse_sqrt(1.5e-3, 6000, 1e-7, range(100_000)), lr=1.5e-3, at=[0, 1, 5999, 6000, 6001, 99_999])
    case("arena", 20, {"kind": "arena", "warmup": "4 steps"}, arena(0.4, 4, range(20)))
    case("arena, one update later", 20, {"kind": "arena", "warmup": "4 steps", "first_update": 1},
         arena(0.4, 4, range(1, 21)))
    case("arena", 20_000, {"kind": "arena", "warmup": "8000 steps"}, arena(0.05, 8000, range(20_000)), lr=0.05,
         at=[0, 1, 7999, 8000, 8001, 19_999])


def one_cycles():
    def cycle(steps, options, lr=0.4, at=None, kind="adamw", **given):
        rates, momenta = torch_one_cycle(lr, steps, kind, **options)
        moves = options.get("cycle_momentum", True)
        case("torch OneCycleLR", steps, {"kind": "one_cycle", **given}, rates, momenta if moves else None, lr=lr, at=at,
             optimizer={"kind": kind})

    cycle(10, {"pct_start": 0.3}, lr=1.0, warmup="3 steps")
    cycle(10, {})
    cycle(17, {})  # 5.1 steps up
    cycle(17, {"pct_start": 0.0}, pct_start=0.0)
    cycle(17, {"anneal_strategy": "linear"}, anneal="linear")
    cycle(20, {"three_phase": True}, three_phase=True)
    cycle(20, {"three_phase": True, "anneal_strategy": "linear", "pct_start": 0.35},
          three_phase=True, anneal="linear", pct_start=0.35)
    cycle(20, {"three_phase": True, "pct_start": 0.7}, three_phase=True, pct_start=0.7)
    cycle(12, {"div_factor": 10.0, "final_div_factor": 100.0}, div_factor=10.0, final_div_factor=100.0)
    cycle(12, {"cycle_momentum": False}, cycle_momentum=False)
    cycle(12, {"base_momentum": 0.8, "max_momentum": 0.9}, kind="sgd", base_momentum=0.8, max_momentum=0.9)
    cycle(12, {"pct_start": 1.0}, warmup="12 steps")
    # The ports' recipes for the arena's tasks.
    for steps, warmup in ((20_000, 8000), (5000, 1000), (30_000, 800)):
        cycle(steps, {"pct_start": warmup / steps, "anneal_strategy": "linear"}, lr=1e-4, anneal="linear",
              warmup=f"{warmup} steps", at=[0, warmup - 1, warmup, steps - 1000, steps - 1])
    cycle(20_000, {"pct_start": 0.4}, lr=1e-4, pct_start=0.4, at=[0, 7999, 8000, 19_000, 19_999])
    case("cachet 0.1.0 one_cycle", 20, {"kind": "one_cycle", "rule": "0.1.0", "warmup": "5 steps"},
         version_0_1_0_one_cycle(0.4, 20, 5))


if __name__ == "__main__":
    cosine_and_linear()
    steps_and_roots()
    one_cycles()
    path = pathlib.Path(__file__).parent.parent / "tests/data/schedules.json"
    text = {"torch": torch.__version__.split("+")[0], "cases": CASES}
    path.write_text(json.dumps(text, indent=1).replace(",\n    ", ", ").replace("[\n    ", "[").replace("\n   ]", "]") + "\n")
    print(f"{path}: {len(CASES)} cases")
