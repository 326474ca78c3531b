"""The numbers of a page and the comments that name their sources.

    <!-- numbers
    gain = vit_cache.grc - vit_cache.plain
    | gated recurrent cache | {vit_cache.grc:.1f} | {vit_cache.grc.mean:.2f} |
    gains {gain.mean:+.1f} points, {above(gain)}
    holds: gain.mean > 0
    -->
    | | top-1, % | mean |
    …

A comment stands before a paragraph or a table. If its lines would make a page too long, a file can have them:

    <!-- numbers in docs/evidence/readme-ideas.txt -->

- `needs: name, …`: as long as docs/evidence lacks one of these files, the comment is passed over, and what follows it stands as it
  is: rows with "not run".
- `table: line`: a line of the head of the table. The table is written below the comment if it is not there, so that a page shows no
  rows without numbers while its files are missing.
- `name = expression` names a value for the rest of the page.
- `holds: expression` is a fact that the text states without a number.
- A line that begins with | is a row of the table. Its cells before the first brace find the row.
- Every other line is a phrase of the paragraph.
Braces hold an expression and a format. Expressions see the files of docs/evidence by their names, and
those of docs/performance as rates.NAME.
"""

import pathlib
import re
import string
import typing

from evidence_page import verdicts, writing
from evidence_page.paired import holm, pooled_sd, variance_ratio

COMMENT = re.compile(r"<!-- numbers(?: in (?P<file>[\w./-]+) -->|\n(?P<lines>.*?)-->)\n", re.DOTALL)
DEFINITION = re.compile(r"(\w+) = (.*)")
FACT = re.compile(r"holds: (.*)")
NEEDS = re.compile(r"needs: (.*)")
HEAD = re.compile(r"table: (.*)")
VERDICT = "|".join(map(re.escape, verdicts.WORDS))
NUMBER = r"[+−]?\d+(?:,\d{3})*(?:\.\d+)?(?: [kMG]\b)?"


class Problem(typing.NamedTuple):
    line: int
    text: str


class Comparisons:
    """The rows of one table that compare: p is corrected for their number."""

    def __init__(self):
        self.found, self.given = [], 0

    def row(self, difference, verdict=None, digits=2):
        """The cells "mean (low to high) | d | seeds | p by Holm", and the verdict if there is a rule for it."""
        self.found.append(difference.p)
        cells = [writing.interval(difference, digits), writing.effect(difference), writing.seeds(difference), self.next_p()]
        return " | ".join(cells + ([verdict(difference)] if verdict else []))

    def next_p(self):
        if self.given < 0:  # all are counted first
            return ""
        self.given += 1
        return writing.probability(holm(self.all)[self.given - 1])

    def count(self, render):
        """Calls it once to see all rows."""
        self.given = -1
        render()
        self.all, self.found, self.given = self.found, [], 0


HELPERS = {each.__name__: each for each in (
    verdicts.above, verdicts.below, verdicts.equal, verdicts.every, writing.interval, writing.effect, writing.seeds,
    writing.spread, writing.result, writing.span, writing.count, writing.ratio, writing.probability, pooled_sd, variance_ratio, abs, min, max, sum, list, zip)}
HELPERS["below_5"] = lambda difference: verdicts.below(difference, -5)
HELPERS["above_5"] = lambda difference: verdicts.above(difference, 5, opposite_below=0)


def computed(expression, names):
    return eval(expression, dict(names, __builtins__={}))  # the pages are the repository's own


def rendered(template, names):
    """The literal parts of a line and what its braces give: [(literal, text or None)…]"""
    parts = []
    for literal, field, spec, _ in string.Formatter().parse(template):
        text = None
        if field is not None:
            value = computed(field, names)
            text = writing.written(value, spec) if isinstance(value, (int, float)) else format(value, spec)
        parts.append((literal, text))
    return parts


def joined(parts):
    return "".join(literal + (text or "") for literal, text in parts)


def hole(text):
    """What may stand instead of a text: the same with other numbers and verdicts."""
    pattern, end = "", 0
    for found in re.finditer(f"{NUMBER}|{VERDICT}", text):
        pattern += re.escape(text[end:found.start()]) + (NUMBER if re.fullmatch(NUMBER, found[0]) else f"(?:{VERDICT})")
        end = found.end()
    return pattern + re.escape(text[end:])


def spaced(pattern):
    return re.sub(r"(\\ )+", r"\\s+", pattern)


