"""The published code of the papers, from checkouts that GRC_SRC (Cached Transformers) and UN_SRC (image_classification of
Unified Normalization) name: we may not carry it. ViT-S/16 is put around the published attention. None where there is no
checkout."""
import importlib
import importlib.util
import os
import sys
import types

from torch import nn

from python_models import DIM, HEADS, ViT


def _stand_in_for_timm():
    """The published modules import timm for names that they do not use here."""
    if "timm" in sys.modules:
        return
    names = {"timm": {}, "timm.models": {},
             "timm.models.layers": {"DropPath": nn.Identity, "to_2tuple": lambda x: (x, x), "trunc_normal_": nn.init.trunc_normal_},
             "timm.models.registry": {"register_model": lambda f: f},
             "timm.models.vision_transformer": {"_cfg": lambda **k: k}}
    for name, members in names.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module


def published_layer(cached):
    source = os.environ.get("GRC_SRC")
    if not source:
        return None
    _stand_in_for_timm()
    if source not in sys.path:
        sys.path.insert(0, source)
    modules = importlib.import_module("core.GRC_Attention")
    if not cached:
        return modules.Attention(DIM, num_heads=HEADS, qkv_bias=True)
    return modules.GRC_Self_Attention(DIM, attention_func=modules.Attention, num_heads=HEADS, qkv_bias=True)


def published_vit(cached):
    if published_layer(cached) is None:
        return None
    model = ViT(False)
    for block in model.blocks:
        block.attn = published_layer(cached)
    return model


def published_norm(channels):
    """The published unified normalization without its warm-up, from the checkout that UN_SRC names."""
    source = os.environ.get("UN_SRC")
    if not source:
        return None
    path = os.path.join(source, "models/unified_normalization/unified_normalization.py")
    specification = importlib.util.spec_from_file_location("published_norm", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.UN1d(channels, warmup_iters=0)
