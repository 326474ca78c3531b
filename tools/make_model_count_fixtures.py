#!/usr/bin/env python3
"""Writes tests/data/model_counts.json: the products (MACs) of published models as fvcore counts them.

    python3 tools/make_model_count_fixtures.py          (needs fvcore, timm, torchvision)

Whole models are timm's. The necks and heads of detectors are torchvision's, on maps of the sizes that an image of 224 x 224
pixels has; tests/analysis/cost/model_counts_test.cpp puts them together. fvcore traces a model and counts products alone: linear
layers and convolutions in one number, products of activations (matmul, bmm, einsum) in another.
"""

import collections
import json
import pathlib
import warnings

import fvcore
import timm
import torch
import torchvision
from fvcore.nn import FlopCountAnalysis
from timm.layers import set_fused_attn
from torchvision.models.detection import faster_rcnn, mask_rcnn, retinanet, rpn
from torchvision.ops import FeaturePyramidNetwork
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool, LastLevelP6P7

OF_WEIGHTS = {"conv", "linear", "addmm"}
OF_ACTIVATIONS = {"matmul", "bmm", "einsum", "baddbmm"}
NO_PRODUCTS = {"layer_norm", "batch_norm", "group_norm", "adaptive_avg_pool2d", "upsample_nearest2d", "mul", "add"}

CLASSIFIERS = [f"{kind}_{size}_patch16_224" for kind in ("vit", "deit") for size in ("tiny", "small", "base")]
CLASSIFIERS += [f"deit_{size}_distilled_patch16_224" for size in ("tiny", "small", "base")]
CLASSIFIERS += [f"swin_{size}_patch4_window7_224" for size in ("tiny", "small", "base")]
CLASSIFIERS += [f"pvt_v2_{size}" for size in ("b0", "b1", "b2", "b2_li", "b3", "b4", "b5")]

CHANNELS = 256
# Pixels of a side of the maps P2 to P7 of 224 x 224 pixels, of strides 4 to 128.
SIDES = {2: 56, 3: 28, 4: 14, 5: 7, 6: 4, 7: 2}


def counted(model, inputs):
    """MACs of one call."""
    model.eval()
    analysis = FlopCountAnalysis(model, inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operators = analysis.by_operator()
    unknown = set(operators) - OF_WEIGHTS - OF_ACTIVATIONS - NO_PRODUCTS
    if unknown:
        raise RuntimeError(f"fvcore counts operators that this script does not know: {sorted(unknown)}")
    return {"linear_convolution": int(sum(operators[each] for each in OF_WEIGHTS)),
            "attention": int(sum(operators[each] for each in OF_ACTIVATIONS))}


class Backbone(torch.nn.Module):
    """A classifier without its head."""

    def __init__(self, name):
        super().__init__()
        self.model = timm.create_model(name)

    def forward(self, image):
        return self.model.forward_features(image)


class Calls(torch.nn.Module):
    """A module that is called with maps as a list or as a dictionary."""

    def __init__(self, module, named):
        super().__init__()
        self.module, self.named = module, named

    def forward(self, *maps):
        if not self.named:
            return self.module(list(maps))
        return list(self.module(collections.OrderedDict((str(i), x) for i, x in enumerate(maps))).values())


def maps(sides, channels=None):
    return tuple(torch.zeros(1, CHANNELS if channels is None else channels[i], side, side)
                 for i, side in enumerate(sides))


def necks():
    """Of backbones by the channels of their stages, with the levels of Mask R-CNN (P2 to P6) and of RetinaNet."""
    found = {}
    for channels in ((32, 64, 160, 256), (64, 128, 320, 512), (96, 192, 384, 768), (128, 256, 512, 1024)):
        name = "-".join(map(str, channels))
        pyramid = FeaturePyramidNetwork(list(channels), CHANNELS, LastLevelMaxPool())
        found[f"{name} P2 to P6"] = counted(Calls(pyramid, True), maps([SIDES[i] for i in (2, 3, 4, 5)], channels))
        # P6 and P7 are convolutions of what the backbone gives ("on_input").
        pyramid = FeaturePyramidNetwork(list(channels[1:]), CHANNELS, LastLevelP6P7(channels[-1], CHANNELS))
        found[f"{name} P3 to P7"] = counted(Calls(pyramid, True), maps([SIDES[i] for i in (3, 4, 5)], channels[1:]))
    return found


def heads():
    """The RPN's head and RetinaNet's on their maps; of one box the shared layers and the mask, of COCO's 80 classes.

    The last layer of a box is not among them: torchvision's has four numbers of the background, too, and mmdetection's not.
    """
    box = torch.nn.Sequential(faster_rcnn.TwoMLPHead(CHANNELS * 7 * 7, 1024))
    mask = torch.nn.Sequential(mask_rcnn.MaskRCNNHeads(CHANNELS, [256] * 4, 1),
                               mask_rcnn.MaskRCNNPredictor(256, 256, 80))
    return {
        "rpn": counted(Calls(rpn.RPNHead(CHANNELS, 3), False), maps([SIDES[i] for i in (2, 3, 4, 5, 6)])),
        "retinanet": counted(Calls(retinanet.RetinaNetHead(CHANNELS, 9, 80), False),
                             maps([SIDES[i] for i in (3, 4, 5, 6, 7)])),
        "box": counted(box, torch.zeros(1, CHANNELS, 7, 7)),
        "mask": counted(mask, torch.zeros(1, 256, 14, 14)),
    }


def main():
    torch.nn.init.trunc_normal_ = torch.nn.init.normal_ = lambda tensor, *_, **__: tensor  # values do not matter
    set_fused_attn(False)  # fvcore does not count the products of the fused operator
    image = torch.zeros(1, 3, 224, 224)
    values = {
        "versions": {"fvcore": fvcore.__version__, "timm": timm.__version__, "torch": torch.__version__,
                     "torchvision": torchvision.__version__},
        "classifiers": {name: counted(timm.create_model(name), image) for name in CLASSIFIERS},
        "backbones": {name: counted(Backbone(name), image) for name in CLASSIFIERS if name.startswith(("swin", "pvt"))},
        "necks": necks(),
        "heads": heads(),
    }
    file = pathlib.Path(__file__).resolve().parent.parent / "tests/data/model_counts.json"
    file.write_text(json.dumps(values, indent=1) + "\n")


if __name__ == "__main__":
    main()
