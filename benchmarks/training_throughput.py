#!/usr/bin/env python3
"""Tokens a second of whole training steps, for each task of the arena and attention function, and how long a step waits
for its data: training_throughput.py COMMAND DATA [--tasks GLOB] [--functions GLOB]

COMMAND is build/release/cachet. DATA holds listops, aclImdb, imdb-pairs and cifar-10-batches-bin, as `cachet data` makes
them; a task whose folder is not there is left out. The arena's models at up to 1,000 tokens, eight sequences (or pairs) a
step, fp32, two threads. Prints CSV.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from measurements import print_row

TASKS = {"ListOps": ("lra_listops", "listops", []), "text": ("lra_text", "aclImdb", []),
         "matching": ("lra_matching", "imdb-pairs", ["data.root=imdb-pairs", "data.files=imdb_pairs"]),
         "image": ("lra_image", "cifar-10-batches-bin", [])}
FUNCTIONS = {"softmax": ["kind=softmax"], "softmax, GRC": ["kind=softmax"], "elu + 1": ["kind=elu"],
             "2×GLU": ["kind=kernel", "form=glu", "layers=2"], "Performer": ["kind=performer"], "BigBird": ["kind=bigbird"],
             "Reformer": ["kind=reformer"], "local": ["kind=local"]}
WARMUP, STEPS, THREADS = 2, 8, 2


def measure(command, data, recipe, settings):
    """Tokens a second and the fraction of time spent waiting for data."""
    with tempfile.TemporaryDirectory() as scratch:
        words = [command, "train", recipe, "--run", f"{scratch}/run", "--progress", "none"]
        # A run ends with an evaluation: a limit keeps it short.
        for each in (*settings, f"train.limit={STEPS} steps", f"train.log_every={WARMUP} steps", "train.batch_size=8",
                     f"train.threads={THREADS}", "train.evaluate_every=1000000 steps", "data.limit=200"):
            words += ["--set", each]
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "CACHET_DATA": str(data)})
        if done.returncode != 0:
            sys.exit(done.stderr)
        lines = [json.loads(line) for line in pathlib.Path(scratch, "run", "metrics.jsonl").read_text().splitlines()]
    machines = [line["machine"] for line in lines if line["kind"] == "step" and line["step"] > WARMUP]
    return (statistics.mean(machine["tokens_per_second"] for machine in machines),
            statistics.mean(machine["data_wait"] for machine in machines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--tasks", default="*")
    parser.add_argument("--functions", default="*")
    options = parser.parse_args()
    functions = {name: words for name, words in FUNCTIONS.items() if fnmatch.fnmatch(name, options.functions)}
    for task, (recipe, folder, settings) in TASKS.items():
        if not fnmatch.fnmatch(task, options.tasks) or not (options.data / folder).is_dir():
            continue
        for name, words in functions.items():
            cache = ["model.cache.kind=grc", "model.cache.ratio=0.5"] if name.endswith("GRC") else []
            length = [] if task == "image" else ["data.max_length=1000"]
            tokens, wait = measure(options.command, options.data.resolve(), recipe,
                                   [*settings, *length, *(f"model.attention.{word}" for word in words), *cache])
            print_row(task=task, function=name, threads=THREADS, ktokens_per_s=f"{tokens / 1e3:.2f}",
                      data_wait_percent=f"{100 * wait:.1f}")


if __name__ == "__main__":
    main()
