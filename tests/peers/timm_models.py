"""Models of timm with drawn weights, saved by timm itself: `cachet import`, `predict` and `export` compared with timm. And its
operations of RandAugment, and its transform of evaluation."""
import json

import safetensors.torch
import torch
import torchvision_here  # noqa: F401
import timm
from PIL import Image
from timm.data import auto_augment, create_transform, resolve_data_config

from comparison import Found, comparison, drawer
from pillow_images import as_pillow, as_tensor, compare_pixels, picture, pictures, share, width_first

MODELS = ["vit_tiny_patch16_224", "deit_tiny_patch16_224", "deit_tiny_distilled_patch16_224",
          "swin_tiny_patch4_window7_224", "pvt_v2_b0", "pvt_v2_b2_li"]  # the names are timm's and Cachet's
IMAGES = 4
CLASSES = [f"class {number}" for number in range(1000)]


def drawn_model(name):
    """Weights that are larger than those that training begins with, so that logits differ from image to image."""
    torch.manual_seed(drawer(name).getrandbits(32))
    model = timm.create_model(name, pretrained=False).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.add_(0.02 * torch.randn(parameter.shape))
            else:
                parameter.add_(0.1 * torch.randn(parameter.shape))
    return model


def saved(folder, name, crop):
    """The model and the folder that timm saved it in, with its config.json."""
    model = drawn_model(name)
    model.pretrained_cfg = {**model.pretrained_cfg, "crop_pct": crop}
    # The names come to lie at the top level, or, of a model that was read from such a folder, under pretrained_cfg.
    if name.startswith("pvt"):
        model.pretrained_cfg["label_names"] = CLASSES
    timm.models.save_for_hf(model, str(folder), None if name.startswith("pvt") else {"label_names": CLASSES},
                            safe_serialization=True)
    return model


def written_images(folder, sizes):
    paths = []
    for number, (height, width) in enumerate(sizes):
        paths.append(folder / f"{number}.png")
        Image.fromarray(picture(number, height, width)).save(paths[-1])
    return paths


def compared_logits(setting, crop, sizes):
    found = Found(0)
    for name in MODELS:
        folder = setting.folder(name)
        model = saved(folder, name, crop)
        setting.cachet("import", folder / "model.safetensors", "--model", name, "-o", folder / "imported")
        images = written_images(folder, sizes)
        transform = create_transform(**resolve_data_config({}, model=model), is_training=False)
        lines = setting.cachet("predict", folder / "imported", *images, "--logits", "--top", 1).splitlines()
        for path, line in zip(images, lines, strict=True):
            with torch.no_grad():
                logits = model(transform(Image.open(path).convert("RGB")).unsqueeze(0))[0]
            said = json.loads(line)
            our = torch.tensor(said["logits"], dtype=torch.float64)
            assert our.shape == logits.shape, f"{name}: {tuple(our.shape)}"
            found.add(((our - logits).abs().max() / logits.abs().max()).item(), logits.numel())
            assert CLASSES[int(our.argmax())] == said["top"][0]["class"], line[:200]
    return found


@comparison("timm", f"logits of {len(MODELS)} models on images of their own size, as a fraction of the largest", allowed=1e-4)
def logits(setting):
    """Images of the model's size: both get the same pixels, and add up in another order."""
    return compared_logits(setting, 1.0, [(224, 224)] * IMAGES)


@comparison("timm", "names of tensors and values after import and export", allowed=0)
def round_trip(setting):
    found = Found(0)
    for name in MODELS:
        folder = setting.folder(name)
        saved(folder, name, 0.9)
        setting.cachet("import", folder / "model.safetensors", "--model", name, "-o", folder / "imported")
        setting.cachet("export", folder / "imported", "-o", folder / "back.safetensors", "--names", "timm")
        before, after = (safetensors.torch.load_file(folder / name) for name in ("model.safetensors", "back.safetensors"))
        assert set(before) == set(after), f"{name}: {sorted(set(before) ^ set(after))[:6]}"
        for key, tensor in before.items():
            found.add(0 if tensor.dtype == after[key].dtype and torch.equal(tensor, after[key]) else 1)
    return found


