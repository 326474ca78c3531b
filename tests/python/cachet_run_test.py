"""cachet.Run and cachet.train: what the command trained, opened in Python, and back.

  PYTHONPATH=build/release/python python tests/python/cachet_run_test.py
"""
import json
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import time
import unittest
import zlib

import numpy as np
import torch

import cachet
from cachet import _command

SAVED = pathlib.Path(__file__).resolve().parents[1] / "data" / "saved_by_0_1_0"
VIT = "patch_size = 4\nembed_dim = 16\ndepth = 2\nnum_heads = 2\n"
PVT = ("patch_size = 4\nembed_dims = [8, 16, 16, 32]\ndepths = [1, 1, 1, 2]\nnum_heads = [1, 2, 2, 4]\n"
       "mlp_ratios = [1, 1, 1, 1]\n")
SWIN = "patch_size = 2\nembed_dim = 8\ndepths = [2, 1, 1, 1]\nnum_heads = [1, 2, 2, 4]\n"
TEXT = {"model.embed_dim": 16, "model.depth": 2, "model.num_heads": 2, "model.mlp_dim": 16, "train.threads": 1,
        "train.limit": "2 steps"}


def pixels(index, side):
    """Brighter columns for each class."""
    return bytes((index * 31 + y * 17 + x * 13) % 100 + (120 if x % 4 == index % 4 else 0)
                 for y in range(side) for x in range(side))


def write_images(folder, side):
    """Data of IDX files, and the first three samples as PNG."""
    folder.mkdir()
    for prefix, count in (("train", 24), ("t10k", 8)):
        data = b"".join(pixels(index, side) for index in range(count))
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, side, side) + data)
        labels = bytes(index % 4 for index in range(count))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count) + labels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    for index in range(3):
        rows = pixels(index, side)
        lines = b"".join(b"\0" + rows[y * side:(y + 1) * side] for y in range(side))
        (folder / f"{index}.png").write_bytes(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def sentences(count):
    draw = random.Random(0)
    words = "the cat dog sees eats a tree house 1 2 of and".split()
    return [" ".join(draw.choice(words) for _ in range(draw.randint(4, 9))) for _ in range(count)]


class InFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)


class Images(InFolder):
    """Logits of the module against those that the command prints: within 1e-5 of the largest one."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for side in (8, 32):
            write_images(cls.folder / f"images{side}", side)

    def trained(self, name, model, side, tables, **settings):
        recipe = self.folder / f"{name}.toml"
        recipe.write_text(f"""
[data]
root = "{self.folder}/images{side}"
kind = "idx"
classes = 4
[data.normalization]
mean = [0.5]
std = [0.25]
[train]
epochs = 1
batch_size = 8
threads = 1
[schedule]
kind = "constant"
[model]
name = "{model}"
image_size = {side}
{tables}""")
        settings = {"train.limit": "3 steps", **settings}
        return cachet.train(recipe, run=self.folder / name, settings=settings).wait()

    def agrees(self, run, side, module=None):
        folder = self.folder / f"images{side}"
        x = torch.stack([torch.frombuffer(bytearray(pixels(index, side)), dtype=torch.uint8).view(1, side, side)
                         for index in range(3)])
        said = run.predict([folder / f"{index}.png" for index in range(3)], logits=True)
        want = torch.tensor([each["logits"] for each in said])
        with torch.no_grad():
            logits = (module or run.model())((x / 255 - 0.5) / 0.25)
        self.assertLessEqual(float((logits - want).abs().max()), 1e-5 * float(want.abs().max()))
        self.assertGreater(float((want[0] - want[1]).abs().max()), 1e-3 * float(want.abs().max()), "samples differ")

    def check(self, name, model, side, tables):
        self.agrees(self.trained(name, model, side, tables), side)

    def test_vit_with_a_cache_and_unified_normalization_and_back(self):
        tables = VIT + '[model.cache]\nkind = "grc"\n[model.norm]\nkind = "un"\nwarmup = 2\n'
        run = self.trained("un", "vit_tiny_patch16_224", 8, tables)
        self.agrees(run, 8)
        model = run.model()
        with torch.no_grad():
            model.head.weight.mul_(2)
        torch.save(model.state_dict(), self.folder / "weights.pt")
        settings = _command.settings({key: value for key, value in run._values.items() if key.startswith("model.")
                                      and key != "model.name" and not key.startswith("model.outliers")})
        more = _command.settings({"data.normalization.mean": [0.5], "data.normalization.std": [0.25],
                                  "data.resize.crop_fraction": 1.0})
        _command.run(["import", str(self.folder / "weights.pt"), "--model", "vit_tiny_patch16_224", "--from", "cachet",
                      "-o", str(self.folder / "back"), *settings, *more])
        back = cachet.Run(self.folder / "back")
        self.assertEqual(back.kind, "model")
        self.agrees(back, 8, model)
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(back.state_dict()[name], tensor), name)

    def test_vit_with_the_cache_of_the_published_code(self):
        self.check("official", "vit_tiny_patch16_224", 8, VIT + """
