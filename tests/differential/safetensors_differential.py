#!/usr/bin/env python3
"""Compares our safetensors reader with the reference package on mutated files.

  safetensors_differential.py build/release/safetensors_verdicts [--count 20000] [--seed 1]

Without --count it reads 20,000 files, a million where CACHET_ROBUSTNESS is "full".

Where the two disagree, the reason must be one of the deliberate differences that docs/file-formats.md lists; any other
disagreement is printed and makes the program fail. Needs `pip install safetensors`.
"""
import argparse
import collections
import json
import os
import random
import re
import struct
import subprocess
import sys

import safetensors

# Our reason to refuse what the reference accepts -> its line in docs/file-formats.md.
DELIBERATE = [
    (r"comes twice", "duplicate names"),
    (r"unknown field", "unknown fields"),
    (r"tensor's name|empty name", "names"),
    (r"more than 16 dimensions", "rank"),
    (r"over 2\^63 - 1|overflows 2\^63", "sizes of 2^63 and more"),
    (r"stores several values", "sub-byte types"),
    (r"expected '\{'", "entry as a list, metadata null"),
    (r"dtype must be a string", "dtype as an object"),
]
NUMBERS = ["0", "1", "2", "3", "4", "8", "16", "-1", "-0", "1.0", "1e0", "01", "9223372036854775807",
           "9223372036854775808", "18446744073709551615", "4294967296", "null", '"1"', "[]"]
TYPES = ["BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "I16", "F16", "BF16", "I32", "F32", "C64", "F64", "I64",
         "U64", "F4", "F6_E2M3", "I4", "f32", ""]
TOKENS = ["{", "}", "[", "]", ",", ":", '"', " ", "\n", "\\u0061", "\\ud83d\\ude00", "\\ud800", "\\n", "é", "\x7f",
          '"__metadata__":', '"__metadata__":{"k":"v"},', "null", "true", '"dtype"', '"x":1,', "\x00", "\t"]


def base_file(chance):
    entries, offset = [], 0
    for index in range(chance.randrange(4)):
        dtype, width = chance.choice([("U8", 1), ("BOOL", 1), ("F16", 2), ("F32", 4), ("I64", 8), ("F8_E4M3", 1)])
        shape = [chance.randrange(4) for _ in range(chance.randrange(4))]
        size = width
        for each in shape:
            size *= each
        entries.append((chance.choice(["a", "b", "w.0", "ü"]) + str(index),
                        {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}))
        offset += size
    chance.shuffle(entries)
    header = dict(entries)
    if chance.random() < 0.4:
        header = {"__metadata__": {"format": "pt", "k": "v\n"}, **header}
    text = json.dumps(header, ensure_ascii=chance.random() < 0.5, separators=chance.choice([(",", ":"), (", ", ": ")]))
    return bytearray(text.encode()), bytearray(offset)


def replace_match(chance, header, pattern, choices):
    matches = list(re.finditer(pattern, bytes(header)))
    if matches:
        match = chance.choice(matches)
        header[match.start():match.end()] = chance.choice(choices).encode()


def mutated(chance):
    header, data = base_file(chance)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        kind = chance.randrange(10)
        place = chance.randrange(len(header) + 1)
        if kind == 0 and place < len(header):
            header[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            header[place:place] = chance.choice(TOKENS).encode()
        elif kind == 2:
            del header[place:place + chance.randrange(1, 8)]
        elif kind == 3:
            end = min(len(header), place + chance.randrange(1, 60))
            header[place:place] = header[place:end]
        elif kind in (4, 5):
            replace_match(chance, header, rb"(?<=[\[,: ])\d+", NUMBERS)
        elif kind == 6:
            replace_match(chance, header, rb"(?<=dtype\":\")[A-Z0-9_a-z]*|(?<=dtype\": \")[A-Z0-9_a-z]*", TYPES)
        elif kind == 7:
            header += chance.choice([b" ", b"\n", b"\x00", b"x", b"{}"])
        elif kind == 8:
            data = data[:-1] if chance.random() < 0.5 else data + b"\0"
        else:
            pieces = re.split(rb"(,)", bytes(header))
            i, j = chance.randrange(len(pieces)), chance.randrange(len(pieces))
            pieces[i], pieces[j] = pieces[j], pieces[i]
            header = bytearray(b"".join(pieces))
    size = len(header)
    if chance.random() < 0.02:
        size = chance.choice([0, 1, size + 1, size - 1, 100_000_000, 100_000_001, 2**63, 2**64 - 1, 2**64 - 8])
    file = struct.pack("<Q", max(size, 0)) + bytes(header) + bytes(data)
    return file[:chance.randrange(len(file) + 1)] if chance.random() < 0.02 else file


def reference_verdict(file):
    try:
        tensors = safetensors.deserialize(file)
    except Exception:
        return None
    return sorted((entry["dtype"], tuple(entry["shape"]), len(entry["data"])) for _, entry in tensors)


def our_verdict(line):
    if line.startswith("-"):
        return None
    entries = []
    for word in line[1:].split():
        described, size = word.split("@")
        dtype, *shape = described.split(":")
        entries.append((dtype, tuple(map(int, shape)), int(size)))
    return sorted(entries)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verdicts", help="the program safetensors_verdicts")
    parser.add_argument("--count", type=int,
                        default=1_000_000 if os.environ.get("CACHET_ROBUSTNESS") == "full" else 20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    counts = collections.Counter()
    failures = 0
    for start in range(0, options.count, 10_000):
        files = [mutated(chance) for _ in range(min(10_000, options.count - start))]
        pack = b"".join(struct.pack("<Q", len(file)) + file for file in files)
        lines = subprocess.run([options.verdicts], input=pack, stdout=subprocess.PIPE, check=True).stdout
        lines = lines.decode("utf-8", "replace").split("\n")[:-1]
        assert len(lines) == len(files), "the verdicts are not one line a file"
        for file, line in zip(files, lines):
            ours, theirs = our_verdict(line), reference_verdict(file)
            if ours == theirs:
                counts["both accept" if ours is not None else "both refuse"] += 1
                continue
            reason = next((name for pattern, name in DELIBERATE if ours is None and re.search(pattern, line)), None)
            counts[reason or "UNEXPLAINED"] += 1
            if reason is None:
                failures += 1
                if failures <= 20:
                    print(f"{file!r}\n  ours: {line}\n  theirs: {theirs}")
    for name, count in counts.most_common():
        print(f"{count:10d}  {name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
