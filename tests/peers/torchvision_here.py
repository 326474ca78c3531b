"""Lets torchvision, and timm with it, be imported where its compiled operators do not fit the build of PyTorch, as those of
its CUDA build next to a PyTorch for the CPU. What it has in Python works without them. Import this before either."""
import importlib.util
import pathlib

import torch


def _load():
    folder = pathlib.Path(importlib.util.find_spec("torchvision").origin).parent
    for library in folder.glob("_C*.so"):
        try:
            torch.ops.load_library(str(library))
            return True
        except OSError:
            pass
    # torchvision registers shapes for these when it is imported.
    declared = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        declared.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return declared


_loaded = _load()  # keeps the declarations alive
HAS_OPERATORS = _loaded is True
