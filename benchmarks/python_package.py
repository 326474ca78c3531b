#!/usr/bin/env python3
"""What the Python package costs and gains: python_package.py import|layers|models|norm [--pairs N] [--program PROGRAM] [--images N]
[--models NAME...] [--forms eager|compiled...]

Run it with the Python that has the package cachet. Each pair times both sides one after the other, and the next pair begins with
the other side. Prints CSV with the median ratio and its quartiles. The programs use two threads.

  import   `import torch` and `import torch, cachet` in new processes; `added_ms` is the difference
  layers   a training step of layers of cachet.nn, divided by the step of the same C++ layer (PROGRAM is
           build/release/layer_steps_benchmark)
  models   a step of the published cached model, divided by a step of a model with add_cache: timm's ViT-S; the authors' plain
           PVT-Tiny, because timm has none; and timm's PVT v2 B1, of the sizes of PVT-Tiny. The rows "plain" compare the models
           without caches: they show the cost of timm's other parts
  norm     a training step of the published unified normalization, divided by cachet.nn.UnifiedNorm's

GRC_SRC and UN_SRC name checkouts of the published codes. bf16 is autocast. torch.compile is the default mode.
"""
import argparse
import itertools
import statistics
import subprocess
import sys
import time
import warnings

import torch

from measurements import median, pairs_of, print_row, ratio_columns
from published_models import published_norm, published_pvt_tiny, published_vit, timm_model
from served_program import ServedProgram
from whole_models import BATCH, THREADS, training

warnings.filterwarnings("ignore")
TOKENS, DIM, HEADS = 197, 384, 6


def milliseconds(call):
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def import_rows(options):
    def started(modules):
        return milliseconds(lambda: subprocess.run([sys.executable, "-c", f"import {modules}"], check=True))

    ours, bare = zip(*pairs_of(options.pairs, lambda: started("torch, cachet"), lambda: started("torch"), warm_up=2))
    added = [own - other for own, other in zip(ours, bare)]
    lower, middle, upper = statistics.quantiles(added, n=4, method="inclusive")
    print_row(what="import cachet", torch_ms=median(bare, 0), both_ms=median(ours, 0), added_ms=f"{middle:.0f}",
              lower=f"{lower:.0f}", upper=f"{upper:.0f}", pairs=options.pairs)


