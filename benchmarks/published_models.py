"""The published code of the papers, from checkouts that GRC_SRC (Cached Transformers) and UN_SRC (image_classification of
Unified Normalization) name: we may not carry it. ViT-S/16 is put around the published attention. And timm's models, where
timm is installed. None where there is no checkout or no timm."""
import contextlib
import functools
import importlib
import importlib.util
import os
import pathlib
import sys
import types

import torch
from torch import nn

from python_models import DIM, HEADS, ViT
from torchvision_names import declare_operators


@functools.cache
def timm():
    """timm, or None."""
    if importlib.util.find_spec("timm") is None:
        return None
    declare_operators()
    with contextlib.redirect_stdout(sys.stderr):  # What it misses it prints.
        return importlib.import_module("timm")


def timm_model(name):
    with contextlib.redirect_stdout(sys.stderr):
        return timm() and timm().create_model(name)


def _stand_in_for_timm():
    """The published modules import timm for names that they do not use here."""
    if timm() or "timm" in sys.modules:
        return
    names = {"timm": {}, "timm.models": {},
             "timm.models.layers": {"DropPath": nn.Identity, "to_2tuple": lambda x: (x, x), "trunc_normal_": nn.init.trunc_normal_},
             "timm.models.registry": {"register_model": lambda f: f},
             "timm.models.helpers": {"load_pretrained": None},
             "timm.models.vision_transformer": {"_cfg": lambda **k: k}}
    for name, members in names.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module


def checkout(variable):
    """The checkout that a variable names, ready to be imported from; None if it names none."""
    source = os.environ.get(variable)
    if source:
        _stand_in_for_timm()
        if source not in sys.path:
            sys.path.insert(0, source)
    return source


def published_layer(cached):
    if not checkout("GRC_SRC"):
        return None
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


def published_pvt_tiny(cached):
    """PVT-Tiny of the published GRC code, which passes its layer an argument that this does not take."""
    source = checkout("GRC_SRC")
    if not source:
        return None
    text = pathlib.Path(source, "core/pvt_grc.py").read_text().replace("proj_drop=drop, tk_mem=tk_mem,", "proj_drop=drop,")
    module = types.ModuleType("published_pvt")
    exec(compile(text, "pvt_grc.py", "exec"), module.__dict__)
    return module.PyramidVisionTransformer(
        patch_size=4, embed_dims=[64, 128, 320, 512], num_heads=[1, 2, 5, 8], mlp_ratios=[8, 8, 4, 4], qkv_bias=True,
        norm_layer=functools.partial(nn.LayerNorm, eps=1e-6), depths=[2, 2, 2, 2], sr_ratios=[8, 4, 2, 1],
        attn_type="grc" if cached else None)


def published_t2t():
    """T2T-ViT-14 as the published unified normalization has it, with LayerNorm."""
    if not checkout("UN_SRC"):
        return None
    with contextlib.redirect_stdout(sys.stderr):  # It prints which encoder it takes.
        return importlib.import_module("models.t2t_vit").T2t_vit_14()


def published_t2t_with_un():
    """T2T-ViT-14 with unified normalization as in the middle of a run, after the warm-up of its norms, without dropout."""
    if not checkout("UN_SRC"):
        return None
    with contextlib.redirect_stdout(sys.stderr):
        models = importlib.import_module("models.t2t_vit")
        norm = functools.partial(models.UN1d, window_size=4, warmup_iters=0, outlier_filtration=True)
        model = models.T2T_ViT(tokens_type="performer", embed_dim=384, depth=14, num_heads=6, mlp_ratio=3.0, norm_layer=norm)
    for module in model.modules():
        if isinstance(module, models.UN1d):
            module.iters.fill_(1200)  # the code treats the first 1,000 steps apart
        if isinstance(module, nn.Dropout):
            module.p = 0.0
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
