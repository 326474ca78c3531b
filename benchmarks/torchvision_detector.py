"""Mask R-CNN of the authors' PVT-Tiny and torchvision's other parts, as a program that detectors.py asks:
torchvision_detector.py FILE PRECISION

FILE has weights in mmdetection's names, images and objects, as `detectors_benchmark --serve` writes them. Anchors, limits of
proposals, sampled regions and widths are those of the published configuration. GRC_SRC names a checkout of the published code of
Cached Transformers, which has the PVT.
"""
import re
import sys
import time

import torch
from torch import nn
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.mask_rcnn import MaskRCNNPredictor
from torchvision.ops import FeaturePyramidNetwork, MultiScaleRoIAlign
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool

from published_models import published_pvt_tiny
from safetensors_files import read_safetensors

CLASSES = 80


class Backbone(nn.Module):
    """The authors' PVT without what classifies, and torchvision's pyramid on it."""

    def __init__(self):
        super().__init__()
        self.body = published_pvt_tiny(False)
        for name in ("norm", "head", "cls_token"):
            delattr(self.body, name)
        self.body.pos_embed4 = nn.Parameter(self.body.pos_embed4.detach()[:, 1:])
        self.fpn = FeaturePyramidNetwork([64, 128, 320, 512], 256, LastLevelMaxPool())
        self.out_channels = 256

    def forward(self, x):
        maps = {}
        for stage in "1234":
            x, (height, width) = getattr(self.body, "patch_embed" + stage)(x)
            table, patches = getattr(self.body, "pos_embed" + stage), getattr(self.body, "patch_embed" + stage)
            if table.shape[1] != height * width:
                table = self.body._get_pos_embed(table, patches, height, width)
            x = x + table
            blocks = getattr(self.body, "block" + stage)
            blocks.apply(lambda module: setattr(module, "cls_dim", 0))
            for block in blocks:
                x = block(x, height, width)
            x = x.reshape(x.shape[0], height, width, -1).permute(0, 3, 1, 2).contiguous()
            maps[stage] = x
        return self.fpn(maps)


class Given(nn.Module):
    """Instead of what resizes: images come as they are to be, and detections stay where they are."""

    def forward(self, images, targets=None):
        return ImageList(torch.stack(images), [tuple(image.shape[-2:]) for image in images]), targets

    def postprocess(self, found, sizes, originals):
        from torchvision.models.detection.roi_heads import paste_masks_in_image
        for detections, size in zip(found, originals):
            detections["masks"] = paste_masks_in_image(detections["masks"], detections["boxes"], size) >= 0.5
        return found


NAMES = [(r"^backbone\.", "backbone.body."),
         (r"^neck\.lateral_convs\.(\d)\.conv\.", r"backbone.fpn.inner_blocks.\1.0."),
         (r"^neck\.fpn_convs\.(\d)\.conv\.", r"backbone.fpn.layer_blocks.\1.0."),
         (r"^rpn_head\.rpn_conv\.", "rpn.head.conv.0.0."), (r"^rpn_head\.rpn_cls\.", "rpn.head.cls_logits."),
         (r"^rpn_head\.rpn_reg\.", "rpn.head.bbox_pred."),
         (r"^roi_head\.bbox_head\.shared_fcs\.0\.", "roi_heads.box_head.fc6."),
         (r"^roi_head\.bbox_head\.shared_fcs\.1\.", "roi_heads.box_head.fc7."),
         (r"^roi_head\.bbox_head\.fc_cls\.", "roi_heads.box_predictor.cls_score."),
         (r"^roi_head\.bbox_head\.fc_reg\.", "roi_heads.box_predictor.bbox_pred."),
         (r"^roi_head\.mask_head\.convs\.(\d)\.conv\.", r"roi_heads.mask_head.\1.0."),
         (r"^roi_head\.mask_head\.upsample\.", "roi_heads.mask_predictor.conv5_mask."),
         (r"^roi_head\.mask_head\.conv_logits\.", "roi_heads.mask_predictor.mask_fcn_logits.")]


def for_torchvision(tensors):
    """Under its names; the background is its first class, and has boxes and a mask of its own."""
    result = {}
    for name, tensor in tensors.items():
        for pattern, replacement in NAMES:
            renamed, count = re.subn(pattern, replacement, name)
            if count:
                break
        if name == "backbone.pos_embed4":  # after the position of the class token
            tensor = tensor[:, 1:]
        if ".fc_cls." in name:
            tensor = torch.cat([tensor[-1:], tensor[:-1]])
        if ".fc_reg." in name or ".conv_logits." in name:
            tensor = torch.cat([torch.zeros_like(tensor[:tensor.shape[0] // CLASSES]), tensor])
        result[renamed] = tensor
    return result


def detector(tensors):
    regions = {"featmap_names": ["1", "2", "3", "4"], "sampling_ratio": 0}
    model = MaskRCNN(
        Backbone(), rpn_anchor_generator=AnchorGenerator(((32,), (64,), (128,), (256,), (512,)), ((0.5, 1.0, 2.0),) * 5),
        rpn_pre_nms_top_n_train=2000, rpn_post_nms_top_n_train=1000, rpn_pre_nms_top_n_test=1000,
        rpn_post_nms_top_n_test=1000, box_roi_pool=MultiScaleRoIAlign(output_size=7, **regions),
        box_head=TwoMLPHead(256 * 49, 1024), box_predictor=FastRCNNPredictor(1024, CLASSES + 1),
        mask_roi_pool=MultiScaleRoIAlign(output_size=14, **regions),
        mask_predictor=MaskRCNNPredictor(256, 256, CLASSES + 1))
    model.transform = Given()
    model.load_state_dict(for_torchvision(tensors))
    return model


class Detector:
    def __init__(self, path, narrow):
        tensors = read_safetensors(path)
        self.images = list(tensors.pop("benchmark.images"))
        self.targets = [{"boxes": tensors.pop(f"benchmark.{i}.boxes"), "labels": tensors.pop(f"benchmark.{i}.labels") + 1,
                         "masks": tensors.pop(f"benchmark.{i}.masks")} for i in range(len(self.images))]
        self.model, self.narrow = detector(tensors), narrow
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.0, fused=True)

    def training(self):
        self.model.train()
        self.optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.narrow):
            loss = sum(self.model(self.images, self.targets).values())
        loss.backward()
        self.optimizer.step()

    def inference(self):
        self.model.eval()
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=self.narrow):
            return sum(len(found["boxes"]) for found in self.model(self.images))

    def regions_with_an_object(self):
        """Of one step."""
        counts, heads = [], self.model.roi_heads
        kept = heads.select_training_samples

        def counting(proposals, targets):
            result = kept(proposals, targets)
            counts.append(sum(int((labels > 0).sum()) for labels in result[2]))
            return result
        heads.select_training_samples = counting
        self.training()
        heads.select_training_samples = kept
        return counts[0]


def main():
    path, precision = sys.argv[1:]
    torch.set_num_threads(2)
    torch.manual_seed(0)
    detector = Detector(path, precision == "bf16")
    print("ready", detector.regions_with_an_object(), detector.inference(), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        getattr(detector, line.strip())()
        print(1e3 * (time.perf_counter() - start), flush=True)


if __name__ == "__main__":
    main()
