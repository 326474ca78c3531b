"""Paragraphs, list items and cells of tables of Markdown, without code, HTML comments and addresses of links."""

import re

from word_check.text import NAMES, hidden

HIDDEN = re.compile(r"^```.*?^```[^\n]*$|<!--.*?-->", re.DOTALL | re.MULTILINE)
HIDE = re.compile(r"(?<=\])\([^)\n]*\)|" + NAMES.pattern)
# A block ends at an empty line, and where a list item, a heading or a row begins.
BLOCK = re.compile(r"\n(?=[ \t]*(?:[-*+] |\d+\. |#|\|))|\n[ \t]*\n")
CELL = re.compile(r"(?<!\\)\|")


def blocks(source):
    """Yields pieces, (line, text)."""
    source = HIDDEN.sub(hidden, source)
    start, line = 0, 1
    for end in [*(match.start() for match in BLOCK.finditer(source)), len(source)]:
        block = source[start:end]
        if block.lstrip().startswith("|"):
            position = 0
            for bar in [*(match.start() for match in CELL.finditer(block)), len(block)]:
                yield [(line + block.count("\n", 0, position), block[position:bar])]
                position = bar + 1
        else:
            yield [(line, block)]
        line += block.count("\n")
        start = end
