"""Language and translation models under the names of others, as model folders, and rewritten for LibTorch."""
import json
import math
import shutil

import command
from language_test import text
from translate_test import RECIPE, pair, write_pairs

LANGUAGE = """[task]
kind = "language_modelling"
baseline = false
[task.evaluation]
lanes = 2
[data]
root = "corpus"
vocabulary = 23
vocabulary_file = "words.txt"
[model]
name = "transformer_xl_small"
embed_dim = 16
depth = 2
num_heads = 2
mlp_dim = 24
target_length = 8
memory_length = 8
cutoffs = [12]
[train]
batch_size = 4
threads = 1
limit = "6 steps"
[schedule]
kind = "constant"
"""


class TextModels(command.FolderTest):
    def setUp(self):
        super().setUp()
        for name, lines, first in (("train", 120, 0), ("valid", 20, 5), ("test", 21, 9)):
            (self.folder / "corpus").mkdir(exist_ok=True)
            (self.folder / f"corpus/{name}.txt").write_text(text(lines, first))
        write_pairs(self.folder / "pairs")
        (self.folder / "translation.toml").write_text(RECIPE)
        (self.folder / "language.toml").write_text(LANGUAGE)
        self.cachet("data", "words", "corpus", "-o", "corpus/words.txt")

    def refuses(self, *words, code=1, lines=2):
        return self.refused(*words, cwd=self.folder, code=code, lines=lines)

    def train(self, recipe, run, *settings):
        settings = [word for setting in settings for word in ("--set", setting)]
        self.cachet("train", recipe, "--run", run, "--progress", "none", *settings)

    def metrics(self, *words):
        return self.json_of("eval", *words, "--json", cwd=self.folder)["metrics"]

    def sizes(self, run):
        """--set of every key that the run's table [model] holds as a number."""
        lines = (self.folder / run / "resolved.toml").read_text().split("\n[model]\n")[1].split("\n[")[0].splitlines()
        keys = [line.split("#")[0].replace(" ", "") for line in lines if "=" in line and "name" not in line]
        return [word for key in keys for word in ("--set", "model." + key)]

    def round_trip(self, run, model, names):
        """The run's weights under others' names and back: the same bits, in a folder that describes itself."""
        said = self.json_of("export", run, "--names", names, "-o", "theirs.safetensors", "--json", cwd=self.folder)
        self.assertEqual((said["model"], said["names"]), (model, names))
        settings = self.sizes(run)
        report = self.json_of("import", "theirs.safetensors", "--model", model, "-o", "imported", "--json", *settings,
                              cwd=self.folder)
        self.assertEqual((report["names"], report["missing"], report["left_over"], report["fresh"]), (names, [], [], []))
        self.assertNotIn("preprocessing", report)
        lines = self.cachet("import", "theirs.safetensors", "--model", model, "-o", "imported", *settings).stdout
        self.assertIn(f"names of {names}", lines.splitlines()[0])
        self.cachet("export", run, "-o", "ours.safetensors")
        self.cachet("export", "imported", "-o", "again.safetensors")
        ours, again = ((self.folder / file).read_bytes() for file in ("ours.safetensors", "again.safetensors"))
        skip = lambda data: data[8 + int.from_bytes(data[:8], "little"):]
        self.assertEqual(skip(ours), skip(again))
        self.cachet("export", "imported", "--names", names, "-o", "back.safetensors")
        theirs, back = ((self.folder / file).read_bytes() for file in ("theirs.safetensors", "back.safetensors"))
        self.assertEqual(skip(theirs), skip(back))
        self.assertEqual(self.json_of("summary", "imported", "--json", cwd=self.folder)["model"], model)
        return said["tensors"]

    def test_transformer_xl(self):
        self.train("language.toml", "run")
        tensors = self.round_trip("run", "transformer_xl_small", "transformer_xl")
        for name in ("word_emb.emb_layers.0.weight", "crit.out_layers.0.weight", "r_w_bias", "pos_emb.inv_freq",
                     "layers.1.dec_attn.r_net.weight"):
            self.assertIn(name, tensors)
        config = json.loads((self.folder / "imported/config.json").read_text())
        self.assertEqual(config["architecture"], "transformer_xl_small")
        self.assertEqual(config["text"], {"vocabulary": 23, "target_length": 8})
        self.assertEqual(config["source"]["names"], "transformer_xl")
        # It reads text as the run does, once it gets the folder of the vocabulary.
        data = ["--set", "data.root=corpus", "--set", "data.vocabulary=23"]
        expected = self.metrics("run", "--set", "task.evaluation.lanes=2")
        actual = self.metrics("imported", *data, "--set", "task.evaluation.lanes=2")
        self.assertEqual(actual["loss"], expected["loss"])
        self.assertIn("--data FOLDER", self.refuses("eval", "imported", code=2))
        (self.folder / "tune.toml").write_text(
            'base = "imported/recipe.toml"\n[data]\nroot = "corpus"\nvocabulary = 23\n[train]\ninit = "imported"\n'
            'batch_size = 4\nthreads = 1\nlimit = "1 steps"\n[optimizer]\nlr = 1e-12\n')
        self.cachet("train", "tune.toml", "--run", "tuned", "--progress", "none")
        self.assertAlmostEqual(self.metrics("tuned", "--set", "task.evaluation.lanes=2")["loss"], expected["loss"], places=5)
        # What is wrong is a line.
        settings = self.sizes("run")
        self.assertIn("11 missing", self.refuses("import", "theirs.safetensors", "--model", "transformer_xl_small", "-o", "x", *settings,
                                                "--set", "model.depth=3"))
        self.assertIn("left over", self.refuses("import", "theirs.safetensors", "--model", "transformer_xl_small", "-o", "x", *settings,
                                                "--set", "model.depth=1"))
        self.assertIn("embedding.table_0 is [23, 16], but the model has [24, 16]",
                      self.refuses("import", "theirs.safetensors", "--model", "transformer_xl_small", "-o", "x", *settings, "--set",
                                   "model.vocabulary=24"))
        self.assertIn("Cachet knows no other code base that has this model", self.refuses("import", "theirs.safetensors", "--model", "lra_text", "-o", "x", code=2))
        self.assertIn('must be "translation" for this model',
                      self.refuses("import", "theirs.safetensors", "--model", "transformer_iwslt_de_en", "-o", "x", "--set",
                                   "task.kind=language_modelling", code=2, lines=3))
        self.train("language.toml", "cached", "model.cache.kind=grc", "model.memory_length=0", "train.limit=1 steps")
        self.assertIn("has a part that transformer_xl's code does not know",
                      self.refuses("export", "cached", "--names", "transformer_xl", "-o", "x.safetensors"))
        self.assertIn("has no names in timm's code", self.refuses("export", "run", "--names", "timm", "-o", "x.safetensors"))

    def test_fairseq(self):
        self.train("translation.toml", "run", "train.limit=6 steps")
        tensors = self.round_trip("run", "transformer_translation_small", "fairseq")
        for name in ("encoder.embed_tokens.weight", "decoder.output_projection.weight", "decoder.version",
                     "decoder.layers.0.encoder_attn.k_proj.weight"):
            self.assertIn(name, tensors)
        config = json.loads((self.folder / "imported/config.json").read_text())
        self.assertEqual(config["sentence pair"]["source_vocabulary"], 22)
        data = [word for key in ("root=pairs", "source=de", "target=en", "tokens=words", "vocabulary=22", "max_length=8")
                for word in ("--set", "data." + key)] + ["--set", "task.evaluation.beam=3"]
        self.assertEqual(self.metrics("imported", *data)["bleu"], self.metrics("run")["bleu"])
        self.assertIn("--data FOLDER", self.refuses("eval", "imported", code=2))

    def test_a_language_model_goes_to_libtorch(self):
        for cache in ([], ["model.cache.kind=grc", "model.memory_length=0", "model.norm.kind=un"]):
            with self.subTest(cache):
                run = "run" if not cache else "cached"
                self.train("language.toml", run, *cache)
                expected = self.metrics(run)
                out = run + "-deployed"
                report = self.json_of("export", run, "-o", out, "--engine", "torch", "--check", "--json", cwd=self.folder)
                self.assertLess(report["largest_difference"], 1e-4)
                self.assertEqual((report["samples"], report["compared_on"]), (64, "64 beginnings of test segments"))
                self.assertAlmostEqual(report["perplexity"][1], report["perplexity"][0], delta=1e-3 * report["perplexity"][0])
                if cache:
                    self.assertIn(("cache", ""), {(place["kind"], place["left"]) for place in report["rewritten"]})
                    self.assertLess(report["parameters"][1], report["parameters"][0])
                self.assertAlmostEqual(self.metrics(out)["loss"], expected["loss"], delta=1e-4)
                words = ["--prompt", "word1 word2", "--tokens", "12", "--temperature", "0"]
                self.assertEqual(self.cachet("generate", out, *words).stdout, self.cachet("generate", run, *words).stdout)
                (self.folder / "mine.txt").write_text("word1 word2\n\nword3\n")
                mine = [json.loads(self.cachet("eval", which, "--text", "mine.txt", "--json").stdout.splitlines()[0]) for which in (run, out)]
                self.assertAlmostEqual(mine[0]["loss"], mine[1]["loss"], delta=1e-4)
                page = (self.folder / out / "report.html").read_text()
                self.assertIn("beginnings of test segments", page)
                row = self.json_of("bench", out, "--seconds", "0.001", "--batch", "2", "--json", cwd=self.folder)
                self.assertEqual(row["mode"], "infer")
        # It has a copy of its vocabulary, and of synthetic text where there is no other.
        shutil.rmtree(self.folder / "corpus")
        self.cachet("generate", "run-deployed", "--prompt", "word1", "--tokens", "2")
        report = self.json_of("export", "run", "-o", "blind", "--engine", "torch", "--json", cwd=self.folder)
        self.assertEqual(report["compared_on"], "64 beginnings of random segments, none of them from the data")
        self.assertIn("corpus", self.refuses("export", "run", "-o", "blind2", "--engine", "torch", "--check"))

    def test_a_translation_model_goes_to_libtorch(self):
        self.train("translation.toml", "run", "model.cache.kind=grc", "model.norm.kind=un", "train.limit=60 steps")
        expected = self.metrics("run")
        report = self.json_of("export", "run", "-o", "deployed", "--engine", "torch", "--check", "--json", cwd=self.folder)
        self.assertLess(report["largest_difference"], 1e-4)
        self.assertEqual(report["compared_on"], "64 beginnings of test sentences")
        self.assertEqual(report["bleu"][0], report["bleu"][1])
        self.assertIn(("cache", ""), {(place["kind"], place["left"]) for place in report["rewritten"]})
        self.assertEqual(self.metrics("deployed")["bleu"], expected["bleu"])
        lines = self.cachet("translate", "deployed", "pairs/test.de").stdout
        self.assertEqual(lines, self.cachet("translate", "run", "pairs/test.de").stdout)
        self.assertIn("bleu", self.cachet("export", "run", "-o", "deployed", "--engine", "torch", "--check").stdout)
        shutil.rmtree(self.folder / "pairs")
        self.assertEqual(lines.splitlines()[0], self.cachet("translate", "deployed", stdin=pair(180)[0] + "\n").stdout.splitlines()[0])
        narrow = self.json_of("export", "run", "-o", "narrow", "--engine", "torch", "--precision", "bf16", "--json", cwd=self.folder)
        self.assertLess(narrow["largest_difference"], 0.2)
        self.assertEqual(narrow["precision"], "bf16")
        self.assertIn('precision = "bf16"', (self.folder / "narrow/recipe.toml").read_text())
        self.assertIn("is already an export", self.refuses("export", "deployed", "-o", "again"))

    def test_engines_that_cannot_take_them_say_so(self):
        self.train("translation.toml", "run", "train.limit=1 steps")
        self.train("language.toml", "language", "train.limit=1 steps")
        openvino = json.loads(command.run("env", "--json").stdout)["openvino"] != "not built in"
        for run, kind in (("run", "translation"), ("language", "language_modelling")):
            for engine in ("openvino", "onnx"):
                with self.subTest((run, engine)):
                    if engine == "onnx" and not openvino:
                        continue
                    said = self.refuses("export", run, "-o", "x", "--engine", engine)
                    self.assertIn(f"a task of kind '{kind}' cannot be exported for {engine}: its model is not a fixed graph", said)
                    self.assertIn("--engine torch", said)
                    self.assertFalse((self.folder / "x").exists())
        self.assertIn("int8 needs the engine openvino", self.refuses("export", "run", "-o", "x", "--engine", "torch", "--precision", "int8", code=2))


if __name__ == "__main__":
    command.main()
