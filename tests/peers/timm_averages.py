"""Averages of weights: those of a run next to timm's, which gets the weights that the run saved after each step."""
import safetensors.torch
import torch
import torchvision_here  # noqa: F401
from timm.utils import ModelEmaV2, ModelEmaV3

from comparison import ROOT, Found, comparison

STEPS, DECAY = 12, 0.9
TINY = ["--set", f"data.root={ROOT / 'data/fashion-mnist'}", "--set", "model.embed_dim=16", "--set", "model.depth=1",
        "--set", "train.batch_size=20", "--set", "data.limit=400", "--set", "train.threads=1", "--progress", "none"]


class Weights(torch.nn.Module):
    def __init__(self, tensors):
        super().__init__()
        self.tensors = torch.nn.ParameterDict({name.replace(".", "/"): tensor for name, tensor in tensors.items()})


def saved(run, file):
    """The tensors of a file of each checkpoint, in the order of the steps."""
    return [safetensors.torch.load_file(folder / file) for folder in sorted((run / "checkpoints").glob("step-*"))]


def trained(setting, name, steps, *settings):
    words = [word for each in settings for word in ("--set", each)]
    run = setting.scratch / name
    setting.cachet("train", "demo_plain", "--run", run, *TINY, "--set", f"train.limit={steps} steps", *words)
    return run


def compared(setting, warmup):
    start = trained(setting, "start", 1)
    run = trained(setting, "run", STEPS, f"train.init={start}", f"train.ema_decay={DECAY}", "train.checkpoint_every=1 step",
                  f"train.keep={STEPS + 1}", f"train.ema_warmup={'true' if warmup else 'false'}")
    first, = saved(start, "model.safetensors")
    before = Weights({name: tensor.clone() for name, tensor in first.items()})
    average = ModelEmaV3(before, DECAY, use_warmup=True) if warmup else ModelEmaV2(before, DECAY)
    steps = list(zip(saved(run, "model.safetensors"), saved(run, "ema.safetensors"), strict=True))
    assert len(steps) == STEPS, f"{len(steps)} checkpoints"
    found = Found(0)
    for number, (weights, ours) in enumerate(steps, start=1):
        average.update(Weights(weights), **({"step": number} if warmup else {}))
        theirs = {name.replace("/", "."): tensor for name, tensor in average.module.tensors.items()}
        assert set(ours) == set(theirs), sorted(set(ours) ^ set(theirs))[:4]
        for name, our in ours.items():
            found.add((our - theirs[name]).abs().max().item(), our.numel())
    return found


# Both multiply and add in float32, in another order.
@comparison("timm", f"averages of weights after each of {STEPS} steps: ModelEmaV2 and train.ema_decay", allowed=1e-6)
def averages(setting):
    return compared(setting, warmup=False)


@comparison("timm", f"averages of weights after each of {STEPS} steps: ModelEmaV3 and train.ema_warmup", allowed=1e-6)
def averages_with_warmup(setting):
    return compared(setting, warmup=True)
