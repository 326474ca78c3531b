"""Wrong usage: exit code 2, a line or two with what to do, the nearest names."""
import json

import command

TINY = "vit_tiny_patch16_224"


class Words(command.CommandTest):
    def test_commands(self):
        self.assertIn("did you mean 'summary'?", self.refused("sumary", TINY))
        self.assertIn("did you mean 'models'?", self.refused("model"))
        self.assertIn("there is no command 'xyzzy'", self.refused("xyzzy"))

    def test_no_command_prints_the_list(self):
        done = command.run()
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn("summary", done.stderr)

    def test_options(self):
        self.assertIn("there is no option --jsn (did you mean '--json'?)", self.refused("models", "--jsn"))
        self.assertIn("did you mean '--batch'?", self.refused("bench", TINY, "--bacth", "4"))
        self.assertIn("unexpected argument 'vit_two'", self.refused("summary", TINY, "vit_two"))

    def test_all_mistakes_at_once(self):
        said = self.refused("summary", "--jsn", "--dpth", lines=4)
        for part in ("--jsn", "--dpth", "MODEL is required", "--help"):
            self.assertIn(part, said)

    def test_values(self):
        self.assertIn("--depth", self.refused("summary", TINY, "--depth", "-1"))
        self.assertIn("leave out MODEL", self.refused("summary", TINY, "--table", "paper"))
        self.assertIn("--table", self.refused("summary", "--table", "papr"))
        self.assertIn("--depth", self.refused("summary", TINY, "--depth", "two"))
        self.assertIn("--precision", self.refused("bench", TINY, "--precision", "fp64"))
        self.assertIn("--batch", self.refused("bench", TINY, "--batch", "0"))
        self.assertIn("--seconds", self.refused("bench", TINY, "--seconds", "0"))
        self.assertIn("leave --mode out", self.refused("bench", TINY, "--table", "--mode", "infer"))
        self.assertIn("one batch", self.refused("bench", TINY, "--table", "--batch", "1,2"))
        self.refused("env", "--json", "--cmake-dir")

    def test_words_of_options(self):
        self.assertIn("--precision: must be fp32 or bf16, not 'bf17' (did you mean 'bf16'?)",
                      self.refused("bench", TINY, "--precision", "bf17"))
        self.assertIn("not 'bf17' (did you mean 'bf16'?)", self.refused("bench", TINY, "--precision", "fp32,bf17"))
        self.assertIn("must be onnx, openvino or torch, not 'onyx' (did you mean 'onnx'?)",
                      self.refused("export", "nowhere", "-o", "nothing", "--engine", "onyx"))
        for mistyped, word, words in (("brief", None, ("bench", TINY, "--progress")), ("plian", "plain", ("bench", TINY, "--progress")),
                                      ("cvs", "csv", ("compare", "nowhere", "--format")), ("Paper", "paper", ("summary", "--table")),
                                      ("cdua", "cuda", ("bench", TINY, "--device")),
                                      ("tim", "timm", ("export", "nowhere", "-o", "x.safetensors", "--names"))):
            with self.subTest(mistyped):
                said = self.refused(*words, mistyped)
                if word:
                    self.assertIn(f"did you mean '{word}'", said)
                else:
                    self.assertNotIn("did you mean", said)

    def test_help_and_version_succeed(self):
        for words in (["--help"], ["-h"], ["summary", "--help"], ["--version"]):
            done = self.succeed(*words)
            self.assertNotEqual(done.stdout, "")
            self.assertEqual(done.stderr, "")


