"""The values of a recipe, as the models read them."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NONE: Any = object()


class Options:
    """A table of a recipe.

    Args:
        values: the values of the recipe, by dotted keys.
        table: the dotted name of the table.
    """

    def __init__(self, values: Mapping[str, Any], table: str = "model") -> None:
        self._values, self._table = values, table

    def __call__(self, key: str, default: Any = _NONE) -> Any:
        """Returns the value of a key.

        Raises:
            ValueError: If the recipe does not have the key and there is no default.
        """
        value = self._values.get(f"{self._table}.{key}", default)
        if value is _NONE:
            raise ValueError(f"run: the recipe has no {self._table}.{key}; train or import the model again")
        return value

    def refuse(self, what: str) -> NotImplementedError:
        """Returns the exception for a part of a model that has no module."""
        return NotImplementedError(
            f"run: {what} ({self._table}) has no module in cachet.nn; use Run.predict, which runs the command"
        )

    def grid(self, key: str = "image_size") -> tuple[int, int]:
        """Returns the height and the width. The value of the key is one number, or a list of one or two numbers."""
        value = self(key)
        sides = value if isinstance(value, list) else [value]
        return int(sides[0]), int(sides[-1])
