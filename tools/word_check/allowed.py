"""The allow-list: sentences that may hold a word of the table, each with a reason."""

import dataclasses
import fnmatch
import tomllib

MOST = 40
KEYS = {"word", "file", "text", "reason"}


@dataclasses.dataclass
class Allowed:
    word: str
    file: str  # a pattern of paths
    text: str  # a part of the sentence; line ends count as spaces
    reason: str
    used: bool = False

    def covers(self, finding):
        same = (self.word == finding.word.term and fnmatch.fnmatch(finding.path, self.file)
                and self.text in finding.sentence)
        self.used |= same
        return same


def read_allowed(source, terms):
    """The entries; throws ValueError for one that is not whole, and for more than MOST."""
    entries = []
    for number, table in enumerate(tomllib.loads(source).get("allowed", []), start=1):
        if set(table) != KEYS or not all(isinstance(value, str) and value.strip() for value in table.values()):
            raise ValueError(f"allowed.toml: entry {number} needs the keys {', '.join(sorted(KEYS))}, each with a text")
        if table["word"] not in terms:
            raise ValueError(f"allowed.toml: entry {number}: docs/words.md has no word {table['word']!r} that the tool looks for")
        entries.append(Allowed(**table))
    if len(entries) > MOST:
        raise ValueError(f"allowed.toml has {len(entries)} entries, and may have {MOST}: rewrite sentences")
    return entries
