"""Values by seed, and their differences by pairs of seeds with the interval, the effect size and the seeds to see it."""

import functools
import math
import statistics
import typing

from scipy import stats

from evidence_page.writing import written

LEVEL, POWER = 0.95, 0.8
ROUNDING = 1e-9  # values that are closer are equal: differences of equal pairs are rounded apart
MOST_PAIRS = 1_000_000  # an effect that needs more counts as none


def power_of_pairs(effect, pairs):
    """The probability that the two-sided paired t-test with so many pairs finds a difference of this effect size."""
    bound, shift = stats.t.ppf((1 + LEVEL) / 2, pairs - 1), abs(effect) * math.sqrt(pairs)
    return stats.nct.sf(bound, pairs - 1, shift) + stats.nct.cdf(-bound, pairs - 1, shift)


@functools.cache
def pairs_to_decide(effect):
    """The smallest number of pairs that has the power; infinity if no number has it, as for an effect of zero."""
    if math.isinf(effect):
        return 2
    few, many = 1, 2
    while power_of_pairs(effect, many) < POWER:
        few, many = many, 2 * many
        if many > MOST_PAIRS:
            return math.inf
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if power_of_pairs(effect, middle) >= POWER else (middle, many)
    return many


def without_rounding(number):
    return 0.0 if abs(number) <= ROUNDING else number


def quotient(number, spread):
    """A number divided by a spread. If the spread is zero: infinity with the number's sign, and zero for zero."""
    if spread != 0:
        return number / spread
    return math.copysign(math.inf, number) if number else 0.0


def holm(values):
    """p values corrected by Holm for all that are given, in their order."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, largest = [0.0] * len(values), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = largest
    return corrected


class Values(dict):
    """A number for each seed. a - b has the differences of the seeds that both have."""

    def __sub__(self, other):
        shared = [seed for seed in self if seed in other]
        if len(shared) < 2:
            raise ValueError(f"{len(shared)} seeds in common: a difference needs two")
        return Values({seed: dict.__getitem__(self, seed) - dict.__getitem__(other, seed) for seed in shared})

    def seeds_below(self, count):
        return Values({seed: value for seed, value in self.items() if seed < count})

    def __format__(self, spec):
        """Each value, in the order of the seeds."""
        return ", ".join(written(value, spec) for value in self.values())

    each = property(lambda self: list(self.values()))
    n = property(len)
    mean = property(lambda self: without_rounding(statistics.fmean(self.each)) if self.same else statistics.fmean(self.each))
    same = property(lambda self: max(self.each) - min(self.each) <= ROUNDING)
    sd = property(lambda self: 0.0 if self.same else statistics.stdev(self.each))
    half_width = property(lambda self: stats.t.ppf((1 + LEVEL) / 2, self.n - 1) * self.sd / math.sqrt(self.n))
    low = property(lambda self: self.mean - self.half_width)
    high = property(lambda self: self.mean + self.half_width)
    d = property(lambda self: quotient(self.mean, self.sd))
    seeds = property(lambda self: pairs_to_decide(abs(self.d)))
    p = property(lambda self: 2 * stats.t.sf(abs(self.d) * math.sqrt(self.n), self.n - 1))


class Ratio(typing.NamedTuple):
    mean: float
    low: float
    high: float
    p: float


def variance_ratio(first, second):
    """The variance between the seeds of one, divided by that of the other, with its interval by the F distribution and the
    two-sided p value of a ratio of 1. If both are zero, the ratio is NaN, no verdict is seen, and p is 1."""
    if first.sd == second.sd == 0:
        return Ratio(math.nan, math.nan, math.nan, 1.0)
    ratio, degrees = quotient(first.sd ** 2, second.sd ** 2), (first.n - 1, second.n - 1)
    bounds = stats.f.ppf([(1 + LEVEL) / 2, (1 - LEVEL) / 2], *degrees)
    p = 2 * min(stats.f.cdf(ratio, *degrees), stats.f.sf(ratio, *degrees))
    return Ratio(ratio, *(float(ratio / bound) for bound in bounds), float(min(1, p)))


def pooled_sd(*groups):
    """The standard deviation between seeds within groups of different means."""
    return math.sqrt(sum((each.n - 1) * each.sd ** 2 for each in groups) / sum(each.n - 1 for each in groups))
