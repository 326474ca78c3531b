"""Options that are strings in Python and numbers in the operators."""
from __future__ import annotations

from collections.abc import Mapping


def number_of(option: str, word: str, numbers: Mapping[str, int]) -> int:
    """Returns the number of an option's string. If the string is not valid, raises a ValueError."""
    if word in numbers:
        return numbers[word]
    words = ", ".join(f'"{each}"' for each in numbers)
    raise ValueError(f'{option}: "{word}" is not one of {words}')
