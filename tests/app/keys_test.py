"""`cachet keys`: type, default and meaning of the keys of recipes, of one recipe, of a model or of a kind of task."""
import json
import os
import pathlib
import shutil
import subprocess
import tomllib

import command

MEANINGS = tomllib.loads((command.ROOT / "cachet/tasks/key_meanings.toml").read_text(encoding="utf-8"))


class Keys(command.FolderTest):
    def keys(self, *words):
        return {each["key"]: each for each in self.json_of("keys", *words, "--json", cwd=self.folder)["keys"]}

    def test_a_key_is_printed_in_full(self):
        meaning = MEANINGS["task.evaluation.beam"]
        lines = self.succeed("keys", "task.evaluation.beam", cwd=self.folder).stdout.splitlines()
        self.assertEqual(lines, ["task.evaluation.beam", "  type: integer", "  tasks: translation",
                                 f"{meaning['meaning']} {meaning['change']}"])
        lines = self.succeed("keys", "task.loss_divisor", cwd=self.folder).stdout.splitlines()
        self.assertEqual(lines[:4], ["task.loss_divisor", '  type: "step", "part"', '  default: "step"', "  tasks: detection"])

    def test_a_word_names_keys_by_their_parts(self):
        every = self.keys()
        self.assertGreater(len(every), 350)
        self.assertEqual(list(self.keys("train.seed")), ["train.seed"])
        self.assertEqual(list(self.keys("seed")), [key for key in every if f".{key}.".find(".seed.") >= 0])
        self.assertEqual(list(self.keys("model.cache")), [key for key in every if key.startswith("model.cache.") or ".model.cache." in key])
        self.assertEqual(list(self.keys("*dropout")), [key for key in every if key.endswith("dropout")])
        self.assertIn("model.cache.ratio", self.keys("cache.ratio"))

    def test_several_keys_are_a_table(self):
        lines = self.succeed("keys", "model.cache", cwd=self.folder).stdout.splitlines()
        self.assertEqual(lines[0].split(), ["key", "type", "default", "meaning"])
        row = next(line for line in lines if line.startswith("model.cache.ratio "))
        self.assertIn("number", row)
        self.assertIn((MEANINGS.get("model.cache.ratio") or MEANINGS["*.cache.ratio"])["meaning"], row)

    def test_a_recipe_gives_its_values_and_their_origins(self):
        keys = self.keys("--recipe", "demo_cached")
        self.assertEqual(keys["model.cache.kind"]["value"], '"grc"')
        self.assertIn("demo_cached.toml:", keys["model.cache.kind"]["origin"])
        self.assertEqual(keys["train.seed"]["origin"], "default")
        self.assertNotIn("task.evaluation.beam", keys)
        self.assertEqual([key for key in keys if key.startswith("paper.")], [])
        text = self.succeed("keys", "model.cache.kind", "--recipe", "demo_cached", cwd=self.folder).stdout
        self.assertIn('\n  value: "grc" (', text)
        (self.folder / "mine.toml").write_text("base = \"demo_plain\"\n[train]\nseed = 7\n")
        self.assertEqual(self.keys("--recipe", "mine.toml")["train.seed"]["value"], "7")

    def test_a_model_gives_its_defaults(self):
        tiny, small = (self.keys("--model", f"deit_{size}_patch16_224") for size in ("tiny", "small"))
        self.assertEqual({key.partition(".")[0] for key in tiny}, {"model"})
        self.assertEqual((tiny["model.embed_dim"]["value"], small["model.embed_dim"]["value"]), ("192", "384"))

    def test_a_task_leaves_out_keys_of_other_tasks(self):
        every = self.keys()
        translation, images = self.keys("--task", "translation"), self.keys("--task", "image_classification")
        for keys in (translation, images):
            self.assertIn("train.seed", keys)
            self.assertLess(len(keys), len(every))
        self.assertIn("task.evaluation.beam", translation)
        self.assertNotIn("task.evaluation.beam", images)

    def test_each_key_of_a_recipe_has_a_meaning(self):
        for recipe in ("demo_cached", "wikitext2_plain", "multi30k_de_en", "lra_small_text", "shapes_mask_rcnn"):
            with self.subTest(recipe):
                without = [key for key, each in self.keys("--recipe", recipe).items() if not each["meaning"] or not each["type"]]
                self.assertEqual([key for key in without if key != "task.kind"], [])

    def test_wrong_words_are_refused_with_the_nearest(self):
        said = self.refused("keys", "model.cache.ration", cwd=self.folder)
        self.assertIn("no key matches 'model.cache.ration' (did you mean 'model.cache.ratio'", said)
        self.assertIn("`cachet keys` lists all", said)
        self.assertIn("there is no model 'deit_tinny'", self.refused("keys", "--model", "deit_tinny", cwd=self.folder))
        self.assertIn("there is no recipe 'demo_cashed'", self.refused("keys", "--recipe", "demo_cashed", cwd=self.folder))
        self.assertIn("'translation'", self.refused("keys", "--task", "translatoin", cwd=self.folder, lines=3))
        for words in (("--model", "deit_tiny_patch16_224"), ("--task", "translation")):
            self.assertIn("--recipe", self.refused("keys", "--recipe", "demo_cached", *words, cwd=self.folder, lines=3))

    def test_the_installed_file_of_keys_is_read(self):
        program, share = self.folder / "bin/cachet", self.folder / "share/cachet/docs/reference"
        program.parent.mkdir()
        shutil.copy(pathlib.Path(command.COMMAND).resolve(), program)
        libraries = str(pathlib.Path(command.COMMAND).resolve().parent)
        environment = {**os.environ, "LD_LIBRARY_PATH": libraries + ":" + os.environ.get("LD_LIBRARY_PATH", "")}

        def keys():
            return subprocess.run([program, "keys", "train.seed"], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

        done = keys()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("share/cachet/docs/reference/keys.json of the installation is missing", done.stderr)
        share.mkdir(parents=True)
        (share / "keys.json").write_text(json.dumps({"schema": 1, "keys": [{
            "key": "train.seed", "type": "integer", "values": [], "default": "0", "read_with": [], "tasks": [], "meaning": "The seed.", "change": ""}]}))
        self.assertEqual(keys().stdout, "train.seed\n  type: integer\n  default: 0\nThe seed.\n")
        (share / "keys.json").write_text('{"schema": 1, "keys": [{"key": 1}]}')
        self.assertIn("keys.json", keys().stderr)


if __name__ == "__main__":
    command.main()
