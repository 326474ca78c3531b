"""The rules of docs/evidence.md ("How a claim is decided"): the verdict of an interval on a claim."""

SEEN, NOT_SEEN, OPPOSITE = "seen", "not seen", "opposite"
WORDS = (NOT_SEEN, OPPOSITE, SEEN)


def above(difference, edge=0, opposite_below=None):
    """Of a claim that a difference is above the edge. If another limit refutes the claim, it is `opposite_below`."""
    if difference.low > edge:
        return SEEN
    return OPPOSITE if difference.high < (edge if opposite_below is None else opposite_below) else NOT_SEEN


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
