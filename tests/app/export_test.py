"""Models for engines: `export` into a folder, and what eval, predict and bench do with it."""
import json
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import time

import checkpoints
import command
from examples_test import examples
from runs import RECIPE, SMALL_ENCODER, RunTest, pixels, write_png, write_reviews


def engines():
    """Those that this command was built with."""
    version = json.loads(command.run("env", "--json").stdout)["openvino"]
    return ("torch",) if version == "not built in" else ("torch", "openvino", "onnx")


def weight_bytes(export):
    """Of the float32 tensors in the model file of an export for LibTorch, which has no others."""
    data = (export / "model.safetensors").read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    assert {each["dtype"] for name, each in header.items() if name != "__metadata__"} == {"F32"}
    return len(data) - 8 - length


class Export(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run")

    def metrics(self, *words):
        return self.json_of("eval", *words, "--json", cwd=self.folder)["metrics"]

    def test_sparse_attention_is_exported_to_each_engine(self):
        self.train("sparse", "--set", "model.attention.kind=bigbird", "--set", "model.attention.block_size=1", "--set",
                   "train.limit='2 steps'")
        for engine in engines():
            with self.subTest(engine):
                report = self.json_of("export", "sparse", "-o", f"sparse-{engine}", "--engine", engine, "--check",
                                      "--json", cwd=self.folder)
                self.assertLess(report["largest_difference"], 1e-4)

    def test_an_export_computes_what_the_run_does(self):
        expected = self.metrics("run")
        for number in range(3):
            (self.folder / "photos/more").mkdir(parents=True, exist_ok=True)
            write_png(self.folder / f"{number}.png", 8, 8, pixels(number))
            write_png(self.folder / f"photos/{'more/' if number == 1 else ''}{number}.png", 8, 8, pixels(number))
        files = ["0.png", "1.png", "2.png"]
        answers = [json.loads(line) for line in self.cachet("predict", "run", *files).stdout.splitlines()]
        for engine in engines():
            with self.subTest(engine):
                report = self.json_of("export", "run", "-o", engine, "--engine", engine, "--check", "--json",
                                      cwd=self.folder)
                self.assertLess(report["largest_difference"], 1e-4)
                self.assertEqual((report["samples"], report["compared_on"]), (33, "33 test images"))
                self.assertEqual(report["top1"][0], report["top1"][1])
                self.assertLess(report["parameters"][1], report["parameters"][0])
                speed = report["speed"]
                lower, upper = speed["quartiles_times_as_fast"]
                self.assertEqual(speed["comparable"], upper <= 2 * lower)
                for number in (speed["batch"], speed["pairs"], *speed["median_ms"], speed["times_as_fast"],
                               *speed["quartiles_times_as_fast"], report["bytes"], report["model_bytes"]):
                    self.assertGreater(number, 0)
                kinds = {(place["kind"], place["left"]) for place in report["rewritten"]}
                self.assertIn(("cache", ""), kinds)
                self.assertIn(("norm", ""), kinds)
                actual = self.metrics(engine)
                self.assertEqual(actual["top1"], expected["top1"])
                self.assertAlmostEqual(actual["loss"], expected["loss"], delta=1e-4)
                lines = [json.loads(line) for line in self.cachet("predict", engine, *files).stdout.splitlines()]
                self.assertEqual([line["predicted"] for line in lines], [line["predicted"] for line in answers])
                for line, answer in zip(lines, answers):
                    self.assertAlmostEqual(line["top"][0]["probability"], answer["top"][0]["probability"], delta=1e-4)
                below = [json.loads(line) for line in self.cachet("predict", engine, "photos").stdout.splitlines()]
                self.assertEqual([line["file"] for line in below], ["photos/0.png", "photos/2.png", "photos/more/1.png"])
                for line, number in zip(below, (0, 2, 1)):
                    self.assertEqual(line["predicted"], answers[number]["predicted"])
                row = self.json_of("bench", engine, "--seconds", "0.001", "--batch", "3", "--json", cwd=self.folder)
                self.assertEqual((row["mode"], row["precision"], row["batch"]), ("infer", "fp32", 3))
                if engine == "torch":
                    self.assertGreater(row["activation_bytes"], 0)
                    self.assertEqual(row["weight_bytes"], weight_bytes(self.folder / engine), "without the padding of its session")
                else:
                    for memory in ("activation_bytes", "weight_bytes", "memory_bytes"):
                        self.assertIsNone(row[memory], "LibTorch does not see what this engine takes")
                page = (self.folder / engine / "report.html").read_text()
                self.assertIn("blocks.0.attn.cache", page)
                self.assertIn("Speed and files", page)

    def test_bfloat16_is_near(self):
        for engine in engines():
            if engine == "onnx":
                continue
            with self.subTest(engine):
                report = self.json_of("export", "run", "-o", "narrow-" + engine, "--engine", engine, "--precision",
                                      "bf16", "--json", cwd=self.folder)
                self.assertLess(report["largest_difference"], 2e-2)
                if engine == "torch":
                    row = self.json_of("bench", "narrow-torch", "--seconds", "0.001", "--json", cwd=self.folder)
                    self.assertEqual(2 * row["weight_bytes"], weight_bytes(self.folder / "narrow-torch"))
                self.assertIn("top1", self.metrics("narrow-" + engine))

    def test_eight_bits(self):
        if "openvino" not in engines():
            self.skipTest("built without OpenVINO")
        report = self.json_of("export", "run", "-o", "small", "--precision", "int8", "--json", cwd=self.folder)
        self.assertEqual((report["precision"], report["samples"]), ("int8", 33))
        self.assertLessEqual(abs(report["top1"][0] - report["top1"][1]), 0.01)
        self.assertGreater(report["largest_difference"], 1e-4)
        self.assertRegex(" ".join(report["notes"]), r"\d+ linear layers and convolutions multiply in 8 bits")
        self.assertEqual(self.metrics("small")["top1"], report["top1"][1])
        row = self.json_of("bench", "small", "--seconds", "0.001", "--json", cwd=self.folder)
        self.assertEqual(row["precision"], "int8")
        said = self.refused("export", "run", "-o", "again", "--precision", "int8", "--set", "data.root=nowhere",
                            cwd=self.folder, code=1)
        self.assertIn("int8 needs samples", said)

    def test_sequences(self):
        write_reviews(self.folder / "reviews")
        recipe = ["--set", "data.root=reviews", *SMALL_ENCODER]
        self.cachet("train", "lra_small_text", "--run", "texts", "--progress", "none", "--set",
                    "train.limit='4 steps'", *recipe)
        expected = self.metrics("texts")
        for engine in engines():
            with self.subTest(engine):
                done = self.cachet("export", "texts", "-o", "texts-" + engine, "--engine", engine)
                said = done.stdout
                self.assertEqual(done.stderr.count("test: 10 sequences"), 1, "the run and the export have the same data")
                self.assertIn("on 10 test sequences", said)
                self.assertNotIn("the run computes in bf16", said)
                self.assertAlmostEqual(self.metrics("texts-" + engine)["loss"], expected["loss"], delta=1e-4)
                line = json.loads(self.cachet("predict", "texts-" + engine, "a film").stdout)
                own = json.loads(self.cachet("predict", "texts", "a film").stdout)
                self.assertEqual(line["predicted"], own["predicted"])

    def test_one_sample_is_one(self):
        said = self.cachet("export", "run", "-o", "one", "--engine", "torch", "--set", "data.limit=1").stdout
        self.assertIn("on 1 test image:", said)

    def test_a_summary_counts_what_is_left(self):
        of_run = self.json_of("summary", "run", "--inference", "--json", cwd=self.folder)
        for engine in engines():
            with self.subTest(engine):
                report = self.json_of("export", "run", "-o", engine, "--engine", engine, "--json", cwd=self.folder)
                summary = self.json_of("summary", engine, "--json", cwd=self.folder)
                self.assertEqual([summary["made_of"]["parameters"], summary["parameters"]], report["parameters"])
                self.assertEqual(summary["made_of"], {"parameters": of_run["parameters"], "macs": of_run["macs"]})
                self.assertEqual(summary["pass"], "evaluation")
                self.assertEqual(sum(layer["parameters"] for layer in summary["layers"]), summary["parameters"])
                text = self.cachet("summary", engine).stdout
                self.assertIn("the model before the export has", text)
                self.assertIn("leave model.* out of --set", self.refused("summary", engine, "--set", "model.depth=1", cwd=self.folder, code=1))
        self.assertNotIn("made of", self.cachet("summary", "run").stdout)

    def test_a_model_whose_answers_are_not_finite_is_refused(self):
        self.train("small", "--set", "train.limit='1 steps'")
        for name, part, value, count in (("overflows", "patch_embed.proj.weight", 3e38, None), ("large", "head.bias", 3.4e38, 1)):
            shutil.copytree(self.folder / "small", self.folder / name)
            checkpoints.fill(checkpoints.only_checkpoint(self.folder / name), lambda each: each == part, value, count=count)
        for engine in engines():
            with self.subTest(engine):
                said = self.refused("export", "overflows", "-o", "out", "--engine", engine, cwd=self.folder, code=1, lines=1)
                self.assertIn("the outputs of the model are NaN or infinite", said)
                self.assertFalse((self.folder / "out").exists())
        # What bfloat16 rounds to infinity.
        self.cachet("export", "large", "-o", "wide", "--engine", "torch")
        said = self.refused("export", "large", "-o", "out", "--engine", "torch", "--precision", "bf16", cwd=self.folder, code=1)
        self.assertIn("its outputs are NaN or infinite, but the outputs of its model are finite", said)
        self.assertIn("--precision f32", said)

    def test_sequences_of_a_few_tokens(self):
        write_reviews(self.folder / "reviews")
        (self.folder / "lines.txt").write_text("a\nfilm\n")
        for longest in (1, 2, 3):
            run = f"texts{longest}"
            self.cachet("train", "lra_small_text", "--run", run, "--progress", "none", "--set", "train.limit='1 steps'",
                        "--set", "data.root=reviews", *SMALL_ENCODER, "--set", f"data.max_length={longest}")
            own = self.cachet("predict", run, "--lines", "lines.txt", "--logits").stdout.splitlines()
            for engine in engines():
                with self.subTest(engine=engine, longest=longest):
                    self.cachet("export", run, "-o", f"{run}-{engine}", "--engine", engine)
                    lines = self.cachet("predict", f"{run}-{engine}", "--lines", "lines.txt", "--logits").stdout.splitlines()
                    for line, other in zip(lines, own, strict=True):
                        for one, two in zip(json.loads(line)["logits"], json.loads(other)["logits"], strict=True):
                            self.assertAlmostEqual(one, two, delta=1e-4)

    def test_a_run_in_bfloat16_is_compared_in_float32(self):
        self.train("narrow", "--set", "train.limit='2 steps'", "--set", "train.precision=bf16")
        said = self.cachet("export", "narrow", "-o", "deployed", "--engine", "torch").stdout
        self.assertIn("the run computes in bf16. The export is compared with its model in float32", said)

    def test_given_samples_need_no_data(self):
        write_png(self.folder / "0.png", 8, 8, pixels(0))
        (self.folder / "lines.txt").write_text("0.png\n")
        self.cachet("export", "run", "-o", "out", "--engine", "torch")
        for model in ("run", "out"):
            expected = self.cachet("predict", model, "0.png").stdout
            for words in (["0.png"], ["--lines", "lines.txt"]):
                done = self.cachet("predict", model, *words, "--data", "nowhere")
                self.assertEqual(done.stdout, expected)
                self.assertIn("there is no folder", done.stderr)
                self.assertIn("The prediction continues, because your samples do not need these data.", done.stderr)
            for command_word in ("predict", "eval"):
                self.assertIn("there is no folder", self.refused(command_word, model, "--data", "nowhere", cwd=self.folder, code=1))
        report = self.json_of("export", "run", "-o", "blind", "--engine", "torch", "--data", "nowhere", "--json", cwd=self.folder)
        self.assertEqual(report["compared_on"], "256 random inputs, none of them from the data")

    def test_lengths_and_models_are_those_of_the_export(self):
        write_reviews(self.folder / "reviews")
        self.cachet("train", "lra_small_text", "--run", "texts", "--progress", "none", "--set", "train.limit='2 steps'",
                    "--set", "data.root=reviews", *SMALL_ENCODER)
        (self.folder / "lines.txt").write_text("".join(f"{word} {'long ' * 40}{word}\n" for word in ("a", "film", "dog")))
        own = self.cachet("predict", "texts", "--lines", "lines.txt", "--logits").stdout
        limit = ["--set", "data.max_length=200"]
        for engine in engines():
            self.cachet("export", "texts", "-o", engine, "--engine", engine)
            inputs = json.loads((self.folder / engine / "export.json").read_text())["inputs"]
            self.assertEqual((inputs[0]["longest"], inputs[0]["vocabulary"] > 255), (64, True))
            for threads in ("1", "2", "8"):
                with self.subTest(engine=engine, threads=threads):
                    environment = {**os.environ, "OMP_NUM_THREADS": threads}

                    def predict(*words):
                        return subprocess.run([command.COMMAND, "predict", engine, "--lines", "lines.txt", "--logits", *words],
                                              cwd=self.folder, env=environment, capture_output=True, text=True)

                    for line, other in zip(predict().stdout.splitlines(), own.splitlines(), strict=True):
                        for one, two in zip(json.loads(line)["logits"], json.loads(other)["logits"], strict=True):
                            self.assertAlmostEqual(one, two, delta=1e-4)
                    said = predict(*limit, "--set", "model.max_length=200")
                    self.assertEqual((said.returncode, said.stdout), (1, ""), said.stderr)
                    self.assertIn("leave model.* out of --set", said.stderr)
                    said = predict(*limit)
                    self.assertEqual(said.returncode, 1)
                    self.assertIn("set data.max_length to 64 or less", said.stderr)
                    self.assertNotIn("model.max_length", said.stderr)
                    self.assertIn("leave model.* out", predict("--set", "model={max_length=200}").stderr)
                    self.assertIn("leave data.class_names out", predict("--set", 'data.class_names=["a", "b"]').stderr)
        self.cachet("export", "texts", "-o", "free", "--engine", "torch", "--set", "model.dropout=0.5", "--set", "data.max_length=32")
        self.assertIn("max_length = 32", (self.folder / "free/recipe.toml").read_text().split("[model]")[0])

    def test_data_of_the_comparison_are_not_part_of_it(self):
        write_png(self.folder / "0.png", 8, 8, pixels(0))
        shutil.copytree(self.folder / "images", self.folder / "others")
        images = self.folder / "others/t10k-images-idx3-ubyte"
        images.write_bytes(images.read_bytes()[:16] + bytes(value // 4 for value in images.read_bytes()[16:]))
        compared = ("--data", "others", "--set", "data={limit=3, subset_seed=5}", "--set", "train.batch_size=2")
        for engine in engines():
            with self.subTest(engine):
                own = self.json_of("export", "run", "-o", f"{engine}-own", "--engine", engine, "--json", cwd=self.folder)
                other = self.json_of("export", "run", "-o", f"{engine}-other", "--engine", engine, *compared, "--json", cwd=self.folder)
                self.assertEqual((own["compared_on"], other["compared_on"]), ("33 test images", "3 test images"))
                for name in ("export.json", "recipe.toml"):
                    one, two = ((self.folder / f"{engine}-{which}" / name).read_text() for which in ("own", "other"))
                    self.assertEqual(one, two)
                expected = self.cachet("predict", f"{engine}-own", "0.png", "--logits").stdout
                for words in ((), ("--set", "data.limit=3"), compared):
                    self.assertEqual(self.cachet("predict", f"{engine}-other", "0.png", "--logits", *words).stdout, expected, words)
        self.cachet("export", "run", "-o", "changed", "--engine", "torch", "--set", "model.dropout=0.5", "--set", "data.limit=3")
        recipe = (self.folder / "changed/recipe.toml").read_text()
        self.assertIn("dropout = 0.5", recipe)
        self.assertNotIn("limit = 3", recipe)

    def test_it_is_written_as_a_whole_or_not_at_all(self):
        said = self.cachet("export", "run", "-o", "deployed", "--engine", "torch").stdout
        self.assertRegex(said, r"(?m)^((\S+ times as fast as the model|slower than the model: it takes \S+ times as long) "
                               r"\(quartiles \S+ to \S+\): \S+ ms instead of \S+ ms for a batch of [18]"
                               r"|the machine was too busy to compare the speed .*)$")
        self.assertTrue(said.startswith("engine torch, precision f32\n"), said)
        self.assertRegex(said, r"(?m) gone; saves \S+( [kMG])? operations and moves \S+ \w+ less for each sample$")
        self.assertRegex(said, r"(?m)^the files of the export have [\d.]+ \w+, and the model's weights have [\d.]+ \w+$")
        before = (self.folder / "deployed/export.json").read_bytes()
        self.cachet("export", "run/checkpoints/step-00000036", "-o", "deployed", "--engine", "torch")  # of the same run
        (self.folder / "mine").mkdir()
        (self.folder / "mine/notes.txt").write_text("notes")
        self.assertIn("its contents are not an output of this command", self.refused("export", "run", "-o", "mine", cwd=self.folder))
        self.assertEqual([path.name for path in (self.folder / "mine").iterdir()], ["notes.txt"])
        self.train("other", "--set", "train.seed=5")
        self.assertIn("--overwrite", self.refused("export", "other", "-o", "deployed", cwd=self.folder))
        self.cachet("export", "other", "-o", "deployed", "--engine", "torch", "--overwrite")
        self.assertNotEqual((self.folder / "deployed/export.json").read_bytes(), before)
        self.assertEqual([path.name for path in self.folder.glob(".*")], [])
        said = self.refused("export", "run", "-o", "model.onnx", cwd=self.folder)
        self.assertIn("-o must be a folder whose name has no ending", said)
        (self.folder / "deployed/answers.jsonl").write_text("mine")
        self.assertIn("its contents are not an output of this command", self.refused("export", "other", "-o", "deployed", "--overwrite", cwd=self.folder))
        self.assertEqual((self.folder / "deployed/answers.jsonl").read_text(), "mine")
        (self.folder / "deployed/answers.jsonl").unlink()
        for words in (["--precision", "bf16"], ["--engine", "torch"], ["--check"], ["--data", "images"], ["--set", "data.limit=2"]):
            self.assertIn(words[0] + " works only if -o is a folder", self.refused("export", "run", "-o", "run.safetensors", *words, cwd=self.folder))
        self.assertIn("--names works only with a file of weights", self.refused("export", "run", "-o", "new", "--names", "timm", cwd=self.folder))
        self.assertIn("is already an export", self.refused("export", "deployed", "-o", "again", cwd=self.folder, code=1))

    def test_a_long_comparison_says_how_far_it_is(self):
        for name, header, size in (("t10k-images-idx3-ubyte", 16, 64), ("t10k-labels-idx1-ubyte", 8, 1)):
            file = self.folder / "images" / name
            whole = file.read_bytes()
            file.write_bytes(whole[:4] + struct.pack(">I", 32_000) + whole[8:header] + whole[header:header + 32 * size] * 1000)
        code, said = command.on_terminal("export", "run", "-o", "deployed", "--engine", "torch", "--check", "--progress", "bar",
                                         cwd=self.folder)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"compare .*\b\d+/64000\b")
        self.assertIn("on 32000 test images", said)
        begun = time.monotonic()
        said = self.cachet("export", "run", "-o", "deployed", "--engine", "torch", "--check").stderr
        if time.monotonic() - begun < 10:  # how long plain progress waits for its first line
            self.assertNotIn("/64000", said)

    def test_damaged_exports_are_refused(self):
        self.cachet("export", "run", "-o", "deployed", "--engine", "torch")
        manifest = self.folder / "deployed/export.json"
        whole = manifest.read_text()

        def damaged(change):
            content = json.loads(whole)
            change(content)
            manifest.write_text(json.dumps(content))
            said = self.refused("eval", "deployed", cwd=self.folder, code=1)
            manifest.write_text(whole)
            return said

        self.assertIn("newer version", damaged(lambda content: content.update(version=5)))
        self.assertIn("export the model again", damaged(lambda content: content.update(engine="abacus")))
        self.assertIn("export the model again", damaged(lambda content: content.pop("inputs")))
        weights = self.folder / "deployed/model.safetensors"
        content = bytearray(weights.read_bytes())
        content[-1] ^= 1
        weights.write_bytes(content)
        self.assertIn("changed or damaged", self.refused("predict", "deployed", "0.png", cwd=self.folder, code=1))

    def test_what_an_export_cannot(self):
        self.cachet("export", "run", "-o", "deployed", "--engine", "torch")
        self.assertIn("cannot be trained", self.refused("bench", "deployed", "--mode", "train", cwd=self.folder))
        self.assertIn("can be timed only in this precision", self.refused("bench", "deployed", "--precision", "bf16", cwd=self.folder))
        said = self.refused("import", "deployed/model.safetensors", "--model", "vit_tiny_patch16_224", "-o", "x", cwd=self.folder)
        self.assertIn("belongs to an export, whose weights were rewritten", said)
        said = self.refused("import", "run", "--model", "vit_tiny_patch16_224", "-o", "x", cwd=self.folder)
        self.assertIn("run is a folder, but `import` needs a file of weights", said)
        said = self.refused("export", "run", "-o", "x", "--engine", "torch", "--check", "--data", "nowhere", cwd=self.folder, code=1)
        self.assertIn("--check needs the evaluation data", said)
        self.assertIn("leave --set out",
                      self.refused("bench", "deployed", "--set", "model.depth=2", cwd=self.folder))
        self.refused("export", "run", "-o", "x", "--engine", "abacus", cwd=self.folder)
        self.assertIn("int8 needs the engine openvino",
                      self.refused("export", "run", "-o", "x", "--engine", "torch", "--precision", "int8",
                                   cwd=self.folder))
        self.assertIn("an ONNX file",
                      self.refused("export", "run", "-o", "x", "--engine", "onnx", "--precision", "bf16",
                                   cwd=self.folder))
        self.refused("export", "run", "-o", "x", "--precision", "int3", cwd=self.folder)

    def test_examples(self):
        # timm's code computes neither the cache nor the norm of the recipe.
        plain = RECIPE.replace('[model.cache]\nkind = "grc"\n[model.norm]\nkind = "un"\nwarmup = 4\n', "")
        self.assertNotEqual(plain, RECIPE)
        (self.folder / "plain.toml").write_text(plain)
        self.cachet("train", "plain.toml", "--run", "my-run", "--progress", "none")
        for line in examples("export"):
            with self.subTest(line):
                words = shlex.split(line)[1:]
                if "--names" not in words and (self.folder / "deployed").exists():
                    shutil.rmtree(self.folder / "deployed")
                self.cachet(*words)


if __name__ == "__main__":
    command.main()
