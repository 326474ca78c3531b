"""Comments of a recipe, and the strings of its table [paper]."""

import re

from word_check.text import joined

TOKEN = re.compile(r'(?P<string>"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
                   r"|(?P<comment>#[^\n]*)|(?P<table>^[ \t]*\[[^\n]*\])", re.DOTALL | re.MULTILINE)


def texts(source):
    """Yields pieces, (line, text)."""
    comments, table = [], ""
    for token in TOKEN.finditer(source):
        line_start = source.rfind("\n", 0, token.start()) + 1
        line = source.count("\n", 0, line_start) + 1
        if token["table"] is not None:
            table = token["table"].strip()
        elif token["comment"] is not None:
            comments.append((line, token["comment"][1:], not source[line_start:token.start()].strip()))
        elif table == "[paper]":
            yield [(line, token["string"].strip("\"'"))]
    yield from joined(comments)
