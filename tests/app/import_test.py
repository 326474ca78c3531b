"""Weights from elsewhere: files that PyTorch wrote, what import makes of them, and the way back."""
import base64
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile

import command
from examples_test import examples
from hub_server import COMMIT, Server
from runs import write_images, write_png

SMALL = [word for key in ("image_size=8", "patch_size=4", "embed_dim=16", "depth=1", "num_heads=2", "classes=4")
         for word in ("--set", f"model.{key}")]
MODEL = "deit_tiny_patch16_224"

# Run by the Python that has torch. Writes the given weights into the working folder.
WRITER = """
import argparse, collections, functools, os, sys
import torch
torch.manual_seed(1)
def vit(dim=16, classes=4, tokens=5):
    shapes = {"cls_token": (1, 1, dim), "pos_embed": (1, tokens, dim), "patch_embed.proj.weight": (dim, 3, 4, 4),
              "patch_embed.proj.bias": (dim,), "norm.weight": (dim,), "norm.bias": (dim,),
              "head.weight": (classes, dim), "head.bias": (classes,)}
    for name, shape in {"norm1.weight": (dim,), "norm1.bias": (dim,), "attn.qkv.weight": (3 * dim, dim),
                        "attn.qkv.bias": (3 * dim,), "attn.proj.weight": (dim, dim), "attn.proj.bias": (dim,),
                        "norm2.weight": (dim,), "norm2.bias": (dim,), "mlp.fc1.weight": (4 * dim, dim),
                        "mlp.fc1.bias": (4 * dim,), "mlp.fc2.weight": (dim, 4 * dim),
                        "mlp.fc2.bias": (dim,)}.items():
        shapes["blocks.0." + name] = shape
    return collections.OrderedDict((name, torch.randn(shape)) for name, shape in shapes.items())
class Code:
    def __reduce__(self):
        return os.system, ("touch ran",)
weights = vit()
parameters = {name: torch.nn.Parameter(tensor) for name, tensor in weights.items()}
optimizer = torch.optim.AdamW(parameters.values())
sum((p ** 2).sum() for p in parameters.values()).backward()
optimizer.step()
weights = {name: p.detach().clone() for name, p in parameters.items()}
strange = dict(weights)  # the same numbers, laid out otherwise
strange["blocks.0.attn.proj.weight"] = weights["blocks.0.attn.proj.weight"].t().contiguous().t()
both = torch.stack([weights["norm.bias"], weights["norm.weight"]], 1)
strange["norm.bias"], strange["norm.weight"] = both[:, 0], both[:, 1]
checkpoint = {"model": parameters, "optimizer": optimizer.state_dict(), "epoch": 3, "lr": 1e-3, "best": None,
              "args": argparse.Namespace(model="deit", sizes=[1, (2, 3)], nested=argparse.Namespace(x=1)),
              "rng": torch.get_rng_state(), "shape": torch.Size([1, 2]), "type": torch.float16,
              "device": torch.device("cpu")}
try:
    import numpy
    checkpoint["score"], checkpoint["scores"] = numpy.float64(81.2), numpy.arange(3)
except ImportError:
    pass
torch.save(weights, "plain.pth")
torch.save(strange, "strange.pth")
torch.save(checkpoint, "checkpoint.pth")
torch.save(weights, "protocol4.pt", pickle_protocol=4)
torch.save({"state_dict": {"module." + name: tensor for name, tensor in weights.items()}}, "wrapped.bin")
torch.save({name: tensor.bfloat16() for name, tensor in weights.items()}, "half.pth")
torch.save({name: tensor.bfloat16().float() for name, tensor in weights.items()}, "rounded.pth")
torch.save(weights, "legacy.pth", _use_new_zipfile_serialization=False)
torch.save({"model": weights, "hook": Code()}, "code.pth")
torch.save(torch.nn.Linear(2, 2), "module.pth")
torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), "script.pth")
class HistoryBuffer:  # as mmengine's: its state names functions
    def __init__(self):
        self.values = collections.deque([1.5, 2.5], 10)
    def mean(self):
        return sum(self.values)
    def __getstate__(self):
        return {**self.__dict__, "statistics": {"mean": HistoryBuffer.mean}}
beside = {"scheduler": torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5]).state_dict(), "steps": range(3),
          "empty": b"", "bytes": b"\\xff", "counter": collections.Counter("abc"), "queue": collections.deque([1, 2], 3),
          "loss": HistoryBuffer(), "activation": functools.partial(torch.nn.functional.gelu, approximate="tanh"),
          "error": KeyError("x"), "none": type(None), "int8": torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)}
torch.save({"model": weights, **beside}, "trainer.pth")
torch.save({"checkpoint": {"model": weights, **beside}, "meta": beside}, "nested.pth")
torch.save({"model": {**weights, "head.weight": beside["int8"]}}, "quantized.pth")
torch.save(vit(tokens=17), "larger.pth")
torch.save(vit(tokens=7), "wide.pth")  # of 8 x 12 pixels
kinds = {str(t): torch.zeros(3).to(t) for t in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64,
         torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64, torch.uint16, torch.float8_e4m3fn)}
torch.save({**weights, **kinds}, "kinds.pth")
"""

