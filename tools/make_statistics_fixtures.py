#!/usr/bin/env python3
"""Writes tests/data/statistics.json: distributions, intervals and verdicts as SciPy computes them.

    python3 tools/make_statistics_fixtures.py          (needs scipy)
"""

import json
import math
import pathlib
import random

import numpy as np
import scipy
from scipy import stats

DRAW = random.Random(54)
ONE_STANDARD_ERROR = math.erf(1 / math.sqrt(2))


def power_of_pairs(effect, pairs):
    bound, shift = stats.t.ppf(0.975, pairs - 1), abs(effect) * math.sqrt(pairs)
    return stats.nct.sf(bound, pairs - 1, shift) + stats.nct.cdf(-bound, pairs - 1, shift)


def pairs_to_decide(effect):
    pairs = 2
    while power_of_pairs(effect, pairs) < 0.8:
        pairs += 1
    return pairs


def drawn_side():
    """Accuracies of two to five seeds: some sides have ties, a value that is not a number, or a seed that failed."""
    count, mean = DRAW.randint(2, 5), DRAW.uniform(0.6, 0.7)
    values = [round(DRAW.gauss(mean, DRAW.choice([0.001, 0.01, 0.03])), 4) for _ in range(count)]
    kind = DRAW.choice(["usual"] * 6 + ["tie", "tie", "not a number", "failed"])
    if kind == "tie":
        values = [values[0]] * count
    if kind == "not a number":
        values[DRAW.randrange(count)] = None
    return {"values": values, "failed": DRAW.randrange(count) if kind == "failed" else None}


def verdict_of(first, other):
    if first["failed"] is not None or other["failed"] is not None:
        return {"verdict": "not compared"}
    if None in first["values"] or None in other["values"]:
        return {"verdict": "not a number"}
    if len(set(first["values"])) == 1 and len(set(other["values"])) == 1:
        return {"verdict": "equal seeds"}
    test = stats.ttest_ind(other["values"], first["values"], equal_var=False)
    interval = test.confidence_interval(0.95)
    return {"verdict": "more" if test.pvalue < 0.05 else "no more", "bound": (interval.high - interval.low) / 2}


def groups():
    drawn = []
    for _ in range(200):
        first, other = drawn_side(), drawn_side()
        drawn.append({"first": first, "other": other, **verdict_of(first, other)})
    return drawn


def pairs():
    drawn = []
    for _ in range(50):
        count = DRAW.randint(2, 8)
        before = [round(DRAW.uniform(0.5, 0.7), 4) for _ in range(count)]
        after = [round(value + DRAW.gauss(0.01, 0.01), 4) for value in before]
        interval = stats.ttest_rel(after, before).confidence_interval(0.95)
        drawn.append({"before": before, "after": after, "lower": interval.low, "upper": interval.high})
    return drawn


def shares():
    drawn = []
    for count in (1, 2, 5, 20, 100, 2000):
        for right in sorted({0, 1, count // 3, count - 1, count}):
            interval = stats.binomtest(right, count).proportion_ci(ONE_STANDARD_ERROR, method="wilson")
            drawn.append({"share": right / count, "count": count, "lower": interval.low, "upper": interval.high})
    return drawn


def main():
    degrees = [1, 1.5, 2, 2.94, 3, 4.2, 7.7, 10, 10.5, 15, 29.3, 100, 1000.5, 1e6]
    effects = [0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3, 5, 10, 19, -0.8]
    values = {"scipy": scipy.__version__,
              "students_t": [[each, float(stats.t.ppf(0.975, each))] for each in degrees],
              "pairs_to_decide": [[each, pairs_to_decide(each)] for each in effects],
              "shares": shares(), "pairs": pairs(), "groups": groups()}
    file = pathlib.Path(__file__).resolve().parent.parent / "tests/data/statistics.json"
    file.write_text(json.dumps(values, indent=1, default=np.ndarray.tolist) + "\n")


if __name__ == "__main__":
    main()
