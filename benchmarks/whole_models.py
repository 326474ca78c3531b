#!/usr/bin/env python3
"""ViT-S, plain and cached, through Cachet and through PyTorch in turns: whole_models.py PATH/TO/cachet [--rounds N]

Each round times `cachet bench` and then each PyTorch form for about a second; ratios are those of one round, so that what
slows the machine slows both. Prints a Markdown table. bf16 means weights stored in bfloat16 for inference, autocast over
float32 weights for training. GRC_SRC names a checkout of the published code, if there is one.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings

import torch

from published_models import published_vit
from python_models import CLASSES, ViT

warnings.filterwarnings("ignore")
BATCH, THREADS = 8, 2


def quartiles(values):
    if len(values) == 1:
        return values * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def inference(model, narrow):
    image = torch.randn(BATCH, 3, 224, 224)
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
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

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


def cachet_ms(command, cached, mode, precision):
    words = [command, "bench", "vit_small_patch16_224", "--mode", mode, "--precision", precision, "--batch", str(BATCH),
             "--threads", str(THREADS), "--seconds", "1", "--json"]
    if cached:
        words += ["--set", "model.cache.kind=grc", "--set", "model.cache.variant=official"]
    result = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return result["median_ms"]


def forms(cached, mode, narrow):
    make = inference if mode == "infer" else training
    yield "PyTorch eager", lambda: make(ViT(cached), narrow)
    yield "published code", lambda: (lambda m: m and make(m, narrow))(published_vit(cached))
    if mode == "infer":
        def compiled():
            model = ViT(cached)
            call = inference(model, narrow)
            model.compile()
            return call
        yield "torch.compile", compiled


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    print("## Whole models beside Python\n\nViT-S/16, batch 8, 224 × 224, two threads; the other ÷ Cachet, above 1 is "
          f"faster than it; medians of {options.rounds} rounds. The cached model is the published form.\n")
    print("| model | mode | type | Cachet, ms | other | other, ms | ratio (quartiles) |\n|---|---|---|---:|---|---:|---:|")
    for cached in (False, True):
        for mode in ("infer", "train"):
            for precision in ("fp32", "bf16"):
                calls = {}
                for name, make in forms(cached, mode, precision == "bf16"):
                    torch._dynamo.reset()
                    try:
                        call = make()
                        if call:
                            call(), call()
                            calls[name] = call
                    except Exception as error:
                        print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}", file=sys.stderr)
                ours, others = [], {name: [] for name in calls}
                for _ in range(options.rounds):
                    ours.append(cachet_ms(options.command, cached, mode, precision))
                    for name, call in calls.items():
                        others[name].append(median_ms(call))
                for name, times in others.items():
                    low, middle, high = quartiles([other / own for other, own in zip(times, ours)])
                    print(f"| {'cached' if cached else 'plain'} | {'inference' if mode == 'infer' else 'training'} | "
                          f"{precision} | {statistics.median(ours):.0f} | {name} | {statistics.median(times):.0f} | "
                          f"{middle:.2f} ({low:.2f}–{high:.2f}) |", flush=True)
    print()


if __name__ == "__main__":
    main()