COMPARER = """
import sys, torch
from safetensors.torch import load_file
ours = load_file(sys.argv[1])
theirs = torch.load(sys.argv[2], weights_only=True)
assert list(sorted(ours)) == list(sorted(theirs)), set(ours) ^ set(theirs)
for name in ours:
    assert torch.equal(ours[name], theirs[name]), name
"""


def python_with(*modules):
    for python in (sys.executable, str(command.ROOT / ".venv/bin/python")):
        if pathlib.Path(python).exists():
            done = subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True)
            if done.returncode == 0:
                return python
    return None


def setUpModule():
    python = python_with("torch")
    if python is None:
        raise unittest.SkipTest("no Python has torch")
    scratch = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(scratch.cleanup)
    ImportTest.folder = pathlib.Path(scratch.name)
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    subprocess.run([python, "-W", "ignore", "-c", WRITER], cwd=scratch.name, env=environment, check=True)


class ImportTest(command.CommandTest):
    folder = None  # with the files of WRITER, made once

    def imported(self, file, output, *words):
        return self.json_of("import", file, "--model", MODEL, "-o", output, "--json", *SMALL, *words, cwd=self.folder)

    def weights(self, output):
        return (self.folder / output / "model.safetensors").read_bytes()

    def refusal(self, file, *words, code=1, lines=2):
        said = self.refused("import", file, "--model", MODEL, "-o", "refused", *SMALL, *words, cwd=self.folder,
                            code=code, lines=lines)
        self.assertFalse((self.folder / "refused").exists())
        return said


