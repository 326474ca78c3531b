"""What timm publishes of a ViT-Tiny, made here: weights in safetensors under timm's names, and its config.json. The weights are drawn, so
that nothing is downloaded; names, shapes and keys are timm's."""
import array
import json
import math
import random
import struct

REPOSITORY = "timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k"
DIM, BLOCKS, CLASSES, TOKENS, PATCH = 192, 12, 1000, 197, 16
CONFIG = {
    "architecture": "vit_tiny_patch16_224", "num_classes": CLASSES, "num_features": DIM, "global_pool": "token",
    "pretrained_cfg": {"tag": "augreg_in21k_ft_in1k", "input_size": [3, 224, 224], "fixed_input_size": True, "interpolation": "bicubic",
                       "crop_pct": 0.9, "crop_mode": "center", "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "num_classes": CLASSES,
                       "pool_size": None, "first_conv": "patch_embed.proj", "classifier": "head"}}


def shapes():
    named = {"cls_token": (1, 1, DIM), "pos_embed": (1, TOKENS, DIM), "patch_embed.proj.weight": (DIM, 3, PATCH, PATCH),
             "patch_embed.proj.bias": (DIM,)}
    for block in range(BLOCKS):
        for name, rows, columns in (("attn.qkv", 3 * DIM, DIM), ("attn.proj", DIM, DIM), ("mlp.fc1", 4 * DIM, DIM), ("mlp.fc2", DIM, 4 * DIM)):
            named[f"blocks.{block}.{name}.weight"] = (rows, columns)
            named[f"blocks.{block}.{name}.bias"] = (rows,)
        for norm in ("norm1", "norm2"):
            named[f"blocks.{block}.{norm}.weight"] = named[f"blocks.{block}.{norm}.bias"] = (DIM,)
    named["norm.weight"] = named["norm.bias"] = (DIM,)
    named["head.weight"], named["head.bias"] = (CLASSES, DIM), (CLASSES,)
    return named


def weights():
    """The bytes of model.safetensors. Numbers are drawn once and repeat, since ten millions of draws take long."""
    draw = random.Random(0)
    drawn = array.array("f", (draw.gauss(0, 0.02) for _ in range(4093)))
    header, parts, end = {"__metadata__": {"format": "pt"}}, [], 0
    for name, shape in shapes().items():
        count = math.prod(shape)
        if "norm" in name:
            values = array.array("f", [1.0 if name.endswith("weight") else 0.0]) * count
        else:
            values = (drawn * (count // len(drawn) + 1))[:count]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + 4 * count]}
        parts.append(values.tobytes())
        end += 4 * count
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def files():
    return {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": weights(), "README.md": b"A model card.\n"}