[model.cache]
kind = "grc"
variant = "official"
[model.norm]
kind = "batch"
""")

    def test_distilled_vit_with_trained_kernels_in_heads_of_their_own_width(self):
        self.check("fifo", "deit_tiny_distilled_patch16_224", 8, VIT + """
[model.cache]
kind = "fifo"
length = 3
[model.norm]
kind = "rms"
[model.attention]
kind = "kernel"
form = "aoglu"
layers = 2
head_dim = 4
""")

    def test_vit_with_a_concatenated_cache(self):
        self.check("concatenated", "vit_tiny_patch16_224", 8, VIT + """
class_token = false
pooling = "mean"
[model.cache]
kind = "concatenated"
[model.norm]
kind = "mabn"
warmup = 1
""")

    def test_pvt(self):
        self.check("pvt", "pvt_tiny", 32, PVT + '[model.cache]\nkind = "grc"\nvariant = "official"\n')

    def test_pvt_v2(self):
        self.check("pvt_v2", "pvt_v2_b0", 32, PVT + """
spatial_reductions = [4, 2, 1, 1]
cache_pools = [2, 2, 1, 1]
[model.cache]
kind = "grc"
[model.norm]
kind = "pn"
warmup = 1
""")

    def test_pvt_v2_with_pooled_keys(self):
        self.check("pvt_v2_li", "pvt_v2_b2_li", 32, PVT + '[model.cache]\nkind = "concatenated"\n')

    def test_swin(self):
        self.check("swin", "swin_tiny_patch4_window7_224", 32, SWIN + """
window_size = 4
window_fit = "pad"
[model.cache]
kind = "grc"
[model.norm]
kind = "group"
groups = 4
""")

    def test_what_has_no_module_is_named(self):
        run = self.trained("performer", "vit_tiny_patch16_224", 8, VIT + '[model.attention]\nkind = "performer"\n')
        with self.assertRaisesRegex(NotImplementedError, 'attention.kind "performer"'):
            run.model()
        self.assertEqual(len(run.predict([self.folder / "images8/0.png"], top=2)[0]["top"]), 2)

    def test_an_error_has_the_text_of_the_command(self):
        training = cachet.train(self.folder / "nowhere.toml", run=self.folder / "nothing")
        with self.assertRaisesRegex(cachet.CommandError, "nowhere.toml"):
            training.wait()
        with self.assertRaisesRegex(cachet.CommandError, "nowhere.toml"):
            training.metrics()

    def test_a_training_that_is_stopped_can_be_resumed(self):
        recipe = self.folder / "long.toml"
        recipe.write_text(f"""
