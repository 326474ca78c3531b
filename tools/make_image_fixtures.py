#!/usr/bin/env python3
"""Writes tests/data/pillow_images.json: what Pillow makes of small images, which the tests of decoding and augmentation
hold ours to. Needs Pillow and NumPy; the file is in the repository, so that nothing else does.

usage: tools/make_image_fixtures.py
"""

import base64
import io
import json
import pathlib

import numpy as np
import PIL
from PIL import Image, ImageEnhance, ImageOps

HEIGHT, WIDTH = 16, 21
MEAN = (124, 116, 104)


def text(data):
    return base64.b64encode(data).decode()


def pixels_of(image):
    array = np.asarray(image)
    return {"height": array.shape[0], "width": array.shape[1], "channels": array.shape[2] if array.ndim == 3 else 1,
            "values": text(array.tobytes())}


def sample(height=HEIGHT, width=WIDTH, seed=0):
    """Waves, some noise, a dark corner and a light one: all values occur, none is alone."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    waves = [120 + 70 * np.sin(x / 4 + c) + 45 * np.cos(y / (3 + c)) for c in range(3)]
    array = np.stack(waves, 2) + random.normal(0, 9, (height, width, 3))
    array[:3, :4] -= 90
    array[-3:, -4:] += 90
    return Image.fromarray(array.clip(8, 247).astype(np.uint8))


def affine(image, matrix, resample):
    fill = MEAN if image.mode == "RGB" else MEAN[0]
    return image.transform(image.size, Image.Transform.AFFINE, matrix, resample=resample, fillcolor=fill)


def operation(image, name, magnitude, opposite, increasing, resample):
    """An operation of RandAugment at a magnitude, as timm defines the magnitudes."""
    share = magnitude / 10
    sign = -1 if opposite else 1
    blend = max(0.1, 1 + sign * 0.9 * share) if increasing else 0.1 + 1.8 * share
    fill = MEAN if image.mode == "RGB" else MEAN[0]
    bits, threshold, amount = int(share * 4), min(256, int(share * 256)), min(128, int(share * 110))
    bits, threshold = (4 - bits, 256 - threshold) if increasing else (bits, threshold)
    width, height = image.size
    return {
        "autocontrast": lambda: ImageOps.autocontrast(image),
        "equalize": lambda: ImageOps.equalize(image),
        "invert": lambda: ImageOps.invert(image),
        "rotate": lambda: image.rotate(sign * 30 * share, resample=resample, fillcolor=fill),
        "posterize": lambda: image.point([v & 256 - 2 ** (8 - bits) for v in range(256)] * len(image.getbands())),
        "solarize": lambda: ImageOps.solarize(image, threshold),
        "solarize_add": lambda: image.point([min(255, v + amount) if v < 128 else v for v in range(256)]
                                            * len(image.getbands())),
        "colour": lambda: ImageEnhance.Color(image).enhance(blend),
        "contrast": lambda: ImageEnhance.Contrast(image).enhance(blend),
        "brightness": lambda: ImageEnhance.Brightness(image).enhance(blend),
        "sharpness": lambda: ImageEnhance.Sharpness(image).enhance(blend),
        "shear_x": lambda: affine(image, (1, sign * 0.3 * share, 0, 0, 1, 0), resample),
        "shear_y": lambda: affine(image, (1, 0, 0, sign * 0.3 * share, 1, 0), resample),
        "translate_x": lambda: affine(image, (1, 0, sign * 0.45 * share * width, 0, 1, 0), resample),
        "translate_y": lambda: affine(image, (1, 0, 0, 0, 1, sign * 0.45 * share * height), resample),
    }[name]()


NAMES = ["autocontrast", "equalize", "invert", "rotate", "posterize", "solarize", "solarize_add", "colour", "contrast",
         "brightness", "sharpness", "shear_x", "shear_y", "translate_x", "translate_y"]


def operations():
    cases = []
    for mode in ("RGB", "L"):
        image = sample().convert(mode)
        for name in NAMES:
            for magnitude, opposite, increasing, bicubic in ((9, False, True, True), (6.3, True, True, False),
                                                             (2.6, False, False, True)):
                if mode == "L" and not bicubic:
                    continue
                resample = Image.Resampling.BICUBIC if bicubic else Image.Resampling.BILINEAR
                changed = operation(image, name, magnitude, opposite, increasing, resample)
                cases.append({"mode": mode, "name": name, "magnitude": magnitude, "opposite": opposite,
                              "increasing": increasing, "bicubic": bicubic, "values": pixels_of(changed)["values"]})
    return cases


def hues():
    """A turn of the hue through Pillow's HSV."""
    cases = []
    for share in (-0.5, -0.13, 0.2, 0.5):
        hue, saturation, value = sample().convert("HSV").split()
        turned = np.asarray(hue).astype(int) + int(share * 255)
        turned = Image.fromarray((turned % 256).astype(np.uint8))
        image = Image.merge("HSV", (turned, saturation, value)).convert("RGB")
        cases.append({"share": share, "values": pixels_of(image)["values"]})
    return cases


def resizes():
    cases = []
    for height, width in ((8, 11), (29, 37), (5, 24), (16, 21)):
        for name in ("bicubic", "bilinear", "lanczos"):
            resample = Image.Resampling[name.upper()]
            cases.append({"filter": name, **pixels_of(sample().resize((width, height), resample))})
    return cases


def decoded(data):
    image = Image.open(io.BytesIO(data))
    return pixels_of(image if image.mode == "L" else image.convert("RGB"))


def jpeg_files():
    cases = []
    kinds = {"4:4:4": ("RGB", dict(subsampling=0)), "4:2:2": ("RGB", dict(subsampling=1)),
             "4:2:0": ("RGB", dict(subsampling=2)), "grey": ("L", {}), "CMYK": ("CMYK", {}),
             "progressive": ("RGB", dict(progressive=True)), "restarts": ("RGB", dict(restart_marker_blocks=2))}
    for name, (mode, options) in kinds.items():
        file = io.BytesIO()
        sample(43, 61, seed=1).convert(mode).save(file, "JPEG", quality=88, **options)
        cases.append({"name": name, "file": text(file.getvalue()), **decoded(file.getvalue())})
    return cases


def main():
    target = pathlib.Path(__file__).resolve().parent.parent / "tests/data/pillow_images.json"
    fixtures = {"made_with": f"Pillow {PIL.__version__}", "image": pixels_of(sample()),
                "grey_image": pixels_of(sample().convert("L")), "mean": MEAN, "operations": operations(),
                "hues": hues(), "resizes": resizes(), "jpeg": jpeg_files()}
    target.write_text(json.dumps(fixtures, indent=0) + "\n")
    print(f"{target}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
