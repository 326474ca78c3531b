#!/usr/bin/env python3
"""A T2T-ViT with unified normalization in training: the published code compared with ours, on the same weights and batches.

usage: unified_norm_training.py PROGRAM CIFAR10 [--steps N] [--precision float64|float32] [--warmup N] [--unfiltered]
                                [--lr RATE] [--rates N] [--batch N] [--tested N] [--seed N] [--every N] [-o FILE.csv]

PROGRAM is build/release/unified_norm_training_benchmark, CIFAR10 the folder of the binary batches; UN_SRC names
image_classification of a checkout of the published code, which is patched as far as it has to be: soft splits for images of 32
pixels, no fixed dropout and no cast to float32 in its performer. Batches, with their crops and mirrors, are drawn once by the
seed and written out; both sides read them. AdamW, the rate warms up over --rates steps and falls by a cosine to --steps, gradients
are clipped at 1. Prints a line of CSV each --every steps and a summary: the largest relative differences of loss and gradient
norm, whether all filter decisions agree, both accuracies on the test images.
"""
import argparse
import contextlib
import csv
import json
import lzma
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types

import torch

from published_models import checkout
from safetensors_files import read_safetensors, write_safetensors

SIZES = {"image_size": 32, "split_stride": 2, "embed_dim": 192, "depth": 6, "num_heads": 3}


def bytes_of(path):
    """Of the file, or of the one that xz made of it."""
    packed = path.with_name(path.name + ".xz")
    return lzma.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()


def images_of(folder, names):
    """Pixels (n, 3, 32, 32) and labels."""
    rows = torch.cat([torch.frombuffer(bytearray(bytes_of(folder / name)), dtype=torch.uint8).reshape(-1, 3073)
                      for name in names])
    return rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0].long()


def batches_of(folder, steps, size, seed):
    """Crops of images with a border of four pixels, half of them mirrored, in the order of epochs."""
    draw = torch.Generator().manual_seed(seed)
    pixels, labels = images_of(folder, [f"data_batch_{i}.bin" for i in range(1, 6)])
    images, answers, order = [], [], torch.empty(0, dtype=torch.long)
    for _ in range(steps):
        if len(order) < size:
            order = torch.randperm(len(labels), generator=draw)
        taken, order = order[:size], order[size:]
        wide = torch.nn.functional.pad(pixels[taken], (4, 4, 4, 4))
        corners, mirrored = torch.randint(9, (size, 2), generator=draw), torch.rand(size, generator=draw) < 0.5
        crops = torch.stack([image[:, y:y + 32, x:x + 32] for image, (y, x) in zip(wide, corners.tolist())])
        images.append(torch.where(mirrored[:, None, None, None], crops.flip(3), crops))
        answers.append(labels[taken])
    return torch.stack(images), torch.stack(answers)


def rates_of(steps, warmup, rate):
    return torch.tensor([rate * ((step + 1) / warmup if step < warmup else
                                 (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup))) / 2)
                         for step in range(steps)], dtype=torch.float64)


def published_model(options):
    """The published T2T-ViT with its UN1d everywhere."""
    source = pathlib.Path(checkout("UN_SRC")) / "models"
    package = types.ModuleType("published_t2t")
    package.__path__ = [str(source)]
    sys.modules["published_t2t"] = package
    patches = {
        "token_performer": [("x.float(), self.w", "x, self.w"), ("v.float(), kp", "v, kp"), ("dp1=0.1, dp2 = 0.1", "dp1=0, dp2=0")],
        "token_transformer": [], "transformer_block": [],
        "t2t_vit": [("(7, 7), stride=(4, 4), padding=(2, 2)", "(3, 3), stride=(2, 2), padding=(1, 1)"),
                    ("in_chans*7*7", "in_chans*3*3"), ("(4 * 2 * 2)", "(2 * 2 * 2)")]}
    for name, replaced in patches.items():
        text = (source / f"{name}.py").read_text()
        for old, new in replaced:
            assert old in text, f"{name}: {old}"
            text = text.replace(old, new)
        module = types.ModuleType(f"published_t2t.{name}")
        module.__package__ = "published_t2t"
        sys.modules[module.__name__] = module
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    code = sys.modules["published_t2t.t2t_vit"]

    def norm(channels):
        return code.UN1d(channels, window_size=4, warmup_iters=options.warmup, outlier_filtration=not options.unfiltered)
    with contextlib.redirect_stdout(sys.stderr):  # It prints which encoder it takes.
        model = code.T2T_ViT(img_size=32, tokens_type="performer", num_classes=10, embed_dim=192, depth=6, num_heads=3,
                             mlp_ratio=3.0, norm_layer=norm)
    return model, code.UN1d


def normalised(pixels, kind):
    return (pixels.to(kind) / 255 - 0.5) / 0.25


def clip_exactly(gradients):
    """Their norm, which is 1 afterwards where it was more; PyTorch's own function adds 1e-6 to what it divides by."""
    total = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    if total > 1:
        torch._foreach_mul_(gradients, 1 / total.item())
    return total


