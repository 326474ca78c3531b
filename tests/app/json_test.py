"""Machine output: one object, exactly the promised keys, numbers that agree with one another."""
import command

BENCH_KEYS = ["schema", "model", "mode", "precision", "batch", "threads", "device", "median_ms", "quartiles_ms",
              "samples_per_second", "activation_bytes", "weight_bytes", "memory_bytes", "weights"]
SMALL = ["--set", "model.depth=1", "--set", "model.image_size=32", "--seconds", "0.01"]


class Summary(command.CommandTest):
    def test_keys_and_totals(self):
        summary = self.json_of("summary", "vit_tiny_patch16_224", "--json")
        self.assertEqual(list(summary), ["schema", "model", "parameters", "kernel_parameters", "block_parameters", "macs",
                                         "pass", "layers"])
        self.assertEqual((summary["schema"], summary["model"]), (1, "vit_tiny_patch16_224"))
        self.assertEqual(summary["parameters"], 5_717_416)
        for layer in summary["layers"]:
            self.assertEqual(list(layer), ["path", "kind", "output_shape", "parameters", "macs"])
        for kind in ("linear_convolution", "attention"):
            self.assertEqual(sum(layer["macs"][kind] for layer in summary["layers"]), summary["macs"][kind])
        self.assertEqual(sum(layer["parameters"] for layer in summary["layers"]), summary["parameters"])

    def test_settings_change_the_model(self):
        words = ["summary", "vit_tiny_patch16_224", "--json", "--depth", "0"]
        plain = self.json_of(*words)
        cached = self.json_of(*words, "--set", "model.cache.kind=grc", "--set", "model.cache.ratio=0.25")
        self.assertEqual(len(plain["layers"]), 1)
        self.assertGreater(cached["parameters"], plain["parameters"])
        frozen = self.json_of(*words, "--set", "model.cache.kind=grc", "--set", "model.cache.ratio=0.25", "--inference")
        self.assertLess(frozen["macs"]["linear_convolution"], cached["macs"]["linear_convolution"])
        self.assertEqual([plain["pass"], frozen["pass"]], ["training", "evaluation"])

    def test_headings_say_what_is_counted(self):
        words = ["vit_tiny_patch16_224", "--set", "model.depth=1"]
        for command_line, counted in ((["summary", *words], "training"), (["summary", *words, "--inference"], "evaluation"),
                                      (["models", "vit_tiny*"], "training"),
                                      (["bench", *SMALL[:4], "vit_tiny_patch16_224", "--table", "--seconds", "0.001"], "training")):
            with self.subTest(command_line):
                head = " ".join(self.succeed(*command_line).stdout.split())
                for kind in ("linear + conv MACs", "attention MACs"):
                    self.assertIn(f"{kind} ({counted})", head)

    def test_the_models_of_recipes(self):
        words = ["summary", "lra_text_2glu", "--json", "--depth", "0"]
        recipe = self.json_of(*words)
        self.assertEqual(recipe["model"], "lra_text")
        self.assertLess(recipe["kernel_parameters"], 0.1 * recipe["block_parameters"])
        self.assertGreater(recipe["kernel_parameters"],
                           self.json_of(*words, "--set", "model.attention.layers=1")["kernel_parameters"])
        self.assertIn("train.epoch: unknown key (did you mean 'epochs'?)", self.refused(*words, "--set", "train.epoch=1"))
        self.assertIn("did you mean 'lra_text'?", self.refused("summary", "lra_tex"))

    def test_the_papers_models_beside_what_was_printed(self):
        table = self.json_of("summary", "--table", "paper", "--json")
        self.assertEqual(list(table), ["schema", "table", "rows"])
        tiny = next(row for row in table["rows"] if row["model"] == "pvt_tiny" and row["cache_ratio"] == 0.5)
        self.assertEqual(round(tiny["parameters"] / 1e6, 3), tiny["published"]["parameters_millions"])
        self.assertIn("published code", self.succeed("summary", "--table", "paper").stdout)


class Models(command.CommandTest):
    def test_keys_and_filter(self):
        listed = self.json_of("models", "deit*distilled*", "--json")
        self.assertEqual(list(listed), ["schema", "models"])
        self.assertEqual([model["name"] for model in listed["models"]],
                         [f"deit_{size}_distilled_patch16_224" for size in ("base", "small", "tiny")])
        for model in listed["models"]:
            self.assertEqual(list(model), ["name", "parameters", "macs", "image", "can", "weights"])
            self.assertEqual(model["weights"], f"hf:timm/{model['name']}.fb_in1k")
            self.assertEqual(model["can"], ["image_classifier"])
            self.assertEqual(list(model["macs"]), ["linear_convolution", "attention"])
            self.assertEqual(model["image"], {"channels": 3, "height": 224, "width": 224})
        self.assertEqual(listed["models"][0]["parameters"], 87_338_192)


