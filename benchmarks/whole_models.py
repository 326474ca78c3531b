#!/usr/bin/env python3
"""Whole models through Cachet and through PyTorch in turns: whole_models.py models|layer|norm PATH/TO/cachet [--rounds N]
[--models GLOB...] [--beside GLOB...] [--kernels NAME]

Each round times `cachet bench` and a PyTorch form for about a second each, the other one first the next time; ratios are those
of one round, so that what slows the machine slows both. Both optimizers are fused. Prints CSV; `layer` and `norm` are one of each compared with the published code. bf16 means
weights stored in bfloat16 for inference, autocast over float32 weights for training. GRC_SRC and UN_SRC name checkouts
of the published codes, if there are any; timm's models are measured where timm is installed.
"""
import argparse
import fnmatch
import json
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

import torch

from measurements import median, pairs_of, print_row, ratio_columns
from published_models import (published_layer, published_norm, published_pvt_tiny, published_t2t, published_vit,
                              timm_model)
from python_models import CLASSES, ViT

warnings.filterwarnings("ignore")
BATCH, THREADS = 8, 2


def inference(model, narrow, batch=BATCH):
    image = torch.randn(batch, 3, 224, 224)
    with torch.no_grad():  # published caches are made by the first forward pass
        model.train()(image)
    model.eval()
    wide = image
    if narrow:
        model, image = model.bfloat16(), image.bfloat16()

    def call():
        with torch.inference_mode():
            model(image)
    try:
        call()
    except RuntimeError:  # the published layer mixes types where its weights are stored narrow: autocast, as its peers' script
        model.float()

        def call():
            with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
                model(wide)
    return call


