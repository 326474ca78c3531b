"""Lets a torchvision of another build of torch be imported for what it has in Python."""
import functools
import importlib.util

import torch


@functools.cache
def declare_operators():
    """With a CPU build of torch, torchvision may lack operators that it declares shapes for as it is imported."""
    if importlib.util.find_spec("torchvision") is None:
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms", "roi_align", "qroi_align"):
        library.define(f"{name}(Tensor a, Tensor b, float c) -> Tensor")
    return library  # operators live as long as it does
