"""The recipes that come with Cachet, and folders of your own."""
import functools
import json
import os
import pathlib
import re
import shlex
import tempfile
import tomllib

import command
from runs import RunTest


# Ablations of Unified Normalization (arXiv 2208.01313), by the recipe that each is an ablation of.
NO_BACKWARD_AVERAGE = {"model.norm.backward_window": 1, "model.norm.backward_momentum": 0.0}
# Tables 5 and 9, Exp 2 to 5: what each takes away from Exp 1.
EXPERIMENTS = {"own_statistics": {"model.norm.forward_mean": "none"},
               "no_backward_window": {"model.norm.backward_window": 1},
               "no_backward_momentum": {"model.norm.backward_momentum": 0.0},
               "no_backward_average": NO_BACKWARD_AVERAGE}
# Table 6; both passes have windows of M.
WINDOWS = {f"window{m}": {"model.norm.window": m, "model.norm.backward_window": m} for m in (2, 6, 8, 10)}
# Table 10; α is that of both passes.
MOMENTA = {f"momentum0{tenths}": {"model.norm.momentum": tenths / 10, "model.norm.backward_momentum": tenths / 10}
           for tenths in (8, 7, 6)}
# Table 7.
UNFILTERED = {"unfiltered": {"model.norm.filter_outliers": False}}
ROWS = {"coco_mask_rcnn_swin_tiny_un_1x": EXPERIMENTS | WINDOWS | MOMENTA | UNFILTERED,
        "coco_faster_rcnn_swin_tiny_un_1x": UNFILTERED,
        "imagenet_t2t_vit_14_un": UNFILTERED,
        "imagenet_swin_tiny_un": UNFILTERED,
        "iwslt14_de_en_un": EXPERIMENTS | MOMENTA,
        "multi30k_de_en_un": EXPERIMENTS | MOMENTA}
# Table 6 of Cached Transformers (arXiv 2312.12742): the rows differ in the attention function alone.
ATTENTION = ("bigbird", "reformer")


