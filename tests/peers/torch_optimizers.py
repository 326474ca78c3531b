"""Optimizers compared with torch.optim, and the recorded schedules compared with the schedulers of this PyTorch."""
import json

import torch

from comparison import ROOT, Found, comparison, drawer, script, torch_drawer

STEPS = 50


def cases():
    draw = drawer("optimizers")
    for number in range(60):
        rates = [10 ** draw.uniform(-4, -1) for _ in range(STEPS)]
        decay = draw.choice((0.0, 1e-4, 0.05, 0.3))
        if number % 2:
            yield {"kind": "sgd", "rates": rates, "weight_decay": decay, **draw.choice((
                {"momentum": 0.0}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"momentum": 0.5}))}
        else:
            yield {"kind": "adamw", "rates": rates, "weight_decay": decay, "beta1": draw.choice((0.0, 0.5, 0.9)),
                   "beta2": draw.choice((0.9, 0.98, 0.999)), "epsilon": draw.choice((1e-8, 1e-6, 1e-3))}


def by_torch(case, start, gradients):
    parameter = torch.nn.Parameter(start.clone())
    if case["kind"] == "sgd":
        optimizer = torch.optim.SGD([parameter], lr=1, weight_decay=case["weight_decay"], momentum=case["momentum"],
                                    nesterov=case.get("nesterov", False))
    else:
        optimizer = torch.optim.AdamW([parameter], lr=1, weight_decay=case["weight_decay"], eps=case["epsilon"],
                                      betas=(case["beta1"], case["beta2"]))
    for rate, gradient in zip(case["rates"], gradients):
        optimizer.param_groups[0]["lr"] = rate
        parameter.grad = gradient.clone()
        optimizer.step()
    return parameter.detach()


# Cachet calls PyTorch's fused form in float32, torch.optim its form for each tensor.
@comparison("torch", f"parameters after {STEPS} steps of AdamW and SGD, as a fraction of the largest", allowed=1e-5)
def optimizers(setting):
    drawn, tensors = list(cases()), {}
    for number, case in enumerate(drawn):
        generator = torch_drawer(f"optimizer {number}")
        tensors[f"start{number}"] = torch.randn(7, 11, generator=generator)
        scale = 10.0 ** torch.randint(-4, 2, (STEPS, 1, 1), generator=generator)
        tensors[f"gradients{number}"] = torch.randn(STEPS, 7, 11, generator=generator) * scale
        case.update(start=f"start{number}", gradients=f"gradients{number}")
    found = Found(0)
    for case, our in zip(drawn, setting.computed("optimizer_steps", drawn, tensors)):
        their = by_torch(case, tensors[case["start"]], tensors[case["gradients"]])
        found.add(((our - their).abs().max() / their.abs().max()).item(), our.numel())
    return found


@comparison("torch", "rates and momenta of schedulers, the recorded ones and those of this version", allowed=1e-14)
def schedulers(setting):
    """The recorded values are what the test of schedules holds Cachet to."""
    made = script(ROOT / "tools/make_schedule_fixtures.py")
    torch.set_default_dtype(torch.float64)
    try:
        made.cosine_and_linear()
        made.steps_and_roots()
        made.one_cycles()
    finally:
        torch.set_default_dtype(torch.float32)
    recorded = json.loads((ROOT / "tests/data/schedules.json").read_text())["cases"]
    assert len(made.CASES) == len(recorded)
    found = Found(0)
    for fresh, kept in zip(made.CASES, recorded):
        assert fresh["recipe"] == kept["recipe"] and fresh["steps"] == kept["steps"]
        for values in ("rates", "momenta"):
            for a, b in zip(fresh.get(values, []), kept.get(values, []), strict=True):
                found.add(abs(a - b))
    return found
