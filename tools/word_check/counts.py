"""The stored count of each word in each area. It may only fall; where none is stored it is 0."""

import collections
import csv
import io


def counted(findings):
    return collections.Counter((finding.area, finding.word.term) for finding in findings)


def read_counts(source):
    rows = csv.DictReader(io.StringIO(source))
    return collections.Counter({(row["area"], row["word"]): int(row["count"]) for row in rows})


def written(counts):
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(("area", "word", "count"))
    writer.writerows((*key, count) for key, count in sorted(counts.items()) if count)
    return output.getvalue()


def risen(found, stored):
    """{(area, word): (found, stored)} of the counts that are higher than the stored ones."""
    return {key: (count, stored[key]) for key, count in sorted(found.items()) if count > stored[key]}


def lowered(found, stored, terms):
    """The stored counts, each at most what was found; a word that is new in the table gets its count."""
    known = {word for _, word in stored}
    fresh = {key: count for key, count in found.items() if key[1] in terms and key[1] not in known}
    return collections.Counter({**{key: min(count, found[key]) for key, count in stored.items()}, **fresh})
