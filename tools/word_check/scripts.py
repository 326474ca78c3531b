"""Comments and docstrings of Python; comments of shell scripts, CMake and make."""

import re

from word_check.text import joined

LONG = r'[rRbBfFuU]{0,2}(?:"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\')'
SHORT = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
PYTHON = re.compile(rf"(?P<docstring>^[ \t]*{LONG})|(?P<string>{LONG}|{SHORT})|(?P<comment>#[^\n]*)",
                    re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"(?P<comment>(?:^|(?<=[ \t]))#(?!!)[^\n]*)", re.MULTILINE)


def comment_lines(tokens, source):
    for token in tokens:
        line_start = source.rfind("\n", 0, token.start()) + 1
        yield (source.count("\n", 0, line_start) + 1, token["comment"].lstrip("#"),
               not source[line_start:token.start()].strip())


def python(source):
    """Yields pieces, (line, text)."""
    tokens = list(PYTHON.finditer(source))
    for token in tokens:
        if token["docstring"] is not None:
            yield [(source.count("\n", 0, token.start()) + 1, token["docstring"])]
    yield from joined(comment_lines((token for token in tokens if token["comment"] is not None), source))


def shell(source):
    yield from joined(comment_lines(SHELL.finditer(source), source))
