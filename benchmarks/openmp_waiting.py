#!/usr/bin/env python3
"""What it costs and saves that OpenMP's threads wait as the command lets them: openmp_waiting.py COMMAND [--pairs N]

Runs of COMMAND (build/release/cachet) in turns: with its own choice, and with the spin that OpenMP has as it comes;
alone, then next to one and two processes that keep a core busy. Milliseconds of a training step, and how many times as
long as alone: medians over pairs of runs. Two threads; the first steps of each run do not count. Prints a Markdown table.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

VARIABLES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
AS_IT_COMES = {"GOMP_SPINCOUNT": "300000"}  # GNU's default where there are as many cores as threads
RECIPES = {"demo": ("demo_cached", ["train.batch_size=32"], 40),
           "ViT-Tiny": ("demo_cached", ["model.embed_dim=192", "model.depth=12", "model.num_heads=3",
                                        "train.batch_size=8"], 20)}


@contextlib.contextmanager
def busy(count):
    """So many processes that each keep one core busy."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def milliseconds(command, recipe, settings, steps, variables):
    """Of a step, the mean over the later half of a run."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    with tempfile.TemporaryDirectory() as scratch:
        words = [command, "train", recipe, "--run", f"{scratch}/run", "--progress", "none"]
        for each in (*settings, f"train.limit={steps} steps", f"train.log_every={steps // 2} steps", "train.threads=2",
                     "data.limit=2000", "train.evaluate_every=1000000 steps", "train.checkpoint_every=1000000 steps"):
            words += ["--set", each]
        subprocess.run(words, capture_output=True, env={**environment, **variables}, check=True)
        lines = [json.loads(line) for line in pathlib.Path(scratch, "run", "metrics.jsonl").read_text().splitlines()]
    first, last = (line for line in lines if line["kind"] == "step")
    return 1000 * (last["machine"]["seconds"] - first["machine"]["seconds"]) / (last["step"] - first["step"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--models", nargs="+", choices=RECIPES, default=["demo"])
    parser.add_argument("--choice", default="", help="another choice than the command's: OMP_WAIT_POLICY=passive")
    options = parser.parse_args()
    choice = dict([options.choice.split("=", 1)]) if options.choice else {}
    print("| model | busy processes | as OpenMP comes, ms | the command's choice, ms | pairwise ratio (quartiles) | "
          "times as long as alone |\n|---|---:|---:|---:|---|---:|")
    for model in options.models:
        recipe, settings, steps = RECIPES[model]
        alone = None
        for count in (0, 1, 2):
            with busy(count):
                pairs = [(milliseconds(options.command, recipe, settings, steps, AS_IT_COMES),
                          milliseconds(options.command, recipe, settings, steps, choice)) for _ in range(options.pairs)]
            before, chosen = (statistics.median(times) for times in zip(*pairs))
            alone = alone or chosen
            low, middle, high = statistics.quantiles([pair[0] / pair[1] for pair in pairs], n=4)
            print(f"| {model} | {count} | {before:.1f} | {chosen:.1f} | {middle:.2f} ({low:.2f} to {high:.2f}) | "
                  f"{chosen / alone:.2f} |", flush=True)


if __name__ == "__main__":
    main()