# As resizing compared with Pillow's.
@comparison("timm", "the input of a model after the evaluation transform, from files of any size", allowed=2, unit=" levels")
def evaluation(setting):
    folder, cases, expected, draw = setting.folder("images"), [], [], drawer("evaluation")
    # Of images longer than 4 : 1 Cachet leaves the ends out first.
    sizes = [(side, round(side * draw.uniform(0.3, 3))) for side in (draw.randrange(20, 400) for _ in range(40))]
    for number, path in enumerate(written_images(folder, sizes)):
        side, crop, bicubic = draw.choice((32, 64, 224)), draw.choice((0.875, 0.9, 0.95)), draw.random() < 0.5
        transform = create_transform((3, side, side), is_training=False, crop_pct=crop, mean=(0, 0, 0), std=(1, 1, 1),
                                     interpolation="bicubic" if bicubic else "bilinear")
        cases.append({"file": str(path), "operation": "prepare", "image_size": side, "crop_fraction": crop,
                      "bicubic": bicubic})
        with width_first():
            expected.append(transform(Image.open(path)).unsqueeze(0))
    found, apart = Found(0), 0
    for case, our, their in zip(cases, setting.computed("image_operations", cases, {}), expected):
        apart += compare_pixels(found, (our * 255).round(), (their * 255).round(), str(case))
    return share(found, apart)


OPERATIONS = ["AutoContrast", "Equalize", "Invert", "Rotate", "Posterize", "Solarize", "SolarizeAdd", "Color", "Contrast",
              "Brightness", "Sharpness", "ShearX", "ShearY", "TranslateXRel", "TranslateYRel"]
INCREASING = {"Posterize", "Solarize", "Color", "Contrast", "Brightness", "Sharpness"}
FILL = (124, 116, 104)


def by_timm(image, case):
    name = OPERATIONS[case["number"]]
    if case["increasing"] and name in INCREASING:
        name += "Increasing"
    to_argument = auto_augment.LEVEL_TO_ARG[name]
    drawn = auto_augment.random
    auto_augment.random = type("Fixed", (), {"random": staticmethod(lambda: 1.0 if case["opposite"] else 0.0)})
    try:
        arguments = to_argument(case["magnitude"], {"translate_pct": 0.45}) if to_argument else ()
    finally:
        auto_augment.random = drawn
    resample = Image.Resampling.BICUBIC if case["bicubic"] else Image.Resampling.BILINEAR
    fill = FILL if image.mode == "RGB" else FILL[0]
    return auto_augment.NAME_TO_OP[name](image, *arguments, resample=resample, fillcolor=fill)


def is_refused(case):
    """Posterize to 0 bits, which Pillow refuses since version 13. Cachet makes such an image black, as Pillow did before."""
    bits = int(case["magnitude"] / 10 * 4)
    return OPERATIONS[case["number"]] == "Posterize" and (4 - bits if case["increasing"] else bits) == 0


@comparison("timm", "each operation of RandAugment", allowed=1, unit=" levels")
def rand_augment(setting):
    shown, cases, draw = pictures(), [], drawer("RandAugment")
    for name in shown:
        for number in range(len(OPERATIONS)):
            for _ in range(8):
                case = {"image": name, "operation": "rand_augment", "number": number, "fill": FILL,
                        "magnitude": draw.choice((0.0, 10.0, round(draw.uniform(0, 10), 3))),
                        "opposite": draw.random() < 0.5, "increasing": draw.random() < 0.5, "bicubic": draw.random() < 0.5}
                if not is_refused(case):
                    cases.append(case)
    tensors = {name: torch.from_numpy(array) for name, array in shown.items()}
    found, apart = Found(0), 0
    for case, our in zip(cases, setting.computed("image_operations", cases, tensors)):
        apart += compare_pixels(found, our, as_tensor(by_timm(as_pillow(shown[case["image"]]), case)), str(case))
    return share(found, apart)