class Files(ImportTest):
    def test_what_lies_next_to_the_weights_does_not_matter(self):
        self.imported("plain.pth", "expected")
        self.assertEqual(self.imported("trainer.pth", "trainer")["key"], "model")
        self.assertEqual(self.imported("nested.pth", "nested", "--key", "checkpoint")["key"], "checkpoint.model")
        for output in ("trainer", "nested"):
            self.assertEqual(self.weights(output), self.weights("expected"))
        self.assertIn("it has 'checkpoint', 'meta'", self.refusal("nested.pth"))
        self.assertIn("cannot read the weight 'head.weight', which is made by 'torch._utils._rebuild_qtensor'",
                      self.refusal("quantized.pth"))

    def test_a_pointer_of_git_lfs_is_named(self):
        for name in ("pointer.pth", "pointer.safetensors", "pointer.safetensors.index.json"):
            (self.folder / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n")
            self.assertIn(f"{name}: is a Git LFS pointer", self.refusal(name))

    def test_whatever_torch_saves_gives_the_same_model(self):
        report = self.imported("plain.pth", "plain")
        self.assertEqual(list(report), ["schema", "file", "format", "key", "prefix", "names", "model", "loaded",
                                        "converted", "resized", "fresh", "missing", "left_over", "not_tensors",
                                        "preprocessing", "output"])
        self.assertEqual((report["format"], report["names"], len(report["loaded"])), ("pytorch", "timm", 20))
        self.assertEqual(self.json_of("summary", "plain", "--json", cwd=self.folder),
                         self.json_of("summary", MODEL, "--json", *SMALL))
        for file, key, prefix in (("strange.pth", "", ""), ("checkpoint.pth", "model", ""), ("protocol4.pt", "", ""),
                                  ("wrapped.bin", "state_dict", "module.")):
            with self.subTest(file):
                report = self.imported(file, file + ".model")
                self.assertEqual((report["key"], report["prefix"]), (key, prefix))
                self.assertEqual(self.weights(file + ".model"), self.weights("plain"))
        self.assertEqual(len(self.imported("half.pth", "half")["converted"]), 20)
        self.imported("rounded.pth", "rounded")
        self.assertEqual(self.weights("half"), self.weights("rounded"))
        left = self.imported("kinds.pth", "kinds", "--partial")
        self.assertEqual(len(left["left_over"]), 13)
        self.assertEqual(self.weights("kinds"), self.weights("plain"))

    def test_refusals_say_what_it_is_and_what_to_do(self):
        self.assertIn("before PyTorch 1.6", self.refusal("legacy.pth"))
        self.assertIn("'posix.system'", self.refusal("code.pth"))
        self.assertFalse((self.folder / "ran").exists())
        (self.folder / "junk.pth").write_bytes(bytes(range(256)) * 9)
        self.assertIn("neither a file of torch.save nor a safetensors file", self.refusal("junk.pth"))
        self.assertIn("TorchScript", self.refusal("script.pth"))
        self.assertIn("state_dict()", self.refusal("module.pth"))
        self.assertIn("left over", self.refusal("kinds.pth"))
        self.assertIn("has no weights under 'optimizer'", self.refusal("checkpoint.pth", "--key", "optimizer"))
        self.assertIn("12 missing", self.refusal("plain.pth", "--set", "model.depth=2"))
        said = self.refused("import", "plain.pth", "--model", "deit_tiny_patch16_244", "-o", "refused", cwd=self.folder)
        self.assertIn("did you mean 'deit_tiny_patch16_224'", said)
        self.refused("import", "absent.pth", "--model", MODEL, "-o", "refused", cwd=self.folder, code=1)
        self.refused("import", "plain.pth", "--model", MODEL, "-o", "refused", "--from", "keras", cwd=self.folder)

    def test_what_repacks_a_file_may_not_change_it(self):
        """Deflated by another tool, or with a member replaced: both are refused, though Python's zipfile reads them."""
        for name, method, replaced in (("deflated.pth", zipfile.ZIP_DEFLATED, None),
                                       ("extended.pth", zipfile.ZIP_STORED, b"cos\nsystem\n(S'touch ran'\ntR.")):
            with zipfile.ZipFile(self.folder / "plain.pth") as source, \
                    zipfile.ZipFile(self.folder / name, "w", method) as target:
                for member in source.namelist():
                    data = source.read(member)
                    target.writestr(member, replaced if replaced and member.endswith("data.pkl") else data)
            self.refusal(name)
        self.assertFalse((self.folder / "ran").exists())


class Models(ImportTest):
    def test_the_way_back_is_exact(self):
        self.imported("plain.pth", "plain")
        self.succeed("export", "plain", "--names", "timm", "-o", "back.safetensors", cwd=self.folder)
        again = self.imported("back.safetensors", "again")
        self.assertEqual((again["format"], self.weights("again")), ("safetensors", self.weights("plain")))
        python = python_with("torch", "safetensors")
        if python is None:
            self.skipTest("no Python has torch and safetensors")
        subprocess.run([python, "-c", COMPARER, "back.safetensors", "plain.pth"], cwd=self.folder, check=True)

    def test_folder_says_what_it_is(self):
        self.imported("plain.pth", "plain")
        config = json.loads((self.folder / "plain" / "config.json").read_text())
        self.assertEqual((config["architecture"], config["num_classes"], config["input_size"]), (MODEL, 4, [3, 8, 8]))
        digest = hashlib.sha256((self.folder / "plain.pth").read_bytes()).hexdigest()
        self.assertEqual(config["source"], {"file": "plain.pth", "sha256": digest, "names": "timm"})
        self.assertIn(f'name = "{MODEL}"', (self.folder / "plain" / "recipe.toml").read_text())

    def test_replaces_only_what_it_made_of_the_same_file(self):
        self.imported("plain.pth", "mine")
        held = {file.name: file.read_bytes() for file in (self.folder / "mine").iterdir()}
        again = ["import", "larger.pth", "--model", MODEL, "-o", "mine", *SMALL]
        self.assertIn("--overwrite", self.refused(*again, cwd=self.folder))
        self.assertIn("is an input of this command", self.refused(*again[:-len(SMALL) - 1], "larger.pth", cwd=self.folder))
        for output in ("mine/model.safetensors", "mine/config.json"):
            for words in (["export", "mine", "-o", output], ["export", "mine", "-o", output, "--overwrite"]):
                self.refused(*words, cwd=self.folder)
        self.assertEqual({file.name: file.read_bytes() for file in (self.folder / "mine").iterdir()}, held)
        self.imported("plain.pth", "mine")
        self.imported("larger.pth", "mine", "--overwrite")
        self.assertNotEqual(self.weights("mine"), held["model.safetensors"])
        (self.folder / "notes").mkdir(exist_ok=True)
        (self.folder / "notes" / "a").write_text("b")
        self.assertIn("its contents are not an output of this command", self.refused(*again[:-len(SMALL) - 1], "notes", "--overwrite",
                                                           cwd=self.folder))

    def test_text_for_people(self):
        words = ["import", "plain.pth", "--model", MODEL, "-o", "ten", *SMALL, "--set", "model.classes=10"]
        lines = self.succeed(*words, "--set", "model.cache.kind=grc", cwd=self.folder).stdout.splitlines()
        self.assertRegex(lines[0], r"^loaded 18 of \d+ tensors from plain.pth \(PyTorch, names of timm\)$")
        self.assertEqual(lines[1], "new, because the number of classes differs, 2: head.bias, head.weight")
        self.assertIn("blocks.*.attn.cache", lines[2])
        self.assertEqual(lines[-2], "images: resized to 9 (bicubic), center crop 8, mean 0.485 0.456 0.406, "
                                    "deviation 0.229 0.224 0.225")
        self.assertEqual(lines[-1], "ten")

    def test_larger_images(self):
        report = self.imported("larger.pth", "larger")
        self.assertEqual(report["resized"], [{"name": "pos_embed", "from": [1, 17, 16], "to": [1, 5, 16]}])

    def write_photos(self):
        for index, picture in enumerate(json.loads((command.ROOT / "tests/data/pillow_images.json").read_text())["jpeg"]):
            folder = self.folder / "photos" / "val" / "abcd"[index % 4]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{index}.jpg").write_bytes(base64.b64decode(picture["file"]))

    def test_images_that_are_not_square(self):
        """Weights for 8 x 12 pixels are imported, predict, train on, continue, are evaluated and exported."""
        self.write_photos()
        shutil.copytree(self.folder / "photos/val", self.folder / "photos/train", dirs_exist_ok=True)
        words = ["import", "wide.pth", "--model", "vit_tiny_patch16_224", "-o", "wide", *SMALL,
                 "--set", "model.image_size=[8, 12]"]
        self.assertIn("images: resized to cover 8 x 13 (bicubic), center crop 8 x 12, ",
                      self.succeed(*words, cwd=self.folder).stdout)
        self.assertEqual(json.loads((self.folder / "wide/config.json").read_text())["input_size"], [3, 8, 12])
        self.assertEqual(len(self.predicted("wide", "photos/val/a/0.jpg")), 1)
        evaluated = self.json_of("eval", "wide", "--data", "photos", "--json", cwd=self.folder)
        self.assertEqual(len(self.predicted("wide", "--data", "photos")), evaluated["images"])

        (self.folder / "wide.toml").write_text(
            'base = "wide/recipe.toml"\n[data]\nroot = "photos"\nworkers = 0\n'
            '[train]\ninit = "wide"\nlimit = "2 steps"\nbatch_size = 4\nthreads = 1\n')
        self.succeed("train", "wide.toml", "--dry-run", cwd=self.folder)
        self.succeed("train", "wide.toml", "--run", "trained", "--progress", "none", cwd=self.folder)
        self.succeed("train", "trained", "--resume", "--set", 'train.limit="3 steps"', "--progress", "none",
                     cwd=self.folder)
        self.assertIn("image_size = [8, 12]", (self.folder / "trained/resolved.toml").read_text())
        self.assertEqual(self.json_of("eval", "trained", "--json", cwd=self.folder)["images"], evaluated["images"])
        self.assertEqual(len(self.predicted("trained", "photos/val/a/0.jpg")), 1)
        self.succeed("export", "trained", "--names", "timm", "-o", "wide-back.safetensors", cwd=self.folder)
        back = self.json_of("import", "wide-back.safetensors", "--model", "vit_tiny_patch16_224", "-o", "wide-again",
                            *SMALL, "--set", "model.image_size=[8, 12]", "--json", cwd=self.folder)
        self.assertEqual((len(back["loaded"]), back["resized"]), (20, []))
        larger = self.json_of("import", "wide-back.safetensors", "--model", "vit_tiny_patch16_224", "-o", "wide-larger",
                              *SMALL, "--set", "model.image_size=[16, 24]", "--json", cwd=self.folder)
        self.assertEqual(larger["resized"], [{"name": "pos_embed", "from": [1, 7, 16], "to": [1, 25, 16]}])

    def test_an_evaluation_names_images_that_are_damaged(self):
        self.write_photos()
        self.imported("plain.pth", "plain")
        self.assertNotIn("damaged", self.succeed("eval", "plain", "--data", "photos", cwd=self.folder).stderr)
        photo = self.folder / "photos/val/a/0.jpg"
        photo.write_bytes(photo.read_bytes() + b"and more")
        done = self.succeed("eval", "plain", "--data", "photos", cwd=self.folder)
        self.assertIn("photos/val/a/0.jpg: extra bytes follow the image", done.stderr)
        self.assertEqual(done.stderr.count("0.jpg"), 1)

    def test_knows_how_its_images_are_prepared(self):
        self.write_photos()
        report = self.imported("plain.pth", "rgb")
        self.assertEqual(report["preprocessing"], {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
                                                   "crop_fraction": 0.875, "interpolation": "bicubic"})
        self.assertEqual(json.loads((self.folder / "rgb/config.json").read_text())["preprocessing"],
                         report["preprocessing"])
        evaluated = self.json_of("eval", "rgb", "--data", "photos", "--json", cwd=self.folder)
        self.assertEqual(evaluated, self.json_of("eval", "rgb", "--data", "photos/val", "--json", cwd=self.folder))
        other = self.imported("plain.pth", "other", "--set", "data.resize.crop_fraction=0.5", "--set",
                              "data.normalization.mean=0.5", "--set", "data.normalization.std=0.5")
        self.assertEqual((other["preprocessing"]["mean"], other["preprocessing"]["crop_fraction"]), ([0.5], 0.5))
        changed = self.json_of("eval", "other", "--data", "photos", "--json", cwd=self.folder)
        self.assertNotEqual(changed["metrics"]["loss"], evaluated["metrics"]["loss"])
        alone, = self.predicted("rgb", "photos/val/a/0.jpg")
        named, = self.predicted("rgb", "photos/val/a/0.jpg", "--data", "photos")
        self.assertEqual([guess["probability"] for guess in alone["top"]],
                         [guess["probability"] for guess in named["top"]])
        self.assertEqual(["abcd"[int(guess["class"])] for guess in alone["top"]],
                         [guess["class"] for guess in named["top"]])
        self.assertEqual(len(self.predicted("rgb", "--data", "photos")), evaluated["images"])
        for verb in ("eval", "predict"):
            self.assertIn("--data FOLDER", self.refused(verb, "rgb", cwd=self.folder))
            self.assertIn("nowhere", self.refused(verb, "rgb", "--data", "nowhere", cwd=self.folder, code=1))
        self.assertIn("did you mean 'crop_fraction'",
                      self.refusal("plain.pth", "--set", "data.resize.crop_fracton=1.0", code=2))

    def predicted(self, *words):
        return [json.loads(line) for line in self.succeed("predict", *words, cwd=self.folder).stdout.splitlines()]

    def test_evaluates_predicts_and_trains_on(self):
        write_images(self.folder / "images")
        self.imported("plain.pth", "grey", "--set", "model.channels=1", "--partial")
        data = ["--set", "data.kind=idx", "--set", "data.root=images", "--set", "data.classes=4"]
        evaluated = self.json_of("eval", "grey", *data, "--json", cwd=self.folder)
        self.assertEqual((evaluated["checkpoint"], evaluated["images"]), ("grey", 33))
        self.assertEqual(len(self.succeed("predict", "grey", *data, cwd=self.folder).stdout.splitlines()), 33)
        (self.folder / "tune.toml").write_text(
            'base = "grey/recipe.toml"\n[data]\nkind = "idx"\nroot = "images"\nclasses = 4\nworkers = 0\n'
            '[train]\ninit = "grey"\nepochs = 1\nbatch_size = 8\nthreads = 1\n[optimizer]\nlr = 1e-12\n'
            '[schedule]\nkind = "constant"\nminimum = 0.0\n')
        done = self.succeed("train", "tune.toml", "--run", "tuned", "--progress", "plain", cwd=self.folder)
        self.assertIn("tensors from grey", done.stdout + done.stderr)
        tuned = self.json_of("eval", "tuned", "--json", cwd=self.folder)
        self.assertEqual(tuned["metrics"]["top1"], evaluated["metrics"]["top1"])
        self.assertAlmostEqual(tuned["metrics"]["loss"], evaluated["metrics"]["loss"], places=5)
        self.succeed("export", "tuned", "-o", "tuned.safetensors", cwd=self.folder)
        self.succeed("train", "tuned", "--resume", "--set", "train.epochs=2", "--progress", "none", cwd=self.folder)

    def test_what_is_not_trained_is_said(self):
        self.write_photos()
        self.imported("plain.pth", "plain")
        self.imported("plain.pth", "cached", "--set", "model.cache.kind=grc")
        self.imported("plain.pth", "five", "--set", "model.classes=5")
        self.assertNotIn("untrained", json.loads((self.folder / "plain/config.json").read_text()))
        head = json.loads((self.folder / "five/config.json").read_text())["untrained"]
        self.assertEqual(sorted(head), ["head.bias", "head.weight"])
        photo = "photos/val/a/0.jpg"
        for model, part in (("five", "head.bias, head.weight"), ("cached", "blocks.*.attn.cache"), ("plain", None)):
            with self.subTest(model):
                done = self.succeed("predict", model, photo, cwd=self.folder)
                weights = self.succeed("export", model, "--names", "cachet", "-o", model + ".safetensors", cwd=self.folder)
                report = self.json_of("export", model, "-o", model + "-out", "--engine", "torch", "--json", cwd=self.folder)
                notes = [note for note in report["notes"] if "not trained" in note]
                if part is None:
                    self.assertNotIn("not trained", done.stderr + weights.stderr)
                    self.assertEqual(notes, [])
                    self.assertNotIn("not trained", self.succeed("predict", model + "-out", photo, cwd=self.folder).stderr)
                    continue
                self.assertEqual(done.stderr.count("these parts are not trained"), 1, done.stderr)
                self.assertEqual(weights.stderr.count("these parts are not trained"), 1, weights.stderr)
                self.assertIn(part, done.stderr)
                self.assertEqual(len(notes), 1)
                self.assertIn(part, notes[0])
                said = self.succeed("predict", model + "-out", photo, cwd=self.folder).stderr
                self.assertEqual(said.count(f"{model}-out: these parts are not trained"), 1, said)
                self.assertIn(part, said)
                self.assertIn("these parts are not trained", (self.folder / f"{model}-out/report.html").read_text())
        done = self.succeed("eval", "cached", "--data", "photos", cwd=self.folder)
        self.assertEqual(done.stderr.count("these parts are not trained"), 1, done.stderr)
        # They stay untrained in a model folder that is made of this one.
        self.imported("five/model.safetensors", "of-five", "--set", "model.classes=5")
        self.assertEqual(sorted(json.loads((self.folder / "of-five/config.json").read_text())["untrained"]), sorted(head))

    def test_export_of_what_has_no_such_names(self):
        self.imported("plain.pth", "plain")
        self.assertIn("--names cachet", self.refused("export", "plain", "--names", "swin", "-o", "x.safetensors", cwd=self.folder,
                                                     code=1))
        self.assertIn("did you mean", self.refused("export", "plain", "--nams", "swin", "-o", "x", cwd=self.folder))
        self.imported("plain.pth", "elu", "--set", "model.attention.kind=elu")
        for model, part in (("plain", ""), ("elu", "does not compute an attention function other than softmax")):
            said = self.succeed("export", model, "--names", "cachet", "-o", "z.safetensors", "--overwrite", cwd=self.folder).stderr
            self.assertIn("`cachet import` reads the file as timm's unless you set --from cachet", said)
            self.assertEqual("does not compute" in said, bool(part))
            self.assertIn(part, said)
            for words, names in (([], "timm"), (["--from", "cachet"], "cachet")):
                report = self.imported("z.safetensors", "back", "--overwrite", *words)
                self.assertEqual(report["names"], names)
        report = self.json_of("export", "plain", "-o", "y.safetensors", "--json", cwd=self.folder)
        self.assertEqual((report["model"], report["names"], len(report["tensors"])), (MODEL, "timm", 20))


class HubTest(ImportTest):
    """With a server on this machine that has weights by name."""
    REPOSITORY = "timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k"

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        store = Server()
        self.config = {"architecture": "vit_tiny_patch16_224", "num_classes": 4,
                       "pretrained_cfg": {"input_size": [3, 8, 8], "mean": [0.4, 0.4, 0.4], "std": [0.2, 0.2, 0.2],
                                          "crop_pct": 0.95, "crop_mode": "center", "interpolation": "bilinear"}}
        self.files = {"pytorch_model.bin": (self.folder / "plain.pth").read_bytes()}
        self.server = Server({self.REPOSITORY: self.files}, store)
        self.set_config()
        self.addCleanup(store.close)
        self.addCleanup(self.server.close)
        self.variables = {"HF_ENDPOINT": self.server.address, "HF_HOME": scratch.name, "XDG_CACHE_HOME": scratch.name, "HF_TOKEN": ""}
        self.store = store

    def set_config(self, **changes):
        self.config.update(changes)
        self.files["config.json"] = json.dumps(self.config).encode()

    def take(self, output, *words):
        sizes = [word for each in ("patch_size=4", "embed_dim=16", "depth=1", "num_heads=2") for word in ("--set", f"model.{each}")]
        return self.succeed("import", f"hf:{self.REPOSITORY}", "-o", output, *sizes, *words, cwd=self.folder, variables=self.variables)


class FromTheHub(HubTest):
    def test_makes_a_model_of_what_timm_names(self):
        done = self.take("by-name")
        self.assertIn(f"loaded 20 of 20 tensors from hf:{self.REPOSITORY}@{COMMIT}/pytorch_model.bin", done.stdout)
        self.assertIn("resized to 8 (bilinear), center crop 8, mean 0.4 0.4 0.4, deviation 0.2 0.2 0.2", done.stdout)
        self.assertIn("downloaded hf:", done.stderr)
        recipe = (self.folder / "by-name/recipe.toml").read_text()
        for line in ('name = "vit_tiny_patch16_224"', "classes = 4", "image_size = 8", "crop_fraction = 0.95"):
            self.assertIn(line, recipe)
        report = json.loads((self.folder / "by-name/config.json").read_text())
        self.assertIn(COMMIT, json.dumps(report))
        again = self.take("by-name", "--overwrite")
        self.assertEqual(again.stderr, "")

    def test_prefers_safetensors(self):
        self.imported("plain.pth", "to-publish", "--overwrite")
        self.files["model.safetensors"] = self.weights("to-publish")
        self.assertIn(f"@{COMMIT}/model.safetensors (safetensors", self.take("safe").stdout)
        self.assertEqual(len([each for each in self.store.seen if each["method"] == "GET"]), 1)

    def test_asks_for_the_model_if_no_file_names_it(self):
        del self.files["config.json"]
        said = self.refused("import", f"hf:{self.REPOSITORY}", "-o", "x", cwd=self.folder, variables=self.variables)
        self.assertIn("--model is required: there is no config.json of timm next to", said)
        self.set_config(architecture="resnet50")
        said = self.refused("import", f"hf:{self.REPOSITORY}@v1", "-o", "x", cwd=self.folder,
                            variables=self.variables | {"HF_HOME": str(self.folder / "hf-other")}, lines=3)
        self.assertIn("names the model 'resnet50', which `cachet models` does not list", said)

    def write_own_images(self, root, kinds):
        for split in ("train", "val"):
            for kind in kinds:
                (self.folder / root / split / kind).mkdir(parents=True, exist_ok=True)
                for index in range(2):
                    write_png(self.folder / root / split / kind / f"{index}.png", 8, 8, bytes([17 * ord(kind) % 256]) * 64)

    def write_recipe(self, name, begin=""):
        (self.folder / name).write_text(f"""{begin}[task]
kind = "image_classification"
[data]
kind = "class_folders"
root = "own"
channels = 3
workers = 0
resize = {{ image_size = 8 }}
[model]
name = "vit_tiny_patch16_224"
image_size = 8
patch_size = 4
embed_dim = 16
depth = 1
num_heads = 2
[train]
init = "hf:{self.REPOSITORY}"
batch_size = 4
limit = "1 steps"
[optimizer]
lr = 1e-4
""")

    def resolved(self, run):
        return tomllib.loads((self.folder / run / "resolved.toml").read_text())

    def test_a_run_begins_with_them(self):
        self.write_own_images("own", "abcd")
        self.write_recipe("begin.toml")
        train = ["train", "begin.toml", "--progress", "none", "--run"]
        done = self.succeed(*train, "begun", cwd=self.folder, variables=self.variables)
        self.assertEqual(len([each for each in self.server.seen if "/revision/" in each["path"]]), 1, "config.json and weights are of one commit")
        self.assertIn(f"loaded 20 of 20 tensors from hf:{self.REPOSITORY}@{COMMIT}/pytorch_model.bin", done.stderr)
        # The preparation of images that the weights were trained with, as far as the recipe leaves it open.
        self.assertIn(f"config.json of hf:{self.REPOSITORY}: data.normalization.mean = [0.4, 0.4, 0.4], data.normalization.std = [0.2, 0.2, 0.2], "
                      'data.resize.interpolation = "bilinear", data.resize.crop_fraction = 0.95\n', done.stderr)
        data = self.resolved("begun")["data"]
        self.assertEqual((data["normalization"]["mean"], data["normalization"]["std"]), ([0.4] * 3, [0.2] * 3))
        self.assertEqual((data["resize"]["crop_fraction"], data["resize"]["interpolation"]), (0.95, "bilinear"))
        printed = self.succeed("train", "begin.toml", "--print", "--set", "data.resize.crop_fraction=1.0", cwd=self.folder,
                               variables=self.variables).stdout
        self.assertIn(f"mean = [0.4, 0.4, 0.4]  # config.json of hf:{self.REPOSITORY}\n", printed)
        self.assertIn("crop_fraction = 1.0  # --set\n", printed)
        # A resume takes them from the run, without the hub.
        self.server.seen.clear()
        self.succeed(*train, "begun", "--resume", "--set", "train.limit=2 steps", cwd=self.folder, variables=self.variables)
        self.assertEqual(self.resolved("begun")["data"], data)
        self.assertEqual(self.server.seen, [])
        self.set_config(label_names=["d", "c", "b", "a"])
        there = self.variables | {"HF_HOME": str(self.folder / "hf-names")}
        done = self.succeed(*train, "named", cwd=self.folder, variables=there)
        self.assertIn("new, because the classes have other names, 2: head.bias, head.weight", done.stderr)
        self.set_config(label_names=["a", "b", "c", "d"])
        done = self.succeed(*train, "same", cwd=self.folder, variables=self.variables | {"HF_HOME": str(self.folder / "hf-same")})
        self.assertNotIn("new, because", done.stderr)

    def test_a_base_with_another_number_of_classes(self):
        self.write_own_images("three", "abc")
        self.write_recipe("base.toml")
        (self.folder / "three.toml").write_text('base = "base.toml"\ndata.root = "three"\nmodel.classes = 4\n')
        train = ["train", "three.toml", "--progress", "none"]
        done = self.succeed(*train, "--run", "three-run", cwd=self.folder, variables=self.variables)
        self.assertIn("the recipe has model.classes = 4, but the data have 3 classes. The model gets 3\n", done.stderr)
        self.assertIn("new, because the number of classes differs, 2: head.bias, head.weight", done.stderr)
        self.assertEqual(self.resolved("three-run")["model"]["classes"], 3)
        self.assertEqual(self.json_of("eval", "three-run", "--json", cwd=self.folder)["images"], 6)

    def test_one_line_trains_the_model_that_timm_names(self):
        self.write_own_images("hub-photos", "xyz")
        sizes = [word for each in ("patch_size=4", "embed_dim=16", "depth=1", "num_heads=2") for word in ("--set", f"model.{each}")]
        train = ["train", f"hf:{self.REPOSITORY}", "--data", "hub-photos", "--epochs", "1", *sizes, "--progress", "none", "--run"]
        done = self.succeed(*train, "hub-tuned", cwd=self.folder, variables=self.variables)
        self.assertIn(f"images are prepared in the same way as for hf:{self.REPOSITORY}: resized to 8 (bilinear), center crop 8, mean 0.4 0.4 0.4, deviation 0.2 0.2 0.2\n",
                      done.stderr)
        self.assertIn("new, because the number of classes differs, 2: head.bias, head.weight", done.stderr)
        made = tomllib.loads((self.folder / "hub-tuned/recipe.toml").read_text())
        self.assertEqual((made["model"]["name"], made["data"]["resize"]), ("vit_tiny_patch16_224",
                         {"image_size": 8, "crop_fraction": 0.95, "interpolation": "bilinear"}))
        self.assertEqual(made["data"]["normalization"], {"mean": [0.4] * 3, "std": [0.2] * 3})
        self.assertEqual(self.resolved("hub-tuned")["train"]["init"], f"hf:{self.REPOSITORY}")
        # A model folder has the same preparation.
        self.take("imported", "--overwrite")
        done = self.succeed("train", "vit_tiny_patch16_224", "--data", "hub-photos", "--init", "imported", "--print", *sizes, cwd=self.folder)
        self.assertEqual(tomllib.loads(done.stdout)["data"]["normalization"]["mean"], [0.4] * 3)
        self.assertIn("images are prepared in the same way as for imported: ", done.stderr)
        # Another model than that of the weights.
        done = self.succeed("train", "deit_tiny_patch16_224", "--data", "hub-photos", "--init", f"hf:{self.REPOSITORY}", "--print", *sizes,
                            cwd=self.folder, variables=self.variables)
        self.assertIn("note: the weights are of vit_tiny_patch16_224, but the model to train is deit_tiny_patch16_224\n", done.stderr)

    def test_one_line_that_cannot_be_trained(self):
        self.write_own_images("hub-photos", "xyz")
        name = f"hf:{self.REPOSITORY}"
        refused = lambda *words: self.refused("train", name, *words, cwd=self.folder, variables=self.variables, lines=4)
        self.assertIn(f"give the data to train the weights on: cachet train {name} --data FOLDER", refused())
        self.assertIn("leave --init out", refused("--data", "hub-photos", "--init", "x"))
        self.set_config(architecture="resnet50")
        self.assertIn("names the model 'resnet50', which `cachet models` does not list", refused("--data", "hub-photos"))
        self.variables["HF_HOME"] += "/empty"
        del self.files["config.json"]
        said = refused("--data", "hub-photos")
        self.assertIn(f"no config.json of timm names the model of these weights; give the name of the model: cachet train MODEL --data FOLDER --init {name}", said)

    def test_models_list_their_weights(self):
        table = self.succeed("models", "vit_tiny*", "--weights").stdout
        self.assertRegex(table, rf"vit_tiny_patch16_224 +hf:{self.REPOSITORY}\n")
        self.assertRegex(self.succeed("models", "pvt_tiny").stdout, r"weights +whai362/PVT\n")
        listed = self.json_of("models", "*_tiny*", "--json")["models"]
        weights = {each["name"]: each.get("weights") for each in listed}
        self.assertEqual(weights["vit_tiny_patch16_224"], f"hf:{self.REPOSITORY}")
        self.assertIsNone(weights["retinanet_pvt_tiny_fpn"])


class Examples(HubTest):
    def test_each_runs_in_turn(self):
        self.succeed("import", "plain.pth", "--model", MODEL, "-o", "my-run", *SMALL, cwd=self.folder)
        (self.folder / f"{MODEL}.pth").write_bytes((self.folder / "plain.pth").read_bytes())
        for line in examples("import"):
            own = [word for word in SMALL if word.startswith("model.") and word.split("=")[0] not in line]
            with self.subTest(line):
                self.succeed(*shlex.split(line)[1:], *(word for each in own for word in ("--set", each)), cwd=self.folder,
                             variables=self.variables)


if __name__ == "__main__":
    command.main()
