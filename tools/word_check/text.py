"""A text that a reader sees as one: a comment, a string, a paragraph. It knows the line of each of its characters."""

import bisect
import re

# A name replaces what it covers: it is one word, and no word of the table.
NAME = "\x01"
NOTHING = "\u200b"  # fills what an escape takes more than its character
NAMES = re.compile(r"`[^`\n]*`"                        # code
                   r"|(?<![\w\x01])'[\w./:=*-]+'(?!\w)"  # a quoted name
                   r"|</?[a-zA-Z][^<>\n]*>"            # a tag of HTML
                   r"|\bhttps?://\S+")
SENTENCE_END = re.compile(r"[.!?;:]\s+(?=[A-Z\x01\"(])|\n\s*\n")
LONGEST = 240


def hidden(match):
    """The match as a name of the same length; line ends stay."""
    return re.sub(r"[^\n]", NAME, match[0])


class Text:
    """`area` is a member of areas.AREAS; `pieces` are (line, string), which follow each other in the text."""

    def __init__(self, area, path, pieces, hide=NAMES):
        self.area, self.path = area, path
        self._starts, self._lines = [], []
        position = 0
        for line, piece in pieces:
            self._starts.append(position)
            self._lines.append(line)
            position += len(piece)
        self.text = "".join(piece for _, piece in pieces)
        self.plain = hide.sub(hidden, self.text)

    def line(self, position):
        piece = bisect.bisect_right(self._starts, position) - 1
        return self._lines[piece] + self.text.count("\n", self._starts[piece], position)

    def sentence(self, start, end):
        """The sentence around the characters from `start` to `end`, on one line."""
        first = 0
        last = len(self.text)
        for match in SENTENCE_END.finditer(self.plain):
            if match.end() <= start:
                first = match.end()
            elif match.start() >= end:
                last = match.start() + 1
                break
        sentence = " ".join(self.text[first:last].replace(NOTHING, "").split())
        return sentence if len(sentence) <= LONGEST else sentence[: LONGEST - 1] + "…"


def joined(comments):
    """Yields pieces of `comments`, (line, text, whether nothing else is on its line): those on lines that follow each other
    are one text."""
    pieces = []
    for line, text, alone in comments:
        if pieces and alone and line == pieces[-1][0] + 1:
            pieces += [(line - 1, "\n"), (line, text)]
        else:
            if pieces:
                yield pieces
            pieces = [(line, text)]
    if pieces:
        yield pieces
