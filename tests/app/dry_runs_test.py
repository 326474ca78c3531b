"""Every recipe below recipes/ builds its model, takes a step, evaluates and writes a checkpoint, wherever it is tried. `make dry-runs`
tries all of them. Without CACHET_ROBUSTNESS=full, a third is tried: the next commit tries another third."""
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile

import command

RECIPES = command.ROOT / "recipes"
AT_ONCE = 2  # each on a thread of its own: the largest takes 2.5 GiB
TURNS = 3


def recipes_of_this_turn(recipes):
    if os.environ.get("CACHET_ROBUSTNESS") == "full":
        return recipes
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=command.ROOT, capture_output=True, text=True, check=False)
    return recipes[int(counted.stdout or 0) % TURNS::TURNS]  # the first third in a folder without git


class DryRuns(command.CommandTest):
    def dry_run(self, recipe):
        settings = ["train.threads=1", "train.batch_size=2", "train.precision=auto"]  # some multiply bfloat16 without help
        if recipe.parent.name in ("imagenet", "transfer"):  # whole, the largest take half a minute
            in_stages = any(name in recipe.stem for name in ("pvt", "swin"))
            settings.append("model.depths=[2, 2, 2, 2]" if in_stages else "model.depth=2")
        if recipe.parent.name == "lra":  # of thousands of tokens the largest take half a minute a step
            settings.append("data.max_length=256")
        if recipe.parent.name == "language":  # hundreds of thousands of words and 18 wide blocks take gigabytes a checkpoint
            settings += ["data.vocabulary=3000", "model.depth=2", "model.target_length=32", "task.evaluation.lanes=2"]
        if recipe.parent.name == "translation":  # the published sizes take minutes and gigabytes
            settings += ["model.encoder_depth=1", "model.decoder_depth=1", "data.max_length=48", "data.max_tokens=256",
                         "task.evaluation.max_tokens=256"]
        if recipe.parent.name == "detection":  # at 800 x 1333 pixels a step takes half a minute
            settings += ["data.transform.long_side=96", "data.transform.short_sides=[64]",
                         "data.transform.crop_share=0.0", "model.depths=[1, 1, 1, 1]", "model.image_size=128"]
            if "rcnn" in recipe.stem:
                settings += ["model.roi_head.bbox_head.fc_out_channels=64", "model.rpn_head.proposals.max_per_img=100"]
        return command.run("train", str(recipe), "--dry-run", *(word for each in settings for word in ("--set", each)),
                           cwd=self.folder, timeout=600)

    def test_every_recipe_without_its_data(self):
        # Those of sweeps are recipes of other folders but for their table, and their points are read by a test of their own.
        recipes = sorted(path for path in RECIPES.rglob("*.toml") if path.parent.name != "sweeps")
        self.assertTrue(recipes, f"there are no recipes below {RECIPES}")
        with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            self.folder = pathlib.Path(scratch)
            tried = recipes_of_this_turn(recipes)
            self.assertTrue(tried)
            for recipe, done in zip(tried, pool.map(self.dry_run, tried)):
                with self.subTest(recipe=str(recipe.relative_to(command.ROOT))):
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    # The demo's images come with Cachet and are found from every folder.
                    absent = () if recipe.stem.startswith("demo_") else ("there is no folder",)
                    for part in (*absent, "a step  ", "evaluation  ", "checkpoint  ", "whole run  "):
                        self.assertIn(part, done.stdout)
                    if "\n[paper]\n" in recipe.read_text():
                        self.assertIn("\npaper  ", done.stdout)
            self.assertEqual(list(self.folder.iterdir()), [], "a dry run leaves nothing")


if __name__ == "__main__":
    command.main()
