"""The rules of docs/evidence.md ("How a claim is decided"): the verdict of an interval on a claim."""

SEEN, NOT_SEEN, OPPOSITE = "seen", "not seen", "opposite"
WORDS = (NOT_SEEN, OPPOSITE, SEEN)


def above(difference, edge=0):
    if difference.low > edge:
        return SEEN
    return OPPOSITE if difference.high < edge else NOT_SEEN


def below(difference, edge=0):
    if difference.high < edge:
        return SEEN
    return OPPOSITE if difference.low > edge else NOT_SEEN


def equal(difference, within=1):
    if -within < difference.low and difference.high < within:
        return SEEN
    return OPPOSITE if difference.low > within or difference.high < -within else NOT_SEEN


def every(*verdicts):
    """Of a claim that asks for several differences."""
    if all(verdict == SEEN for verdict in verdicts):
        return SEEN
    return OPPOSITE if OPPOSITE in verdicts else NOT_SEEN