def layer_of(name):
    """The layer of cachet.nn with the options of layer_steps_benchmark."""
    from cachet import nn, ops
    if name == "un":
        return nn.UnifiedNorm(DIM, ops.UnifiedNormSettings(warmup=0))
    if name == "kernel":
        return nn.MultiHeadAttention(DIM, HEADS, function=nn.KernelAttention(HEADS, DIM // HEADS, "glu"))
    return nn.CachedAttention(DIM, HEADS, nn.GatedRecurrentCache(DIM, TOKENS, variant="paper" if name == "cached" else name))


def pass_of(layer, x, *arguments):
    """A forward and a backward pass, for a loss whose gradient is the output."""
    inputs = [x, *layer.parameters()]

    def call():
        y = layer(x, *arguments)
        torch.autograd.grad(y, inputs, y.detach(), allow_unused=True)
    return call


def layer_rows(options):
    from cachet.nn import Layout
    for name in ("cached", "official", "kernel", "un"):
        x = torch.randn(options.images, TOKENS, DIM, requires_grad=True)
        arguments = () if name == "un" else (None, Layout(grid=(14, 14), class_tokens=1)) if name == "kernel" else (
            Layout(grid=(14, 14), class_tokens=1),)
        call = pass_of(layer_of(name).train(), x, *arguments)
        program = ServedProgram([options.program, name, str(options.images)])
        python, cpp = zip(*pairs_of(options.pairs, lambda: milliseconds(call), lambda: float(program.ask("step")), warm_up=3))
        program.close()
        print_row(layer=name, images=options.images, threads=THREADS, python_ms=median(python, 2), cpp_ms=median(cpp, 2),
                  **ratio_columns(python, cpp), pairs=options.pairs)


def norm_rows(options):
    from cachet import nn, ops
    published = published_norm(DIM)
    if published is None:
        sys.exit("UN_SRC does not name a checkout of the published code")
    x = torch.randn(32, TOKENS, DIM, requires_grad=True)
    ours = pass_of(nn.UnifiedNorm(DIM, ops.UnifiedNormSettings(warmup=0)).train(), x)
    theirs = pass_of(published.train(), x)
    own, other = zip(*pairs_of(options.pairs, lambda: milliseconds(ours), lambda: milliseconds(theirs), warm_up=3))
    print_row(norm="unified", threads=THREADS, ours_ms=median(own, 2), published_ms=median(other, 2), **ratio_columns(other, own),
              pairs=options.pairs)


def with_caches(model, lengths):
    """The model with a cache of the published form in each attention module; `lengths` are the tokens of a cache by width."""
    import cachet
    from cachet.nn import GatedRecurrentCache
    added = cachet.add_cache(model, 1, cache=lambda dim: GatedRecurrentCache(dim, lengths[dim], variant="official"))
    if added.left:
        sys.exit(f"add_cache left modules without a cache: {added.left}")
    return model


PVT_TOKENS = {64: 3136, 128: 784, 320: 196}
SUBJECTS = {  # our cached model, our plain model, and what is published: cached and plain
    "ViT-S": (lambda: with_caches(timm_model("vit_small_patch16_224"), {DIM: TOKENS}), lambda: timm_model("vit_small_patch16_224"),
              lambda: published_vit(True), lambda: published_vit(False)),
    "PVT-Tiny": (lambda: with_caches(published_pvt_tiny(False), PVT_TOKENS | {512: 50}), lambda: published_pvt_tiny(False),
                 lambda: published_pvt_tiny(True), lambda: published_pvt_tiny(False)),
    "PVT v2 B1": (lambda: with_caches(timm_model("pvt_v2_b1"), PVT_TOKENS | {512: 49}), lambda: timm_model("pvt_v2_b1"),
                  lambda: published_pvt_tiny(True), lambda: published_pvt_tiny(False)),
}


def model_call(model, mode, narrow):
    """One inference of 8 images, or one training step with a fused AdamW."""
    images = torch.randn(BATCH, 3, 224, 224)
    model.train()(images)  # published caches are made by the first forward pass
    if mode == "inference":
        model.eval()

        def infer():
            with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=narrow):
                model(images)
        return infer
    return training(model, narrow)


def model_rows(options):
    for name, cached, form, mode, precision in itertools.product(options.models, ("cached", "plain"), options.forms,
                                                                 ("inference", "training"), ("fp32", "bf16")):
        makers = SUBJECTS[name][:: 2] if cached == "cached" else SUBJECTS[name][1:: 2]
        if cached == "plain" and (form == "compiled" or name == "PVT-Tiny"):  # the same model on both sides
            continue
        calls = []
        for side, make in zip(("ours", "published"), makers):
            torch._dynamo.reset()
            model = make()
            if model is None:
                sys.exit("GRC_SRC does not name a checkout of the published code")
            call = model_call(model, mode, precision == "bf16")
            if form == "compiled":
                model.compile()
            try:
                call(), call()
            except Exception as error:
                print(f"{name}, {cached}, {form}, {mode}, {precision}, {side}: {type(error).__name__}: "
                      f"{str(error).splitlines()[0]}", file=sys.stderr)
                break
            calls.append(call)
        if len(calls) < 2:
            continue
        own, other = zip(*pairs_of(options.pairs, *(lambda call=call: milliseconds(call) for call in calls), warm_up=1))
        print_row(model=name, cache=cached, form=form, mode=mode, type=precision, threads=THREADS, ours_ms=median(own, 1),
                  published_ms=median(other, 1), **ratio_columns(other, own), pairs=options.pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("import", "layers", "models", "norm"))
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--program", default="build/release/layer_steps_benchmark")
    parser.add_argument("--images", type=int, default=16, help="images of a step of a layer")
    parser.add_argument("--models", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--forms", nargs="+", choices=("eager", "compiled"), default=["eager", "compiled"])
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    {"import": import_rows, "layers": layer_rows, "models": model_rows, "norm": norm_rows}[options.what](options)


if __name__ == "__main__":
    main()