def train_published(weights, batches, options):
    """A line for each step, then the accuracy."""
    kind = getattr(torch, options.precision)
    model, norm = published_model(options)
    differing = model.load_state_dict(read_safetensors(weights), strict=False)
    assert differing.missing_keys == ["pos_embed"] and not differing.unexpected_keys, differing  # a table that both compute
    model.to(kind).train()
    grouped = {True: [], False: []}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            grouped[parameter.dim() > 1 and "cls_token" not in name].append(parameter)
    optimizer = torch.optim.AdamW([{"params": grouped[True], "weight_decay": 0.05},
                                   {"params": grouped[False], "weight_decay": 0.0}], fused=True)
    lines = []
    for step, (images, labels, rate) in enumerate(zip(batches["images"], batches["labels"], batches["rates"])):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(normalised(images, kind)), labels)
        loss.backward()
        total = clip_exactly([parameter.grad for parameter in model.parameters() if parameter.grad is not None])
        for group in optimizer.param_groups:
            group["lr"] = float(rate)
        optimizer.step()
        lines.append({"step": step + 1, "loss": loss.item(), "gradient_norm": total.item(),
                      "filtered": {name: int(module.skip_counter) for name, module in model.named_modules()
                                   if isinstance(module, norm)}})
        if (step + 1) % options.every == 0:
            print(f"published: step {step + 1}, loss {loss.item():.4f}", file=sys.stderr, flush=True)
    model.eval()
    with torch.inference_mode():
        right = sum(int((model(normalised(images, kind)).argmax(1) == labels).sum())
                    for images, labels in zip(batches["test_images"].split(250), batches["test_labels"].split(250)))
    return lines, right / len(batches["test_labels"])


def relative(a, b):
    return abs(a - b) / max(abs(b), 1e-300)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("cifar10", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--precision", choices=("float64", "float32"), default="float64")
    parser.add_argument("--warmup", type=int, default=10, help="steps of UN on the batch's own statistic")
    parser.add_argument("--unfiltered", action="store_true")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--rates", type=int, default=10, help="steps over which the rate warms up")
    parser.add_argument("--batch", type=int, default=128, help="images of a step")
    parser.add_argument("--tested", type=int, default=10000, help="test images behind the last step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    if not os.environ.get("UN_SRC"):
        sys.exit("UN_SRC names no checkout of the published code")
    settings = [f"{key}={value}" for key, value in SIZES.items()]
    settings += ["name=t2t_vit_14", "classes=10", "token_dropout=0.0", "norm.kind=un", "norm.variant=official", f"norm.warmup={options.warmup}",
                 f"norm.filter_outliers={'false' if options.unfiltered else 'true'}"]
    with tempfile.TemporaryDirectory() as scratch:
        weights, file = os.path.join(scratch, "weights.safetensors"), os.path.join(scratch, "batches.safetensors")
        subprocess.run([options.program, "--write", weights, *settings], check=True)
        images, labels = batches_of(options.cifar10, options.steps, options.batch, options.seed)
        test_images, test_labels = images_of(options.cifar10, ["test_batch.bin"])
        batches = {"images": images, "labels": labels, "rates": rates_of(options.steps, options.rates, options.lr),
                   "test_images": test_images[:options.tested], "test_labels": test_labels[:options.tested]}
        write_safetensors(file, batches)
        done = subprocess.run([options.program, "--train", file, options.precision, *settings], check=True, capture_output=True,
                              text=True).stdout.splitlines()
        ours, accuracy = [json.loads(line) for line in done[:-1]], json.loads(done[-1])["accuracy"]
        theirs, their_accuracy = train_published(weights, batches, options)
    with open(options.output, "w", newline="") if options.output else os.fdopen(os.dup(1), "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["step", "loss", "published_loss", "gradient_norm", "published_gradient_norm", "filtered",
                        "published_filtered"])
        for own, other in zip(ours, theirs):
            if own["step"] % options.every == 0 or own["step"] == 1:
                table.writerow([own["step"], own["loss"], other["loss"], own["gradient_norm"], other["gradient_norm"],
                                sum(own["filtered"].values()), sum(other["filtered"].values())])
    for name in ("loss", "gradient_norm"):
        worst = max(zip(ours, theirs), key=lambda pair: relative(pair[0][name], pair[1][name]))
        print(f"largest relative difference of {name}: {relative(worst[0][name], worst[1][name]):.3g} at step {worst[0]['step']}")
    differing = [own["step"] for own, other in zip(ours, theirs) if own["filtered"] != other["filtered"]]
    print("filter decisions: " + (f"differ from step {differing[0]} on" if differing else "all equal") +
          f"; filtered in all {sum(ours[-1]['filtered'].values())} and {sum(theirs[-1]['filtered'].values())}")
    print(f"accuracy on the test images: {100 * accuracy:.2f} %, published code {100 * their_accuracy:.2f} %")


if __name__ == "__main__":
    main()