class Recipes(RunTest):
    def test_all_are_listed_and_whole(self):
        listed = self.json_of("recipes", "--json")["recipes"]
        self.assertIn("vision/demo_plain", [recipe["name"] for recipe in listed])
        for recipe in listed:
            with self.subTest(recipe["name"]):
                self.assertGreater(len(recipe["summary"]), 20, "a recipe opens with a comment on what it is")
                self.assertRegex(recipe["model"], r"^\w+$")
        self.assertEqual({recipe["task"] for recipe in listed},
                         {"detection", "image_classification", "language_modelling", "sequence_classification", "translation"})
        detector = next(recipe for recipe in listed if recipe["name"] == "detection/coco_faster_rcnn_swin_tiny")
        self.assertEqual((detector["task"], detector["model"]), ("detection", "faster_rcnn_swin_t_fpn"))
        self.succeed("train", "vision/demo_plain", "--print")

    def test_a_description_is_a_whole_sentence(self):
        lines = self.succeed("recipes").stdout.splitlines()
        described = {line.split("  ")[0]: line for line in lines}
        self.assertIn("(arXiv 2103.14030, Sec. A2.1); Cached Transformers (arXiv 2312.12742), Table 1, Swin-T: 81.2 % top-1",
                      described["imagenet/imagenet_swin_tiny"])
        for line in lines:
            self.assertEqual(line.count("("), line.count(")"), line)

    @functools.cache
    def values(self, name):
        """The keys of a recipe, as "model.norm.kind", with what a run would have; not the row of a paper."""
        def flat(table, before=""):
            for key, value in table.items():
                yield from flat(value, f"{before}{key}.") if isinstance(value, dict) else [(before + key, value)]
        printed = tomllib.loads(self.cachet("train", name, "--print").stdout)
        printed.pop("paper", None)
        return dict(flat(printed))

    def changed(self, name, base):
        """What a recipe has in another way than `base`."""
        own, other = self.values(name), self.values(base)
        return {key: own.get(key) for key in own.keys() | other.keys() if own.get(key) != other.get(key)}

    def test_an_ablation_changes_what_the_paper_takes_away_and_nothing_else(self):
        for base, rows in ROWS.items():
            for row, expected in rows.items():
                with self.subTest(base=base, row=row):
                    self.assertEqual(self.changed(f"{base}_{row}", base), expected)

    def test_rows_of_one_table_differ_in_the_attention_alone(self):
        rows = [("lra_listops_transformer", f"lra_listops_{kind}") for kind in ATTENTION]
        # Table 1 of Trainable feed-forward kernels (arXiv 2211.04076).
        kernels = ("linear_kernel", "1glu", "2glu", "3glu", "orthogonal_linear", "1oglu", "2oglu", "3aoglu", "performer")
        rows += [(f"lra_{task}{base}", f"lra_{task}_{kernel}{ending}") for kernel in kernels for task, base, ending in
                 (("text", "_subwords", ""), ("text", "", "_bytes"), ("matching", "_subwords", ""),
                  ("matching", "_mean", "_bytes"), ("listops", "", ""))]
        for base, row in rows:
            with self.subTest(row):
                changed = self.changed(row, base)
                self.assertEqual([key for key in changed if not key.startswith("model.attention.")], [])
                self.assertIn("model.attention.kind", changed)
                self.assertFalse(changed.get("model.attention.dropout"))

    def test_caches_of_image_models_are_those_of_the_papers_flops(self):
        for recipe in self.json_of("recipes", "*_cached*", "--json")["recipes"]:
            folder, _, name = recipe["name"].partition("/")
            if folder not in ("imagenet", "detection") or not name.startswith(("imagenet", "coco_mask", "coco_retina")):
                continue
            with self.subTest(name):
                values = self.values(name)
                self.assertTrue(values["model.cache.positional_convolution"])
                pools = [4, 2, 1, 1] if "swin" in name or name.endswith("_pooled") else [1, 1, 1, 1]
                self.assertEqual(values.get("model.cache_pools", pools), pools)

    def test_pooled_caches_follow_the_appendix(self):
        bases = [f"{before}_pvt_{size}_cached" for size in ("tiny", "small", "medium")
                 for before in ("imagenet", "coco_mask_rcnn", "coco_retinanet")]
        for base in bases:
            with self.subTest(base):
                self.assertEqual(self.changed(f"{base}_pooled", base), {"model.cache_pools": [4, 2, 1, 1]})

    def test_table_2_of_cached_transformers(self):
        for model, accuracy in (("vit_small", "80.0"), ("pvt_tiny", "74.8"), ("pvt_small", "79.6")):
            with self.subTest(model):
                changed = self.changed(f"imagenet_{model}_concatenated", f"imagenet_{model}")
                self.assertEqual(changed["model.cache.kind"], "concatenated")
                rows = {recipe["name"].rpartition("_")[2]: json.dumps(recipe["paper"]) for recipe in
                        self.json_of("recipes", f"imagenet_{model}_*", "--json")["recipes"]}
                self.assertIn("Table 2, ", rows["concatenated"])
                self.assertIn(f"{accuracy} % top-1", rows["concatenated"])
                self.assertNotIn(f"{accuracy} % top-1", rows["fifo"])

    def test_pattern(self):
        names = [recipe["name"] for recipe in self.json_of("recipes", "vision/fashion*", "--json")["recipes"]]
        self.assertEqual(names, [f"vision/fashion_mnist_{kind}" for kind in ("bn", "cached", "fifo", "plain", "rms", "un")])
        named = [recipe["name"] for recipe in self.json_of("recipes", "cifar100*", "--json")["recipes"]]
        self.assertEqual(named, [f"transfer/cifar100_t2t_vit_14{kind}" for kind in ("", "_bn", "_un")])
        self.refused("recipes", "imagenet5k*")

    def test_an_earlier_name_is_found_and_not_listed(self):
        earlier, present = "coco_faster_rcnn_swin_tiny_un_1x_window2", "coco_mask_rcnn_swin_tiny_un_1x_window2"
        names = self.succeed("recipes", "coco*").stdout
        self.assertNotIn(earlier, names)
        self.assertIn(present, names)
        print_of = lambda name: self.cachet("train", name, "--print")
        for name in (earlier, f"detection/{earlier}", f"{earlier}.toml"):
            found = print_of(name)
            self.assertEqual(found.stdout, print_of(present).stdout)
            self.assertEqual(found.stderr, f"note: the recipe {earlier} is now {present}\n")
        self.assertIn("name = \"mask_rcnn_swin_t_fpn\"", print_of(earlier).stdout)
        self.assertIn("there is no recipe", self.refused("train", "coco_faster_rcnn_swin_tiny_un_1x_window3", "--print"))

    def test_a_copy_stands_alone_and_says_the_same(self):
        self.cachet("recipes", "cp", "demo_cached", "mine.toml")
        mine = (self.folder / "mine.toml").read_text()
        self.assertNotIn("base", tomllib.loads(mine))
        self.assertTrue(mine.startswith("# The demo"))
        values = lambda name: tomllib.loads(self.cachet("train", name, "--print").stdout)
        self.assertEqual(values("mine.toml"), values("demo_cached"))
        self.refused("recipes", "cp", "demo_plain", "mine.toml", cwd=self.folder)

    def test_one_may_be_based_on_a_built_in_one(self):
        for base in ("demo_cached", "demo_cached.toml", "vision/demo_cached"):
            (self.folder / "demo_cached.toml").write_text(f'base = "{base}"\n[train]\nepochs = 7\n')  # never itself
            printed = self.cachet("train", "demo_cached.toml", "--print").stdout
            values = tomllib.loads(printed)
            self.assertEqual((values["train"]["epochs"], values["model"]["cache"]["kind"]), (7, "grc"))
            self.assertRegex(printed, r'kind = "grc"  # /.*/recipes/vision/demo_cached\.toml:\d+\n')
            self.assertIn("epochs = 7  # demo_cached.toml:3\n", printed)
        (self.folder / "demo_cached.toml").unlink()
        (self.folder / "other.toml").write_text('base = "demo_cahced"\n')
        refusal = self.refused("train", "other.toml", "--print", cwd=self.folder)
        self.assertIn("other.toml:1: base: ", refusal)
        self.assertIn("did you mean 'demo_cached'?", refusal)

    def test_the_recipe_of_the_readme_runs_as_a_user_runs_it(self):
        """It is saved and trained in an empty folder, by the commands that stand below it."""
        page = (command.ROOT / "README.md").read_text()
        name, text, commands = re.search(r"\*\*([\w-]+\.toml)\*\*[^\n]*\n\n```toml\n(.*?)```\n.*?```sh\n(.*?)```", page, re.DOTALL).groups()
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / name).write_text(text)
            for line in commands.splitlines():
                self.assertTrue(line.startswith("cachet "), line)
                done = self.succeed(*shlex.split(line, comments=True)[1:], cwd=folder)
            self.assertIn("top1", done.stdout)

    def test_folder_of_ones_own(self):
        os.environ["CACHET_RECIPES"] = str(self.folder)
        self.addCleanup(os.environ.pop, "CACHET_RECIPES")
        (self.folder / "half.toml").write_text("# Half written.\n[modle]\n")
        listed = {recipe["name"]: recipe for recipe in self.json_of("recipes", "--json")["recipes"]}
        self.assertEqual([(listed[name]["task"], listed[name]["model"]) for name in ("tiny", "half")],
                         [("image_classification", "vit_tiny_patch16_224"), (None, None)])
        self.succeed("train", "tiny", "--print")


if __name__ == "__main__":
    command.main()
