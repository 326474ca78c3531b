#!/usr/bin/env python3
"""Exported models compared with other forms of the same: deployed_models.py PATH/TO/cachet [--rounds N] [--batch 8,1]
[--models GLOB] [--forms GLOB]

Makes a set of images, trains each model for two steps so that statistics and caches are moved, exports it, and times all
forms in turns, about half a second each; ratios are those of one round. OpenVINO's forms run in this process, those of
the engine torch through `cachet bench`. Prints CSV: time of `beside` ÷ time of the form, above 1 the form is faster.
GRC_SRC names a checkout of the published code, if there is one; timm's models are measured where timm is installed.
"""
import argparse
import fnmatch
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

import openvino
import torch

from measurements import median, pairs_of, print_row, ratio_columns
from published_models import published_pvt_tiny, published_vit, timm_model
from python_models import ViT
from whole_models import inference, median_ms

warnings.filterwarnings("ignore")
THREADS, SECONDS, CLASSES = 2, 0.5, 1000
CACHED = ["model.cache.kind=grc", "model.cache.variant=official", "model.cache.attend=mean", "model.cache.inference=frozen"]
CACHED_WITHOUT_CONVOLUTION = CACHED + ["model.cache.positional_convolution=false"]
UN, NO_NORM, LAYER_NORM = (["model.norm.kind=" + kind] for kind in ("un", "none", "layer"))


