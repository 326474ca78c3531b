#!/usr/bin/env python3
"""Compares Cachet with the codes whose results it promises to have. `make peers` calls it.

usage: run.py BUILD [--only REGEX] [--page FILE]

BUILD is a folder such as build/release. Prints a line for each comparison and ends with 1 if a difference is above what
is allowed. --only takes the comparisons whose peer or subject has the expression. --page rewrites the table in this page.
"""
import argparse
import datetime
import json
import pathlib
import re
import sys
import tempfile
import time
import traceback

import comparison

FILES = ["sacrebleu_scores", "sentencepiece_tokens", "fairseq_translation", "recorded_values", "torch_optimizers",
         "torch_update_bn", "pillow_images", "timm_models", "timm_averages", "torchvision_operators", "pycocotools_scores",
         "tensorboard_logs", "safetensors_files"]
MARK = "<!-- table: peers, written by make peers -->"


def number(value, unit=""):
    if value is None:
        return "within"
    text = "0" if value == 0 else f"{value:.2g}"
    return text + (unit.removesuffix("s") if text == "1" else unit)


def table(rows, machine):
    today = datetime.date.today().isoformat()
    lines = [f"{today}, {machine}.", "",
             "| with | version | what | results compared | largest difference | allowed |", "|---|---|---|---|---|---|"]
    for one, version, found in rows:
        note = f"; {found.note}" if found.note else ""
        lines.append(f"| {one.peer} | {version} | {one.what}{note} | {found.cases:,} | {number(found.difference, one.unit)} | "
                     f"{number(one.allowed, one.unit)} |")
    return lines


def rewrite(page, rows, machine):
    """Puts the table between the two marks of the page."""
    parts = page.read_text().split(MARK)
    if len(parts) != 3:
        sys.exit(f"peers: {page} does not have the line {MARK} twice")
    page.write_text(MARK.join([parts[0], "\n" + "\n".join(table(rows, machine)) + "\n", parts[2]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    for file in FILES:
        __import__(file)
    chosen = [one for one in comparison.COMPARISONS if options.only.search(f"{one.peer} {one.what}")]
    if not chosen:
        sys.exit(f"peers: no comparison has {options.only.pattern!r} in its name")

    rows, failed = [], 0
    for one in chosen:
        start = time.monotonic()
        version = one.version()
        head = f"{one.peer} {version}, {one.what}"
        with tempfile.TemporaryDirectory() as scratch:
            try:
                found = one.compare(comparison.Setting(options.build, scratch))
            except Exception:
                failed += 1
                print(f"FAILED  {head}: it did not end\n{traceback.format_exc()}", flush=True)
                continue
        good = found.cases > 0 and (found.difference is None or found.difference <= one.allowed)
        failed += not good
        rows.append((one, version, found))
        print(f"{'same  ' if good else 'FAILED'}  {head}{': ' + found.note if found.note else ''}: {found.cases:,} results, "
              f"largest difference {number(found.difference, one.unit)}, allowed {number(one.allowed, one.unit)}, "
              f"{time.monotonic() - start:.0f} s", flush=True)
    if failed:
        sys.exit(f"peers: {failed} of {len(chosen)} comparisons failed")
    if options.page:
        machine = json.loads(comparison.Setting(options.build, "").cachet("env", "--json"))
        rewrite(options.page, rows, f"{machine['processor']}, {machine['hardware_threads']} cores, LibTorch {machine['torch']}")
    print(f"peers: all {len(chosen)} comparisons hold")


if __name__ == "__main__":
    main()
