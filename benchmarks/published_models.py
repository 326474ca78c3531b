"""ViT-S/16 around the attention modules of the published code of Cached Transformers, from a checkout of it that GRC_SRC
names. Its licence does not let us carry it. None where there is no checkout."""
import importlib
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


def published_vit(cached):
    source = os.environ.get("GRC_SRC")
    if not source:
        return None
    _stand_in_for_timm()
    sys.path.insert(0, source)
    modules = importlib.import_module("core.GRC_Attention")
    model = ViT(False)
    for block in model.blocks:
        block.attn = (modules.GRC_Self_Attention(DIM, attention_func=modules.Attention, num_heads=HEADS, qkv_bias=True)
                      if cached else modules.Attention(DIM, num_heads=HEADS, qkv_bias=True))
    return model