def write_images(folder):
    """A colour for each of a thousand classes: names are all that matters here."""
    for split in ("train", "val"):
        for label in range(CLASSES):
            rows = b"".join(b"\0" + bytes([label % 256, label // 4 % 256, 16 * row]) * 8 for row in range(8))
            chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
            place = folder / split / f"{label:04}"
            place.mkdir(parents=True)
            (place / "0.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)) +
                                          chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Exports:
    """Models of ours in folders, each made once."""

    def __init__(self, command, folder):
        self.command, self.folder, self.images = command, folder, folder / "images"
        write_images(self.images)

    def cachet(self, *words):
        done = subprocess.run([self.command, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def run(self, model, settings):
        name = "-".join([model, *(setting.rsplit(".", 1)[-1].replace("=", "_") for setting in settings)])
        run = self.folder / name
        if not run.exists():
            words = [f"model.name={model}", *settings, "data.limit=16", f"data.root={self.images}", "train.batch_size=8",
                     "train.limit='2 steps'", "train.precision=fp32"]
            self.cachet("train", "imagenet_vit_small", "--run", run, "--progress", "none",
                        *(word for setting in words for word in ("--set", setting)))
        return run

    def export(self, model, settings, engine, precision):
        run = self.run(model, settings)
        folder = run.with_name(f"{run.name}-{engine}-{precision}")
        if not folder.exists():
            self.cachet("export", run, "-o", folder, "--engine", engine, "--precision", precision)
        return folder


def openvino_ms(model, precision, batch):
    """A compiled model's time: `model` is a path or what openvino.convert_model gives."""
    compiled = openvino.Core().compile_model(model, "CPU", {
        "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32", "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": THREADS})
    request, images = compiled.create_infer_request(), torch.randn(batch, 3, 224, 224).numpy()
    request.infer([images])
    return lambda: median_ms(lambda: request.infer([images]), SECONDS)


def as_trained(module):
    """Moves parameters from where they begin: an engine leaves out biases that are 0 and norms whose weights are 1."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    return module


class Forms:
    """What to time: each is made for a precision and a batch."""

    def __init__(self, exports):
        self.exports = exports

    def ours(self, model, settings, engine):
        def make(precision, batch):
            folder = self.exports.export(model, settings, engine, precision)
            if engine == "openvino":
                return openvino_ms(str(folder / "model.xml"), precision, batch)
            words = ["bench", folder, "--batch", batch, "--threads", THREADS, "--seconds", SECONDS, "--json"]
            return lambda: json.loads(self.exports.cachet(*words))["median_ms"]
        return make

    @staticmethod
    def theirs(maker, time):
        """Somebody's module, timed by time(module, precision, batch); nobody's has 8 bits."""
        def make(precision, batch):
            module = None if precision == "int8" else maker()
            return module and time(as_trained(module), precision, batch)
        return make

    def exported(self, maker):
        """The same, exported from Python to OpenVINO."""
        def time(module, precision, batch):
            example = torch.randn(batch, 3, 224, 224)
            with torch.no_grad():
                module.train()(example)  # published caches are made by the first forward pass
                model = openvino.convert_model(module.eval(), example_input=example)
            return openvino_ms(model, precision, batch)
        return self.theirs(maker, time)

    def eager(self, maker):
        def time(module, precision, batch):
            call = inference(module, precision == "bf16", batch)
            return lambda: median_ms(call, SECONDS)
        return self.theirs(maker, time)


def comparisons(forms):
    """(model, what, form, compared with what, its form), (…)"""
    vit, swin, pvt = "vit_small_patch16_224", "swin_tiny_patch4_window7_224", "pvt_tiny"
    ours = forms.ours
    for label, model, maker in (("ViT-S", vit, lambda: ViT(False)), ("Swin-T", swin, lambda: timm_model(swin))):
        for engine in ("openvino", "torch"):
            yield label, f"UN, folded, {engine}", ours(model, UN, engine), "no norm", ours(model, NO_NORM, engine)
            yield label, f"LayerNorm, {engine}", ours(model, LAYER_NORM, engine), "no norm", ours(model, NO_NORM, engine)
        for what, settings in (("UN, folded", UN), ("LayerNorm", LAYER_NORM)):
            yield label, f"{what}, torch", ours(model, settings, "torch"), "PyTorch", forms.eager(maker)
    published = forms.exported(lambda: published_vit(True))
    for what, settings in (("cached", CACHED), ("cached without convolution", CACHED_WITHOUT_CONVOLUTION)):
        yield "ViT-S", f"{what}, openvino", ours(vit, settings, "openvino"), "plain", ours(vit, [], "openvino")
        yield "ViT-S", f"{what}, openvino", ours(vit, settings, "openvino"), "published code, OpenVINO", published
        yield "ViT-S", f"{what}, torch", ours(vit, settings, "torch"), "published code, OpenVINO", published
        yield "ViT-S", f"{what}, torch", ours(vit, settings, "torch"), what + ", openvino", ours(vit, settings, "openvino")
    published = forms.exported(lambda: published_pvt_tiny(True))
    yield "PVT-Tiny", "cached, openvino", ours(pvt, CACHED, "openvino"), "plain", ours(pvt, [], "openvino")
    yield "PVT-Tiny", "cached, openvino", ours(pvt, CACHED, "openvino"), "published code, OpenVINO", published
    yield "PVT-Tiny", "cached, torch", ours(pvt, CACHED, "torch"), "published code, OpenVINO", published
    for label, model, maker in (("ViT-S", vit, lambda: ViT(False)), ("PVT-Tiny", pvt, lambda: published_pvt_tiny(False)),
                                ("Swin-T", swin, lambda: timm_model(swin))):
        yield label, "plain, openvino", ours(model, [], "openvino"), "the authors' or timm's, OpenVINO", forms.exported(maker)
        yield label, "plain, torch", ours(model, [], "torch"), "plain, openvino", ours(model, [], "openvino")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cachet")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batch", default="8,1")
    parser.add_argument("--precision", default="f32,bf16")
    parser.add_argument("--models", default="*", help="a glob of their labels")
    parser.add_argument("--forms", default="*", help="a glob of what is timed: 'plain, *'")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        forms = Forms(Exports(arguments.cachet, pathlib.Path(folder)))
        for precision in arguments.precision.split(","):
            for batch in map(int, arguments.batch.split(",")):
                for model, what, form, beside, other in comparisons(forms):
                    if not (fnmatch.fnmatch(model, arguments.models) and fnmatch.fnmatch(what, arguments.forms)):
                        continue
                    pair = form(precision, batch), other(precision, batch)
                    if None in pair:
                        continue
                    ours, theirs = zip(*pairs_of(arguments.rounds, *pair))
                    print_row(model=model, form=what, beside=beside, precision=precision, batch=batch,
                              ms=median(ours, 1), beside_ms=median(theirs, 1), **ratio_columns(theirs, ours))


if __name__ == "__main__":
    main()