class Models(command.CommandTest):
    def test_names(self):
        for verb in ("summary", "bench"):
            self.assertIn(f"did you mean '{TINY}'", self.refused(verb, "vit_tinny_patch16_224"))
        self.assertIn("no model matches 'resnet*'", self.refused("models", "resnet*"))
        self.assertIn("no model matches 'resnet*'", self.refused("bench", "resnet*"))

    def test_settings(self):
        said = self.refused("summary", TINY, "--set", "model.cahce.kind=grc")
        self.assertIn("model.cahce", said)
        self.assertIn("cache", said)
        self.assertIn("model.cache.kind", self.refused("summary", TINY, "--set", "model.cache.kind=gcr"))
        self.assertIn("model.cache.ratio",
                      self.refused("summary", TINY, "--set", "model.cache.kind=grc", "--set", "model.cache.ratio=0"))
        self.assertIn("leave one of them out", self.refused("summary", TINY, "--set", "model.name=vit_small_patch16_224"))
        self.assertIn("KEY=VALUE", self.refused("summary", TINY, "--set", "model.depth"))
        self.assertIn("did you mean 'model.cache'?", self.refused("summary", TINY, "--set", "cache.kind=grc"))

    def test_a_cache_of_lanes_needs_a_model_that_reads_streams(self):
        for kind in ("grc", "fifo"):
            self.assertIn("model.cache.scope: 'lane' is only for models that read texts in segments",
                          self.refused("train", "demo_plain", "--dry-run", "--set", f"model.cache.kind={kind}", "--set",
                                       "model.cache.scope=lane", lines=3))

    def test_a_concatenated_cache_is_of_images_with_softmax(self):
        kind = ("--set", "model.cache.kind=concatenated")
        for recipe, more in (("demo_plain", ("--set", "model.attention.kind=elu")), ("wikitext2_plain", ()), ("tatoeba_de_en", ()),
                             ("lra_short_text", ())):
            said = self.refused("train", recipe, "--print", *kind, *more)
            self.assertIn("model.cache.kind: 'concatenated' is only for image models", said)
            self.assertIn("the memory of Transformer-XL", said)
        self.assertIn("model.cache.ratio: has no effect: a concatenated cache has one entry for each key of the layer",
                      self.refused("train", "demo_plain", "--print", *kind, "--set", "model.cache.ratio=0.5"))
        self.succeed("train", "demo_cached", "--print", *kind)  # the ratio of its grc is not this cache's

    def test_groups_that_do_not_divide_the_channels(self):
        group = ("--set", "model.norm.kind=group", "--set")
        self.assertIn("model.norm.groups: must be a divisor of the number of channels, such as 4, but 5 does not divide the 192 channels",
                      self.refused("summary", TINY, *group, "model.norm.groups=5"))
        self.assertIn("model.norm.groups: must be a divisor of the number of channels, such as 64, but 128 does not divide the 64 channels of stage 1",
                      self.refused("summary", "pvt_tiny", *group, "model.norm.groups=128"))
        self.assertIn("model.norm.kind: computes its statistics over all tokens of a sample, also over later tokens; use one of layer, rms",
                      self.refused("summary", "causal_transformer_small", *group, "model.norm.groups=4"))

    def test_all_settings_at_once(self):
        said = self.refused("summary", TINY, "--set", "model.depth=0", "--set", "model.num_heads=5", "--set",
                            "model.norm.kind=um", lines=3)
        for key in ("model.depth", "model.num_heads", "model.norm.kind"):
            self.assertIn(key, said)

    def test_a_sweep_is_checked_before_anything_is_measured(self):
        self.assertIn("model.patch_size", self.refused("bench", "vit*", "--set", "model.patch_size=15", "--seconds",
                                                       "1000", timeout=60))


    def test_a_model_that_does_not_take_the_settings_is_a_row(self):
        done = command.run("bench", TINY, "lra_small", "--set", "model.patch_size=16", "--mode", "infer", "--seconds", "0.001",
                           "--json")
        self.assertEqual(done.returncode, 1)
        vit, encoder = json.loads(done.stdout)["results"]
        self.assertGreater(vit["median_ms"], 0)
        self.assertIn("patch_size", encoder["error"])
        said = done.stderr.splitlines()
        self.assertTrue(any(line.startswith(f"{TINY}, infer, fp32, batch 1, ") for line in said), done.stderr)
        self.assertIn("lra_small", said[-1])


class Failures(command.CommandTest):
    def test_a_full_disk_behind_the_output_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = command.subprocess.run([command.COMMAND, "models"], stdout=full, stderr=command.subprocess.PIPE,
                                          text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)

    def test_a_command_that_is_not_installed_says_so(self):
        self.assertIn("cmake --install", self.refused("env", "--cmake-dir", code=1))


if __name__ == "__main__":
    command.main()
