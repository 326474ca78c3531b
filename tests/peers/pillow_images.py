"""Decoding, resizing and colours compared with Pillow, and what evaluation shows a model compared with torchvision's transforms."""
import contextlib

import numpy
import torch
import torchvision_here  # noqa: F401
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F
from torchvision.transforms.v2.functional import resize as resize_tensor

from comparison import Found, comparison, drawer

SIZES = [(1, 1), (1, 9), (7, 2), (16, 21), (40, 31), (64, 64), (97, 130), (240, 320)]


def picture(number, height, width, channels=3):
    """Waves, edges and noise of a seed, in different proportions: as smooth as a photograph or as rough as noise."""
    random = numpy.random.default_rng(number)
    y, x = numpy.mgrid[:height, :width]
    layers = []
    for _ in range(channels):
        a, b, c = random.uniform(2, 40, 3)
        waves = 128 + 90 * numpy.sin(x / a + y / b) + 60 * numpy.cos(y / c)
        edges = 80 * ((x // 11 + y // 7) % 2)
        layers.append(waves + random.uniform(0, 1) * edges + random.normal(0, random.choice([0, 4, 60]), (height, width)))
    return numpy.stack(layers, 2).clip(0, 255).astype(numpy.uint8)


def pictures(channels=(3, 1)):
    return {f"{height}x{width}x{count}": picture(height * 1000 + width + count, height, width, count)
            for height, width in SIZES for count in channels}


def as_pillow(array):
    return Image.fromarray(array if array.shape[2] == 3 else array[:, :, 0])


def as_tensor(image):
    array = numpy.asarray(image)
    return torch.from_numpy((array if array.ndim == 3 else array[:, :, None]).copy())


def compare_pixels(found, our, their, name):
    """Adds the results; the difference is in levels of 255."""
    assert our.shape == their.shape, f"{name}: {tuple(our.shape)} is not {tuple(their.shape)}"
    difference = (our.int() - their.int()).abs()
    found.add(int(difference.max()), our.numel())
    return int((difference != 0).sum())


def share(found, apart):
    found.note = f"{100 * apart / found.cases:.2g} % of the values differ" if apart else "no value differs"
    return found


@comparison("pillow", "pixels of JPEG and PNG files", allowed=2, unit=" levels")
def decoding(setting):
    """Two decoders of JPEG may differ by a level in the cosine transform, and more where chroma is enlarged."""
    folder, cases, expected, draw = setting.folder("files"), [], [], drawer("files")
    for number, (name, array) in enumerate(pictures().items()):
        grey = array.shape[2] == 1
        kinds = [("PNG", {}), ("PNG", {"optimize": True})] + [
            ("JPEG", {"quality": quality, "subsampling": subsampling, "progressive": progressive})
            for quality in (20, 75, 95) for subsampling in ((0,) if grey else (0, 1, 2)) for progressive in (False, True)]
        for index, (kind, options) in enumerate(kinds):
            path = folder / f"{number}.{index}.{kind.lower()}"
            image = as_pillow(array)
            if kind == "PNG" and index == 1:
                image = image.convert(draw.choice(("P", "1", "LA")) if grey else draw.choice(("P", "RGBA")))
            image.save(path, kind, **options)
            read = Image.open(path)
            alpha_dropped = {"LA": "L", "1": "L", "P": "RGB", "RGBA": "RGB"}.get(read.mode, read.mode)
            cases.append({"file": str(path), "operation": "decode"})
            expected.append((path.name, as_tensor(read.convert(alpha_dropped))))
    found, apart = Found(0), 0
    for our, (name, their) in zip(setting.computed("image_operations", cases, {}), expected):
        apart += compare_pixels(found, our, their, name)
    return share(found, apart)


def resize_cases():
    draw = drawer("resize")
    for name in pictures():
        for _ in range(12):
            for bicubic in (False, True):
                yield {"image": name, "operation": "resize", "bicubic": bicubic,
                       "height": draw.choice((1, 5, 16, 33, 64, 150, 224)), "width": draw.choice((1, 7, 16, 31, 64, 160, 224))}


def compared_resizes(setting, resized):
    shown, cases = pictures(), list(resize_cases())
    tensors = {name: torch.from_numpy(array) for name, array in shown.items()}
    found, apart = Found(0), 0
    for case, our in zip(cases, setting.computed("image_operations", cases, tensors)):
        apart += compare_pixels(found, our, resized(shown[case["image"]], case), str(case))
    return share(found, apart)


@contextlib.contextmanager
def width_first():
    """Lets Pillow resize the width and then the height, as it always did before version 13, which begins with the height
    where that is less work. Values are cut off at 0 and 255 between the two, so the order matters."""
    resize = Image.Image.resize

    def in_two_steps(image, size, resample=None, *more, **options):
        narrowed = resize(image, (size[0], image.height), resample, *more, **options)
        return resize(narrowed, size, resample, *more, **options)

    Image.Image.resize = in_two_steps
    try:
        yield
    finally:
        Image.Image.resize = resize


def resized_by_pillow(array, case):
    method = Image.Resampling.BICUBIC if case["bicubic"] else Image.Resampling.BILINEAR
    return as_tensor(as_pillow(array).resize((case["width"], case["height"]), method))


# ATen's weights have 16 bits less those of the largest weight, Pillow's 22: a level after the width, which can be two after
# the height.
@comparison("pillow", "resizing, bilinear and bicubic, in Cachet's order (width first)", allowed=2, unit=" levels")
def resizing(setting):
    with width_first():
        found = compared_resizes(setting, resized_by_pillow)
    other = compared_resizes(setting, resized_by_pillow)
    found.note += f"; in the order that Pillow chooses, {other.note}, by up to {other.difference} levels"
    return found


@comparison("torchvision", "resizing of tensors of bytes, bilinear and bicubic, with antialiasing", allowed=0, unit=" levels")
def resizing_of_tensors(setting):
    def resized(array, case):
        method = InterpolationMode.BICUBIC if case["bicubic"] else InterpolationMode.BILINEAR
        channels_first = torch.from_numpy(array).permute(2, 0, 1)
        return resize_tensor(channels_first, [case["height"], case["width"]], method, antialias=True).permute(1, 2, 0)
    return compared_resizes(setting, resized)


ADJUSTMENTS = {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast, "saturation": F.adjust_saturation,
               "sharpness": F.adjust_sharpness, "hue": F.adjust_hue}


@comparison("torchvision", "changes of colours of Pillow's images", allowed=1, unit=" levels")
def colours(setting):
    shown, cases, draw = pictures(), [], drawer("colours")
    for name in shown:
        for operation in ADJUSTMENTS:
            for _ in range(8):
                amount = draw.uniform(-0.5, 0.5) if operation == "hue" else draw.choice((0, 1, draw.uniform(0, 2)))
                cases.append({"image": name, "operation": operation, "amount": amount})
    tensors = {name: torch.from_numpy(array) for name, array in shown.items()}
    found, apart = Found(0), 0
    for case, our in zip(cases, setting.computed("image_operations", cases, tensors)):
        image = as_pillow(shown[case["image"]])
        their = as_tensor(ADJUSTMENTS[case["operation"]](image, case["amount"]))
        apart += compare_pixels(found, our, their, str(case))
    return share(found, apart)