class Page:
    """A page's text. `names` are those that expressions see (runs.measured()). `root`: where the files of comments are."""

    def __init__(self, text, names, root=pathlib.Path()):
        self.text, self.names, self.root = text, dict(HELPERS, **names), root
        self.problems = []
        self.checked = []  # where what was compared stands: (start, end)

    def line_at(self, position):
        return self.text.count("\n", 0, position) + 1

    def corrected(self):
        """The text with the right numbers; `problems` lists what was wrong or cannot be computed."""
        for mark in re.finditer(r"<!--\s*numbers", self.text):
            if not COMMENT.match(self.text, mark.start()):
                self.problem(mark.start(), "a comment of numbers is '<!-- numbers', lines, '-->' or '<!-- numbers in FILE -->'")
        changes = set()  # (start, end, text)
        for comment in COMMENT.finditer(self.text):
            try:
                changes.update(self.changes(comment))
            except Exception as error:  # whatever an expression throws
                self.problem(comment.start(), f"this comment cannot be computed: {type(error).__name__}: {error}")
        result, end = "", 0
        for start, stop, text in sorted(changes):
            result += self.text[end:start] + text
            end = stop
        return result + self.text[end:]

    def changes(self, comment):
        """What a comment changes in the paragraph or table that follows it."""
        end = self.text.find("\n\n", comment.end())
        block = (comment.end(), len(self.text) if end < 0 else end + 1)
        comparisons = Comparisons()
        self.names["row"] = comparisons.row
        facts, templates = [], []
        text = (self.root / comment["file"]).read_text() if comment["file"] else comment["lines"]
        lines = list(filter(str.strip, text.splitlines()))
        needed = [name for line in lines if (needs := NEEDS.fullmatch(line)) for name in re.split(r",\s*", needs[1])]
        if any(name not in self.names for name in needed):
            return []
        heads = [head[1] for line in lines if (head := HEAD.fullmatch(line))]
        for line in lines:
            if NEEDS.fullmatch(line) or HEAD.fullmatch(line):
                continue
            if definition := DEFINITION.fullmatch(line):
                self.names[definition[1]] = computed(definition[2], self.names)
            elif fact := FACT.fullmatch(line):
                facts.append(fact[1])
            else:
                templates.append(line)
        for fact in facts:
            if not computed(fact, self.names):
                self.problem(comment.start(), f"this does not hold: {fact}")
        comparisons.count(lambda: [rendered(line, self.names) for line in templates])
        if heads and not self.text.startswith(heads[0], comment.end()):
            self.problem(comment.start(), "its table is missing")
            return [(comment.end(), comment.end(), "".join(f"{line}\n" for line in [*heads, *map(self.line, templates)]))]
        return [change for line in templates
                for change in (self.row if line.startswith("|") else self.phrase)(rendered(line, self.names), block)]

    def line(self, template):
        return joined(rendered(template, self.names))

    def problem(self, position, text):
        self.problems.append(Problem(self.line_at(position), text))

    def row(self, parts, block):
        prefix, right = parts[0][0].rpartition("|")[0] + "|", joined(parts)
        block_text = self.text[block[0]:block[1]]
        starts = [found.start() for found in re.finditer("^" + re.escape(prefix), block_text, re.MULTILINE)]
        if len(starts) != 1:
            self.problem(block[0], f"{len(starts)} rows of the table begin with '{prefix}'")
            return []
        start = block[0] + starts[0]
        end = self.text.index("\n", start)
        self.checked.append((start, end))
        if self.text[start:end] == right:
            return []
        self.problem(start, f"the row should be: {right}")
        return [(start, end, right)]

    def phrase(self, parts, block):
        right = joined(parts)
        pattern = "".join(spaced(re.escape(literal)) + (f"({spaced(hole(text))})" if text is not None else "")
                          for literal, text in parts)
        # A number at an end of the phrase is a whole one.
        found = list(re.finditer(rf"(?<![\d.,+−]){pattern}(?![\d]|[.,]\d)", self.text[block[0]:block[1]]))
        if len(found) != 1:
            self.problem(block[0], f"'{right}' stands {len(found)} times in what follows, not once")
            return []
        changes = []
        for group, text in enumerate((text for _, text in parts if text is not None), start=1):
            start, end = (block[0] + each for each in found[0].span(group))
            self.checked.append((start, end))
            stands = re.sub(r"\s+", " ", found[0][group])
            if stands != text:
                self.problem(start, f"'{stands}' should be '{text}' in '{right}'")
                changes.append((start, end, text))
        return changes
