"""Comments and strings of C++."""

import re

from word_check.text import NAME, NOTHING, joined

TOKEN = re.compile(
    r"""(?=[/"'uULR])(?:
      (?P<raw>(?<![A-Za-z0-9_])(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?P<body>.*?)\)(?P=mark)")
    | (?P<string>(?:(?<![A-Za-z0-9_])(?:u8|[uUL]))?"(?P<content>(?:[^"\\\n]|\\.)*)")
    | (?P<character>(?<![A-Za-z0-9_])(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
    | (?P<line>//(?:\\\r?\n|[^\n])*)
    | (?P<block>/\*.*?\*/)
    )""",
    re.DOTALL | re.VERBOSE)
ESCAPE = re.compile(r"\\(?:\r?\n|x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
QUOTES = {r"\"": NOTHING + '"', r"\'": NOTHING + "'"}
COMMENT_SIGN = re.compile(r"//[/!]?<?")
BLOCK_SIGN = re.compile(r"^/\*[*!]?<?|\*/$|^[ \t]*\*(?=\s|$)", re.MULTILINE)
EMBEDDED = ("js", "css")  # marks of raw strings that hold a program or a style sheet


def blank(match):
    """An escape as spaces of the same length, with its line end; a quotation mark stays."""
    return QUOTES.get(match[0], "".join(c if c == "\n" else " " for c in match[0]))


def comments_and_strings(source):
    """Yields (kind, pieces): `kind` is "comment", "string" or "embedded", and `pieces` are (line, text). An embedded text is
    a raw string with one of the marks EMBEDDED. Comments that follow each other on lines of their own are one, and so are
    adjacent strings."""
    comments, strings = [], []
    line, position = 1, 0
    column = string_end = None  # of the last comment and string
    for token in TOKEN.finditer(source):
        start, end = token.span()
        line += source.count("\n", position, start)
        position = start
        if token["line"] is not None:
            line_start = source.rfind("\n", 0, start) + 1
            alone = not source[line_start:start].strip()
            # A comment after code continues in its column, one on a line of its own in any.
            continues = alone and column in (None, start - line_start)
            column = start - line_start if continues and column is not None or not alone else None
            comments.append((line, COMMENT_SIGN.sub("", token["line"], count=1), continues))
        elif token["block"] is not None:
            yield "comment", [(line, BLOCK_SIGN.sub(lambda sign: " " * len(sign[0]), token["block"]))]
        elif token["raw"] is not None and token["mark"] in EMBEDDED:
            yield "embedded", [(line, token["body"])]
        elif token["character"] is None:
            piece = (line, ESCAPE.sub(blank, token["content"]) if token["raw"] is None else token["body"])
            if string_end is not None and not source[string_end:start].strip():
                strings[-1].append(piece)
            else:
                strings.append([piece])
            string_end = end
    yield from (("comment", pieces) for pieces in joined(comments))
    yield from (("string", pieces) for pieces in strings)


SCRIPT = re.compile(r"""(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
                    r"|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL)


def embedded(pieces):
    """The same of JavaScript or CSS that lies in a raw string."""
    [(first, source)] = pieces
    for token in SCRIPT.finditer(source):
        line = first + source.count("\n", 0, token.start())
        if token["string"] is not None:
            text = re.sub(r"\$\{[^{}]*\}", lambda code: NAME * len(code[0]), token["string"][1:-1])
            yield "string", [(line, text)]
        else:
            yield "comment", [(line, token["comment"])]


SCHEMA = re.compile(r"\bTensor\b.*->|\bSymInt\b")


def is_text(string):
    """Whether a string is read: a name, a path, a key and an operator's schema have no space or no words."""
    return bool(re.search(r"\s", string)) and re.search(r"[A-Za-z]{2}", string) is not None and not SCHEMA.search(string)
