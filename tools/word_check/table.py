"""The table of docs/words.md: which of its words the tool looks for, and in which forms.

The last cell of a row is `reader`, or it begins with `tool:` and lists forms in backquotes. Words of a form are divided by
spaces, forms of one word by slashes (`go/goes on with`); X is any word. After "not" are the forms that pass, after "outside" the
folders that the row does not cover.
"""

import dataclasses
import re

from word_check.text import NAME, NOTHING

HEAD = ("our term", "the field's term")
FORM = re.compile(r"`([^`]+)`")
ANY_WORD = rf"[\w{NAME}][\w'’{NAME}-]*"
GAP = rf"[\s{NOTHING}\"(“]+"
# A name of the code, a path, a key or an option has a word of the table as a part of it.
BEFORE, AFTER = r"(?<![\w./:$<\-–])", r"(?![\w])(?![-_./:(]\w|::|\s?=|\(\))"


@dataclasses.dataclass(frozen=True)
class Word:
    term: str
    replacement: str
    line: int
    forms: re.Pattern | None  # None: a reader judges
    passes: re.Pattern | None
    outside: tuple

    def hits(self, text):
        """Spans of the forms in a Text."""
        if self.forms is None or any(text.path.startswith(folder) for folder in self.outside):
            return []
        found = [match.span() for match in self.forms.finditer(text.plain)]
        if not found or self.passes is None:
            return found
        passed = [match.span() for match in self.passes.finditer(text.plain)]
        return [(start, end) for start, end in found if not any(low <= start and end <= high for low, high in passed)]


def pattern(forms):
    """The expression that matches each of the forms; None for none."""
    def word(alternatives):
        return "(?:" + "|".join(ANY_WORD if each == "X" else re.escape(each) for each in alternatives.split("/")) + ")"

    if not forms:
        return None
    alternatives = "|".join(GAP.join(word(each) for each in form.split()) for form in forms)
    return re.compile(f"{BEFORE}(?:{alternatives}){AFTER}", re.IGNORECASE)


def read_check(cell, line):
    """(forms, passes, outside) of the last cell of a row."""
    if cell == "reader":
        return None, None, ()
    if not cell.startswith("tool: "):
        raise ValueError(f"docs/words.md:{line}: the last cell is {cell!r}; write `reader`, or `tool:` and the forms that it finds")
    cell, _, outside = cell[len("tool: "):].partition("; outside ")
    forms, _, passes = cell.partition("; not ")
    if not FORM.search(forms):
        raise ValueError(f"docs/words.md:{line}: no form in backquotes follows `tool:`")
    return pattern(FORM.findall(forms)), pattern(FORM.findall(passes)), tuple(FORM.findall(outside))


def read_table(source):
    """The words of every table of the page whose first columns are those of HEAD."""
    words, in_table = [], False
    for line, text in enumerate(source.splitlines(), start=1):
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        if not text.startswith("|"):
            in_table = False
        elif tuple(cells[:2]) == HEAD:
            in_table = True
        elif in_table and not set(text) <= set("|-: "):
            term, replacement, check = cells[0].replace("`", ""), cells[1].replace("`", ""), cells[-1]
            if any(word.term == term for word in words):
                raise ValueError(f"docs/words.md:{line}: {term!r} has a row already")
            words.append(Word(term, replacement, line, *read_check(check, line)))
    if not words:
        raise ValueError("docs/words.md has no table that begins with | our term | the field's term |")
    return words
