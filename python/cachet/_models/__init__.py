"""Modules for the models of recipes, with the C++ names."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from cachet._models._options import Options
from cachet._models._text import CausalTransformer, LongRangeTransformer
from cachet._models._transformer_xl import TransformerXL
from cachet._models._vision import PyramidVisionTransformer, SwinTransformer, VisionTransformer


def build(values: Mapping[str, Any]) -> nn.Module:
    """Makes the model of a recipe, with randomly initialised weights.

    Args:
        values: the values of the recipe, by dotted keys.

    Raises:
        NotImplementedError: If a part of the model has no module. The message names the part.
        ValueError: If the recipe lacks a value that the model needs.
    """
    o = Options(values)
    name, task = str(o("name")), values.get("task.kind")
    if name.startswith(("vit_", "deit_")):
        return VisionTransformer(o)
    if name.startswith("pvt_") and task in (None, "image_classification"):
        return PyramidVisionTransformer(
            o, "v1" if not name.startswith("pvt_v2") else "v2_linear" if name.endswith("_li") else "v2"
        )
    if name.startswith("swin_") and task in (None, "image_classification"):
        return SwinTransformer(o)
    if name.startswith("lra_"):
        return LongRangeTransformer(o)
    if name.startswith("causal_transformer"):
        return CausalTransformer(o)
    if name.startswith("transformer_xl"):
        return TransformerXL(o)
    raise NotImplementedError(
        f"run: the model {name} ({task}) has no module in cachet.nn; use Run.predict, which runs the command"
    )