class Bench(command.CommandTest):
    def test_one_measurement_is_one_object(self):
        parameters = self.json_of("summary", "vit_tiny_patch16_224", "--json", *SMALL[:4])["parameters"]
        for mode in ("infer", "train"):
            for precision in ("fp32", "bf16"):
                row = self.json_of("bench", "vit_tiny_patch16_224", "--mode", mode, "--precision", precision, "--batch",
                                   "2", "--threads", "1", "--json", *SMALL)
                self.assertEqual(list(row), [*BENCH_KEYS, "results"])
                self.assertEqual(row["results"], [{key: row[key] for key in BENCH_KEYS[1:]}])
                self.assertEqual([row[key] for key in BENCH_KEYS[:6]],
                                 [1, "vit_tiny_patch16_224", mode, precision, 2, 1])
                lower, upper = row["quartiles_ms"]
                self.assertTrue(0 < lower <= row["median_ms"] <= upper)
                self.assertAlmostEqual(row["samples_per_second"] * row["median_ms"], 2000, places=6)
                self.assertGreater(row["activation_bytes"], 0)
                bytes_each = 2 if (mode, precision) == ("infer", "bf16") else 4
                self.assertEqual(row["weight_bytes"], bytes_each * parameters)
                self.assertEqual(row["memory_bytes"], row["activation_bytes"] + row["weight_bytes"])
                self.assertEqual(row["weights"], "random")

    def test_sweeps_are_lists(self):
        bench = self.json_of("bench", "vit_tiny_patch16_224", "--mode", "both", "--batch", "1,2", "--json", *SMALL)
        self.assertEqual(list(bench), ["schema", "results"])
        self.assertEqual([(row["mode"], row["batch"]) for row in bench["results"]],
                         [("infer", 1), ("infer", 2), ("train", 1), ("train", 2)])
        for row in bench["results"]:
            self.assertEqual(list(row), BENCH_KEYS[1:])

    def test_patterns_measure_each_model_apart(self):
        bench = self.json_of("bench", "*t_tiny_patch16*", "--mode", "infer", "--json", *SMALL)
        self.assertEqual([row["model"] for row in bench["results"]], ["deit_tiny_patch16_224", "vit_tiny_patch16_224"])

    def test_a_table_has_a_row_for_each_model(self):
        table = self.json_of("bench", "demo_plain", "vit_tiny_patch16_224", "--table", "--json", "--batch", "2", "--seconds",
                             "0.001", "--set", "model.depth=1")
        self.assertEqual([table["table"], [row["model"] for row in table["rows"]]],
                         ["cost", ["demo_plain", "vit_tiny_patch16_224"]])
        first, second = table["rows"]
        self.assertLess(first["parameters"], second["parameters"])
        self.assertLess(first["macs"]["linear_convolution"], second["macs"]["linear_convolution"])
        for mode in ("inference", "training"):
            self.assertEqual(first[mode]["beside_first"], 1)
            self.assertAlmostEqual(second[mode]["beside_first"],
                                   second[mode]["samples_per_second"] / first[mode]["samples_per_second"])
            self.assertGreater(second[mode]["activation_bytes"], 0)
            self.assertEqual(second[mode]["weight_bytes"], 4 * second["parameters"])
            self.assertEqual(second[mode]["memory_bytes"], second[mode]["activation_bytes"] + second[mode]["weight_bytes"])

    # Images of 48 MiB and nearly no weights, in a process that may have 4 GiB of addresses.
    HEAVY = ["bench", "vit_tiny_patch16_224", "--mode", "infer", "--threads", "1", "--seconds", "0.001", "--json", "--set",
             "model.patch_size=512", "--set", "model.embed_dim=3", "--set", "model.depth=1"]

    def test_a_batch_that_does_not_fit_is_halved(self):
        done = command.run(*self.HEAVY, "--set", "model.image_size=2048", "--batch", "1024", address_space=4 << 30)
        self.assertEqual(done.returncode, 0, done.stderr)
        row = command.json.loads(done.stdout)
        self.assertEqual(list(row), [*BENCH_KEYS, "results"])
        self.assertIn("a batch of 1024 does not fit into memory for vit_tiny_patch16_224; trying 512\n", done.stderr)
        self.assertLess(row["batch"], 128)
        self.assertIn(f"trying {row['batch']}\n", done.stderr)

    def test_a_model_that_never_fits_is_an_error_row(self):
        done = command.run(*self.HEAVY, "--set", "model.image_size=16384", "--batch", "2", address_space=3 << 30)
        self.assertEqual(done.returncode, 1)
        row = command.json.loads(done.stdout)
        self.assertEqual(list(row), BENCH_KEYS[:7] + ["error", "results"])
        self.assertEqual([list(each) for each in row["results"]], [BENCH_KEYS[1:7] + ["error"]])
        self.assertEqual(row["batch"], 1)
        self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)


class Env(command.CommandTest):
    def test_keys(self):
        env = self.json_of("env", "--json")
        for key in ("schema", "cachet", "commit", "compiler", "build_flags", "torch", "torch_built", "cpu_capability", "threads",
                    "hardware_threads", "processor", "os", "torch_parallel"):
            self.assertIn(key, env)
        self.assertRegex(env["allocator"], "^jemalloc ")
        self.assertEqual(env["torch"], env["torch_built"])
        self.assertEqual(command.run("env").stderr, "")


if __name__ == "__main__":
    command.main()