[data]
root = "{self.folder}/images8"
kind = "idx"
classes = 4
[model]
name = "vit_tiny_patch16_224"
image_size = 8
{VIT}
[train]
epochs = 100000
batch_size = 8
threads = 1
log_every = "1 steps"
""")
        training = cachet.train(recipe, run=self.folder / "long")
        for _ in range(600):
            if len(training.metrics()["step"]) >= 2:
                break
            time.sleep(0.1)
        with self.assertRaises(TimeoutError):
            training.wait(timeout=0.01)
        training.stop()
        run = training.wait()
        self.assertEqual(run.state, "interrupted")
        self.assertTrue(training.done())
        steps = run.checkpoints()[-1]
        again = cachet.train(run.path, resume=True, settings={"train.limit": f"{steps + 2} steps"}).wait()
        self.assertEqual(again.checkpoints()[-1], steps + 2)
        with self.assertRaisesRegex(ValueError, "leave out the argument run"):
            cachet.train(run.path, resume=True, run="x")


class Texts(InFolder):
    """Losses and logits of the module against the command's: within 1e-5 of them, float32."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "stories.txt").write_text("\n".join(sentences(300)) + "\n")
        (cls.folder / "piece.txt").write_text("the cat sees a tree 1\nthe dog eats\n")
        labelled = [f"{('good', 'bad', 'odd')[i % 3]}\t{line}" for i, line in enumerate(sentences(90))]
        (cls.folder / "reviews.tsv").write_text("\n".join(labelled) + "\n")

    def language(self, name, model, **settings):
        """A language model of bytes reads a text in pieces of eight tokens, in Python as in the command."""
        settings = {**TEXT, "model.target_length": 8, **settings}
        run = cachet.train(model, data=self.folder / "stories.txt", run=self.folder / name, settings=settings).wait()
        said = _command.run(["eval", str(run.path), "--text", str(self.folder / "piece.txt"), "--json", "--progress",
                             "none"])
        want = sum(line["loss"] * line["tokens"] for line in map(json.loads, said.splitlines()))
        # Ids are bytes and one more; the text begins after the end of a line.
        ids = torch.tensor([[byte + 1 for byte in b"\n" + (self.folder / "piece.txt").read_bytes()]])
        model, loss = run.model(), 0.0
        state = model.make_state(1)
        with torch.no_grad():
            for first in range(0, ids.shape[1] - 1, 8):
                target = ids[:, first + 1:first + 9]
                scores = model(ids[:, first:first + target.shape[1]], state)
                loss -= float(scores.gather(2, target.unsqueeze(2)).double().sum())
        self.assertAlmostEqual(loss / want, 1, delta=1e-6)

    def test_causal_transformer_with_a_cache_and_clusters(self):
        self.language("grc", "causal_transformer_small",
                      **{"model.cache.kind": "grc", "model.cutoffs": [40, 100], "model.division": 2})

    def test_causal_transformer_with_a_cache_for_each_text(self):
        self.language("lane", "causal_transformer_small",
                      **{"model.cache.kind": "grc", "model.cache.scope": "lane", "model.norm.kind": "rms"})

    def test_causal_transformer_with_sums_of_the_whole_past(self):
        self.language("kernel", "causal_transformer_small",
                      **{"model.attention.kind": "kernel", "model.whole_past": True})

    def test_transformer_xl(self):
        self.language("xl", "transformer_xl_small", **{"model.attention.head_dim": 6, "model.memory_length": 5})

    def test_transformer_xl_with_a_cache(self):
        self.language("xl_grc", "transformer_xl_small",
                      **{"model.cache.kind": "grc", "model.norm_place": "before", "model.token_dim": 8})

    def test_transformer_xl_with_memory_tokens(self):
        self.language("xl_tokens", "transformer_xl_small",
                      **{"model.memory_tokens": 2, "model.memory_tokens_recurrent": True, "model.memory_length": 0})

    def encoder(self, name, **settings):
        run = cachet.train("lra_small", data=self.folder / "reviews.tsv", run=self.folder / name,
                           settings={**TEXT, **settings}).wait()
        text = "the cat sees a tree"
        want = torch.tensor(run.predict([text], logits=True)[0]["logits"])
        ids = torch.tensor([[byte + 1 for byte in text.encode()]])
        model = run.model()
        with torch.no_grad():
            logits = model(ids)[0]
            padded = model(torch.cat([ids, torch.zeros(1, 5, dtype=torch.int64)], 1),
                           torch.arange(ids.shape[1] + 5).unsqueeze(0) >= ids.shape[1])[0]
        for each in (logits, padded):
            self.assertLessEqual(float((each - want).abs().max()), 1e-5 * float(want.abs().max()))

    def test_encoder(self):
        self.encoder("lra", **{"model.cache.kind": "grc", "model.cache.length": 6})

    def test_encoder_with_trained_kernels_and_a_class_token(self):
        self.encoder("lra_kernel", **{"model.attention.kind": "kernel", "model.pooling": "class_token",
                                      "model.positions": "sinusoidal", "model.attention.projection_bias": False})


