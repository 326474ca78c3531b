"""Options that are words: the operators take numbers for them."""
from __future__ import annotations

from collections.abc import Mapping


def number_of(option: str, word: str, numbers: Mapping[str, int]) -> int:
    """The number of a word. Raises ValueError that names the option and lists its words if the value is not one of them."""
    if word in numbers:
        return numbers[word]
    words = ", ".join(f'"{each}"' for each in numbers)
    raise ValueError(f'{option}: "{word}" is not one of {words}')