def training(model, narrow):
    image, labels = torch.randn(BATCH, 3, 224, 224), torch.randint(0, CLASSES, (BATCH,))
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)  # as ours is

    def call():
        with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
            loss = torch.nn.functional.cross_entropy(model(image), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return call


def median_ms(call, seconds=1.0):
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


PUBLISHED_CACHE = ["model.cache.kind=grc", "model.cache.variant=official"]


class Subject:
    """A model of ours, and what computes the same in Python: makers of modules by name, each None where it is not here."""

    def __init__(self, label, model, others, settings=()):
        self.label, self.model, self.others, self.settings = label, model, others, settings

    def ours_ms(self, command, mode, precision):
        words = [command, "bench", self.model, "--mode", mode, "--precision", precision, "--batch", str(BATCH), "--threads",
                 str(THREADS), "--seconds", "1", "--json"]
        for setting in self.settings:
            words += ["--set", setting]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["median_ms"]

    def forms(self, mode, narrow, wanted):
        """What to time of what is wanted, by name: each maker's module as it is, and at inference through torch.compile."""
        make = inference if mode == "infer" else training
        for name, maker in self.others.items():
            compiled_name = f"{name}, torch.compile"
            if matches(name, wanted) and (module := maker()) is not None:
                yield name, make(module, narrow)
            # The published cached modules branch on their buffers: compiled, they are compiled at every call.
            if mode == "infer" and name != "published code" and matches(compiled_name, wanted):
                compiled = maker()
                if compiled is not None:
                    call = inference(compiled, narrow)
                    compiled.compile()
                    yield compiled_name, call


def subjects():
    yield Subject("ViT-S", "vit_small_patch16_224",
                  {"PyTorch": lambda: ViT(False), "published code": lambda: published_vit(False)})
    yield Subject("ViT-S, cached", "vit_small_patch16_224",
                  {"PyTorch": lambda: ViT(True), "published code": lambda: published_vit(True)}, PUBLISHED_CACHE)
    yield Subject("PVT-Tiny", "pvt_tiny", {"the authors' PVT": lambda: published_pvt_tiny(False)})
    yield Subject("PVT-Tiny, cached", "pvt_tiny", {"published code": lambda: published_pvt_tiny(True)}, PUBLISHED_CACHE)
    for label, name in (("PVT v2 B0", "pvt_v2_b0"), ("PVT v2 B2", "pvt_v2_b2"), ("Swin-T", "swin_tiny_patch4_window7_224")):
        yield Subject(label, name, {"timm": lambda name=name: timm_model(name)})
    yield Subject("T2T-ViT-14", "t2t_vit_14", {"the authors' T2T-ViT": published_t2t})


def layer_rows(program, rounds):
    """The published form of one cached layer, ours by its own program, compared with the published code, which runs under autocast
    in bf16: stored narrow, it mixes types."""
    layers = {(mode, narrow): published_layer(True) for mode in ("inference", "training") for narrow in (False, True)}
    if None in layers.values():
        return
    x = torch.randn(BATCH, 197, 384, requires_grad=True)
    for (mode, narrow), layer in layers.items():
        layer.train()
        layer(x)
        layer.train(mode == "training")

        def call():
            with torch.autocast("cpu", torch.bfloat16, enabled=narrow), torch.set_grad_enabled(mode == "training"):
                y = layer(x)
            if mode == "training":  # for a loss whose gradient is the output, as in ours
                torch.autograd.grad(y, [x, *layer.parameters()], y.detach(), allow_unused=True)

        def ours():
            words = [program, "published", mode, "bf16" if narrow else "fp32"]
            return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

        own, other = zip(*pairs_of(rounds, ours, lambda: median_ms(call, 0.5), warm_up=1))
        print_row(mode=mode, type="bf16" if narrow else "fp32", threads=THREADS, ours_ms=median(own, 2),
                  other_ms=median(other, 2), **ratio_columns(other, own))


def norm_rows(library, rounds):
    """A training step of unified normalization: torch.ops.cachet, the published code, torch's LayerNorm, in turns."""
    published = published_norm(384)
    if published is None:
        return
    torch.ops.load_library(library)
    x = torch.randn(32, 197, 384, requires_grad=True)
    weight, bias = torch.ones(384, requires_grad=True), torch.zeros(384, requires_grad=True)
    statistic, counters = torch.zeros(10, 384), torch.zeros(4, dtype=torch.long)
    statistic[0] = 1
    dy = torch.randn(32, 197, 384)

    def ours():
        y = torch.ops.cachet.unified_norm(x, weight, bias, None, statistic, counters, [4, 4], [0.9, 0.9], 1e-5, 0, True, 0,
                                          False, False)[0]
        torch.autograd.grad(y, [x, weight, bias], dy)

    def step(module):
        def call():
            torch.autograd.grad(module(x), [x, *module.parameters()], dy)
        return call

    def timed(call):
        def timed_call():
            start = time.perf_counter()
            call()
            return 1e3 * (time.perf_counter() - start)
        return timed_call
    others = {"published code": step(published.train()), "torch.nn.LayerNorm": step(torch.nn.LayerNorm(384))}
    for name, call in others.items():
        own, other = zip(*pairs_of(10 * rounds, timed(ours), timed(call), warm_up=2))
        print_row(norm=name, threads=THREADS, ours_ms=median(own, 2), ms=median(other, 2), **ratio_columns(other, own))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("models", "layer", "norm"))
    parser.add_argument("command")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--models", nargs="+", default=["*"], help="of our names, patterns")
    parser.add_argument("--beside", nargs="+", default=["*"], help="of what they are timed beside, patterns")
    parser.add_argument("--kernels", help="what the rows say of the libraries that multiply")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    build = pathlib.Path(options.command).resolve().parent
    if options.what == "layer":
        return layer_rows(str(build / "ratios_benchmark"), options.rounds)
    if options.what == "norm":
        return norm_rows(str(build / "lib" / "libcachet_ops.so"), options.rounds)
    for subject in subjects():
        if matches(subject.model, options.models):
            for mode in ("infer", "train"):
                for precision in ("fp32", "bf16"):
                    model_rows(subject, mode, precision, options)


def model_rows(subject, mode, precision, options):
    torch._dynamo.reset()
    calls = {}
    try:
        for name, call in subject.forms(mode, precision == "bf16", options.beside):
            call(), call()
            calls[name] = call
    except Exception as error:
        print(f"{subject.label}: {type(error).__name__}: {str(error).splitlines()[0]}", file=sys.stderr)
    for name, call in calls.items():
        ours, times = zip(*pairs_of(options.rounds, lambda: subject.ours_ms(options.command, mode, precision),
                                    lambda: median_ms(call)))
        kernels = {"kernels": options.kernels} if options.kernels else {}
        print_row(**kernels, model=subject.label, mode="inference" if mode == "infer" else "training", type=precision, threads=THREADS,
                  rounds=options.rounds, ours_ms=median(ours, 1), other=name, other_ms=median(times, 1),
                  **ratio_columns(times, ours))


if __name__ == "__main__":
    main()
