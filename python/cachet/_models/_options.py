"""The values of a recipe, as models read them."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NONE: Any = object()


class Options:
    """A table of a recipe.

    Args:
        values: of the recipe, by dotted keys.
        table: the dotted name of the table.
    """

    def __init__(self, values: Mapping[str, Any], table: str = "model") -> None:
        self._values, self._table = values, table

    def __call__(self, key: str, default: Any = _NONE) -> Any:
        """The value of a key. ValueError if the recipe does not have it and there is no default."""
        value = self._values.get(f"{self._table}.{key}", default)
        if value is _NONE:
            raise ValueError(f"run: the recipe has no {self._table}.{key}; train or import the model again")
        return value

    def refuse(self, what: str) -> NotImplementedError:
        """The error for a part that has no module."""
        return NotImplementedError(
            f"run: {what} ({self._table}) has no module in cachet.nn; Run.predict answers through the command"
        )

    def grid(self, key: str = "image_size") -> tuple[int, int]:
        """Height and width: one number, or a list of one or two."""
        value = self(key)
        sides = value if isinstance(value, list) else [value]
        return int(sides[0]), int(sides[-1])