class Folders(InFolder):
    """Folders that version 0.1.0 wrote, and damaged ones."""

    def copied(self, part, name):
        folder = self.folder / name
        shutil.copytree(SAVED / part, folder)
        return folder

    def test_a_run(self):
        run = cachet.Run(SAVED / "interrupted/images/run")
        self.assertEqual((run.kind, run.state, run.checkpoints()), ("run", "interrupted", [12, 17]))
        self.assertEqual(run.recipe["model"]["norm"]["kind"], "un")
        metrics = run.metrics()
        self.assertEqual(list(metrics["step"]), sorted(metrics["step"]))
        self.assertEqual(metrics["loss"].dtype, np.float64)
        self.assertEqual({len(column) for column in metrics.values()}, {len(metrics["step"])})
        self.assertIn("top1", run.metrics("evaluation"))
        series = run.series()
        self.assertTrue(series)
        self.assertEqual({len(rows) for rows in series.values()}, {len(metrics["step"])})
        with self.assertRaisesRegex(ValueError, '"epoch" is not one of'):
            run.metrics("epoch")

    def test_averaged_weights_are_those_that_the_command_reads(self):
        run = cachet.Run(SAVED / "interrupted/images/run")
        averaged, own = run.state_dict(17), run.state_dict(17, averaged=False)
        self.assertEqual(set(averaged), set(own))
        self.assertFalse(torch.equal(averaged["head.weight"], own["head.weight"]))
        self.assertTrue(torch.equal(run.model(17).head.weight, averaged["head.weight"]))
        checkpoint = cachet.Run(run.path / "checkpoints/step-00000017")
        self.assertEqual(checkpoint.kind, "checkpoint")
        self.assertTrue(torch.equal(checkpoint.state_dict()["head.weight"], averaged["head.weight"]))

    def test_best_and_last(self):
        run = cachet.Run(SAVED / "interrupted/images/run")
        for which in ("best", "last"):
            named = (run.path / "checkpoints" / which).read_text().strip()
            self.assertTrue(torch.equal(run.state_dict(which)["head.weight"],
                                        run.state_dict(int(named[5:]))["head.weight"]))
        with self.assertRaisesRegex(ValueError, r"no checkpoint of step 5; it has \[12, 17\]"):
            run.state_dict(5)
        with self.assertRaisesRegex(ValueError, '"first" is not'):
            run.model("first")

    def test_a_model_folder_and_an_export(self):
        model = cachet.Run(SAVED / "idx/model")
        self.assertEqual(model.kind, "model")
        self.assertEqual(model.model()(torch.zeros(2, 3, 8, 8)).shape, (2, 3))
        export = cachet.Run(SAVED / "idx/export")
        self.assertEqual(export.kind, "export")
        self.assertIn("head.weight", export.state_dict())
        with self.assertRaisesRegex(NotImplementedError, "folded weights"):
            export.model()
        with self.assertRaisesRegex(ValueError, "only runs have them"):
            export.metrics()

    def test_what_is_no_run(self):
        with self.assertRaisesRegex(FileNotFoundError, "nowhere: there is no such folder"):
            cachet.Run(self.folder / "nowhere")
        (self.folder / "empty").mkdir()
        with self.assertRaisesRegex(ValueError, "is not a run, checkpoint, model folder or export"):
            cachet.Run(self.folder / "empty")

    def test_a_run_of_a_newer_version(self):
        folder = self.copied("idx/run", "newer")
        run = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps({**run, "schema": 2}))
        with self.assertRaisesRegex(ValueError, "its schema is 2; use a newer cachet-torch"):
            cachet.Run(folder)

    def test_damaged_files(self):
        folder = self.copied("idx/run", "damaged")
        weights = next((folder / "checkpoints").glob("step-*")) / "model.safetensors"
        content = bytearray(weights.read_bytes())
        content[-1] ^= 1
        weights.write_bytes(content)
        with self.assertRaisesRegex(ValueError, "its SHA-256 is not the one"):
            cachet.Run(folder).model()
        with (folder / "metrics.jsonl").open("a") as log:
            log.write('{"schema":1,"kind":"step","st')
        cachet.Run(folder).metrics()  # a line that is being written does not count
        (folder / "run.json").write_text("{")
        with self.assertRaisesRegex(ValueError, "run.json: is damaged"):
            cachet.Run(folder)

    def test_a_frame_needs_pandas(self):
        run = cachet.Run(SAVED / "interrupted/images/run")
        hidden = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "pandas"}
        sys.modules.update({"pandas": None})
        try:
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                run.frame()
        finally:
            del sys.modules["pandas"]
            sys.modules.update(hidden)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
