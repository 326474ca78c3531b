"""Options that are words: the operators take numbers for them."""
from __future__ import annotations

from collections.abc import Mapping


def number_of(option: str, word: str, numbers: Mapping[str, int]) -> int:
    """The number of a word. For another word: ValueError with the option and its words."""
    if word in numbers:
        return numbers[word]
    words = ", ".join(f'"{each}"' for each in numbers)
    raise ValueError(f'{option}: "{word}" is not one of {words}')
