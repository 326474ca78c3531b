"""How a page writes numbers."""

import decimal
import math
import re

DIGITS = re.compile(r"\+?,?\.(\d+)f")


def written(number, spec):
    """As format() with the minus of a page; a 5 goes up as on paper: 64.35 is 64.4, though its nearest double is less."""
    form = DIGITS.fullmatch(spec)
    if form and math.isfinite(number):
        digit = decimal.Decimal(1).scaleb(-int(form[1]))
        number = decimal.Decimal(f"{number:.12g}").quantize(digit, decimal.ROUND_HALF_UP)
        number = number if number else abs(number)
    return format(number, spec).replace("-", "−")


NONE = "–"  # a cell whose number is not defined


def interval(difference, digits=2):
    if difference.same:
        return written(difference.mean, f"+.{digits}f" if difference.mean else f".{digits}f") + " in every seed"
    mean, low, high = (written(each, f"+.{digits}f") for each in (difference.mean, difference.low, difference.high))
    return f"{mean} ({low} to {high})"


def ratio(of):
    if not math.isfinite(of.mean):
        return "both variances are 0" if math.isnan(of.mean) else "the second variance is 0"
    mean, low, high = (written(each, ".2f" if each < 9.995 else ".1f") for each in (of.mean, of.low, of.high))
    return f"{mean} ({low} to {high})"


def effect(difference):
    if difference.same:
        return NONE
    return written(difference.d, ".1f" if abs(difference.d) < 9.95 else ".0f")


def seeds(difference):
    """To two digits from 1,000 on."""
    found = difference.seeds
    if math.isinf(found):
        return NONE
    return f"{found}" if found < 1000 else f"{float(f'{found:.1e}'):,.0f}"


def spread(values, digits=2):
    return f"{written(values.mean, f'.{digits}f')} ± {written(values.sd, f'.{digits}f')}"


def result(sweep, name, digits=2):
    """The runs of a variant, or "not run" as long as the file has none of them."""
    if name not in sweep.variants:
        return "not run"
    values = sweep[name]
    if values.n == 0:
        return "not finite"
    return f"{written(values.mean, f'.{digits}f')} (1 seed)" if values.n == 1 else f"{spread(values, digits)} ({values.n} seeds)"


def span(numbers, digits=1):
    """The smallest and the largest, or one number if they are written alike."""
    first, last = (written(each, f".{digits}f") for each in (min(numbers), max(numbers)))
    return first if first == last else f"{first} to {last}"


def count(number):
    """With three digits, as the command prints counts: 3.69 M, 62.9 k."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        value = number / size
        if value >= 0.9995:
            return written(value, ".2f" if value < 9.995 else ".1f" if value < 99.95 else ".0f") + unit
    return written(number, ".0f")


def probability(p):
    if p < 0.0005:
        return "< 0.001"
    return written(p, ".3f" if p < 0.0995 else ".2f")
