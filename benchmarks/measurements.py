"""What the Python programs here print: lines of CSV, and quartiles."""
import csv
import statistics
import sys

_writer = None


def print_row(**columns):
    """Prints a row, after the names of the columns if it is the first."""
    global _writer
    if _writer is None:
        _writer = csv.DictWriter(sys.stdout, list(columns), lineterminator="\n")
        _writer.writeheader()
    _writer.writerow(columns)
    sys.stdout.flush()


def pairs_of(rounds, ours, other, warm_up=0):
    """(ours(), other()) of each round after the first `warm_up`: one after the other, and each first in every other
    round, so that neither always finds what the other left in caches and clocks."""
    pairs = []
    for turn in range(warm_up + rounds):
        if turn % 2 == 0:
            own = ours()
            pairs.append((own, other()))
        else:
            theirs = other()
            pairs.append((ours(), theirs))
    return pairs[warm_up:]


def median(values, digits):
    return f"{statistics.median(values):.{digits}f}"


def ratio_columns(others, ours):
    """Median and quartiles of others ÷ ours, pair by pair."""
    ratios = [other / own for other, own in zip(others, ours)]
    lower, middle, upper = (statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3)
    return {"ratio": f"{middle:.2f}", "lower": f"{lower:.2f}", "upper": f"{upper:.2f}"}
