"""Running statistics that `cachet average --renew-states` makes, next to those of PyTorch's update_bn over timm's model."""
import struct

import safetensors.torch
import torch
import torchvision_here  # noqa: F401
from timm.models.vision_transformer import VisionTransformer

from comparison import Found, comparison, torch_drawer

IMAGES = 300  # all of them are one batch, so their order does not matter
SETTINGS = {"data.kind": "idx", "data.classes": 4, "data.normalization.mean": 0.3, "data.normalization.std": 0.2,
            "train.batch_size": IMAGES, "data.augmentation.flip": 0, "data.augmentation.crop_padding": 0,
            "model.norm.kind": "batch", "model.embed_dim": 16, "model.depth": 2, "model.num_heads": 2,
            "train.limit": "3 steps", "schedule.warmup": "1 steps", "train.threads": 1}


class TokenBatchNorm(torch.nn.BatchNorm1d):
    def forward(self, tokens):
        return super().forward(tokens.flatten(0, -2)).view_as(tokens)


def timms_model():
    return VisionTransformer(img_size=28, patch_size=7, in_chans=1, num_classes=4, embed_dim=16, depth=2, num_heads=2,
                             mlp_ratio=2, class_token=False, global_pool="avg", norm_layer=TokenBatchNorm)


def written_images(folder):
    """Images in IDX files, and what a model gets of the training images."""
    folder.mkdir()
    pixels = torch.randint(256, (IMAGES, 28, 28), generator=torch_drawer("update_bn"), dtype=torch.uint8)
    pixels[:, 10:20] //= 3  # so that positions differ
    for prefix, count in (("train", IMAGES), ("t10k", 20)):
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(
            struct.pack(">4I", 0x803, count, 28, 28) + pixels[:count].numpy().tobytes())
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2I", 0x801, count) + bytes(number % 4 for number in range(count)))
    return ((pixels / 255 - 0.3) / 0.2).unsqueeze(1)


# Sums in float32 in another order.
@comparison("torch", "statistics of BatchNorm that a renewal and update_bn make, as a fraction of the largest", allowed=1e-5)
def renewed_statistics(setting):
    run, file = setting.scratch / "run", setting.scratch / "renewed.safetensors"
    images = written_images(setting.scratch / "images")
    settings = {**SETTINGS, "data.root": setting.scratch / "images"}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    setting.cachet("train", "demo_plain", "--run", run, "--progress", "none", *words)
    setting.cachet("average", run, "--last", 1, "--renew-states", 2, "-o", file)
    ours, model = safetensors.torch.load_file(file), timms_model()
    model.load_state_dict(ours)  # whose statistics update_bn puts away
    torch.optim.swa_utils.update_bn([images] * 2, model)
    found = Found(0)
    for name, their in model.state_dict().items():
        if "running" in name:
            found.add(((ours[name] - their).abs().max() / their.abs().max()).item(), their.numel())
    return found
