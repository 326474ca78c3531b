"""average and clean: what becomes of a run's checkpoints."""
import json
import pathlib
import shutil

import command
from runs import RunTest


class Weights(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run", "--set", "train.keep=9")

    def test_the_mean_is_a_checkpoint_of_the_run(self):
        said = self.json_of("average", "run", "--last", "3", "--json", cwd=self.folder)
        self.assertEqual(said, {"schema": 1, "steps": [28, 32, 36], "output": "run/checkpoints/mean-3"})
        of_mean = self.json_of("eval", "run/checkpoints/mean-3", "--json", cwd=self.folder)
        of_last = self.json_of("eval", "run/checkpoints/step-00000036", "--json", cwd=self.folder)
        self.assertNotEqual(of_mean["metrics"]["loss"], of_last["metrics"]["loss"])
        self.assertEqual(len(self.cachet("predict", "run/checkpoints/mean-3").stdout.splitlines()), 33)
        done = self.cachet("average", "run", "--last", "1")
        self.assertEqual(done.stdout, "mean of 1 checkpoints, steps 36 to 36\nrun/checkpoints/mean-1\n")
        one = self.json_of("eval", "run/checkpoints/mean-1", "--json", cwd=self.folder)
        self.assertEqual(one["metrics"], of_last["metrics"], "the mean of one is itself")
        self.cachet("train", "run", "--resume", "--set", "train.epochs=4", "--progress", "none")
        self.assertTrue((self.folder / "run/checkpoints/mean-3").exists())

    def test_too_few_and_wrong_ones(self):
        refusal = self.refused("average", "run", "--last", "99", cwd=self.folder, code=1)
        self.assertIn("has 9 checkpoints, but 99 are needed; train.keep sets how many", refusal)
        self.assertIn("no such run folder", self.refused("average", "nowhere", cwd=self.folder, code=1))
        self.assertIn("--last", self.refused("average", "run", "--last", "0", cwd=self.folder))
        self.assertIn("must end in .safetensors", self.refused("average", "run", "--last", "2", "-o", "mean.pt", cwd=self.folder))
        self.assertIn("is a file of the run", self.refused("average", "run", "--last", "2", "-o", "run/checkpoints/a.safetensors",
                                                           cwd=self.folder))
        (self.folder / "mine.safetensors").write_text("mine")
        self.assertIn("--overwrite", self.refused("average", "run", "--last", "2", "-o", "mine.safetensors", cwd=self.folder))
        shutil.rmtree(self.folder / "run/checkpoints/step-00000032")
        self.cachet("average", "run", "--last", "2", "-o", "mean.safetensors")
        self.cachet("average", "run", "--last", "3", "-o", "mean.safetensors")  # its own file of before
        (self.folder / "run/checkpoints/step-00000028/model.safetensors").write_bytes(b"damaged")
        self.assertIn("step-00000028", self.refused("average", "run", "--last", "2", cwd=self.folder, code=1))

    def test_the_states_of_a_mean_are_renewed(self):
        self.cachet("average", "run", "--last", "3", "-o", "mean.safetensors")
        renew = ["average", "run", "--last", "3", "--renew-states", "7", "--progress", "none"]
        said = self.json_of(*renew, "--json", cwd=self.folder)
        self.assertEqual(said["renewing_batches"], 7)
        done = self.cachet(*renew, "--set", "data.workers=1", "--data", "images", "-o", "renewed.safetensors")
        self.assertIn("mean of 3 checkpoints, steps 28 to 36, with statistics and caches recomputed from 7 batches", done.stdout)
        self.cachet("clean", "run/checkpoints/mean-3", "-o", "in-run.safetensors")
        self.assertEqual((self.folder / "renewed.safetensors").read_bytes(),
                         (self.folder / "in-run.safetensors").read_bytes(), "whoever loads the images")
        of = lambda name: [self.tensor(file, name) for file in ("mean.safetensors", "renewed.safetensors")]
        self.assertEqual(*of("patch_embed.proj.weight"))
        self.assertNotEqual(*of("blocks.0.attn.cache.tokens"))
        for word in ("--set=data.workers=1", "--data=images", "--device=cpu"):
            self.assertIn("--renew-states", self.refused("average", "run", "--last", "2", word, cwd=self.folder))
        self.assertIn("--renew-states", self.refused("average", "run", "--renew-states", "0", cwd=self.folder))
        self.assertIn("nowhere", self.refused("average", "run", "--last", "2", "--renew-states", "1", "--data", "nowhere",
                                              cwd=self.folder, code=1))
        self.train("plain", "--set", "model.cache.kind=none", "--set", "model.norm.kind=layer")
        self.assertIn("has no running statistics and no cache to recalibrate",
                      self.refused("average", "plain", "--last", "1", "--renew-states", "1", cwd=self.folder, code=1))

    def test_the_states_of_a_moving_average_are_renewed(self):
        self.assertIn("has no moving average of the weights", self.refused("average", "run", "--ema", cwd=self.folder, code=1))
        self.assertIn("--last", self.refused("average", "run", "--ema", "--last", "2", cwd=self.folder))
        self.train("moving", "--set", "train.ema_decay=0.5", "--set", "train.ema_renew_states=0")
        done = self.cachet("average", "moving", "--ema", "-o", "raw.safetensors")
        self.assertIn("moving average at step 36", done.stdout)
        done = self.cachet("average", "moving", "--ema", "--renew-states", "7", "--progress", "none")
        self.assertIn("moving average at step 36, with statistics and caches recomputed from 7 batches\nmoving/checkpoints/ema", done.stdout)
        self.cachet("clean", "moving/checkpoints/ema", "-o", "renewed.safetensors")
        of = lambda name: [self.tensor(file, name) for file in ("raw.safetensors", "renewed.safetensors")]
        self.assertEqual(*of("patch_embed.proj.weight"))
        self.assertNotEqual(*of("blocks.0.attn.cache.tokens"))
        self.cachet("eval", "moving/checkpoints/ema")

    def test_a_cleaned_run_answers_as_the_run_does(self):
        said = self.json_of("clean", "run", "-o", "clean", "--json", cwd=self.folder)
        self.assertEqual(said["checkpoint"], self.json_of("eval", "run", "--json", cwd=self.folder)["checkpoint"])
        self.assertEqual(self.cachet("predict", "run").stdout, self.cachet("predict", "clean").stdout)
        size = lambda folder: sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        self.assertLess(size(self.folder / "clean"), size(self.folder / said["checkpoint"]))
        refusal = self.refused("train", "clean", "--resume", cwd=self.folder, code=1)
        self.assertIn("this run has only weights, so it cannot be resumed", refusal)
        self.cachet("clean", "run", "-o", "clean")  # the same run again
        self.assertIn("another", self.refused("clean", "run", "-o", "images", cwd=self.folder))
        self.assertIn("--last 1", self.cachet("average", "--help").stdout)
        (self.folder / "clean/notes.txt").write_text("mine")
        self.train("seeds", "--seeds", "2", "--set", "train.limit=4 steps")
        for folder, why in (("clean", "its contents are not an output of this command"), ("seeds", "its contents are not an output of this command"),
                            ("run", "is an input of this command")):  # the first has a file of somebody's
            self.assertIn(why, self.refused("clean", "run", "-o", folder, "--overwrite", cwd=self.folder))
        self.assertTrue((self.folder / "seeds/seed-1/checkpoints").exists())
        self.assertEqual((self.folder / "clean/notes.txt").read_text(), "mine")

    def test_a_run_is_not_taken_for_a_cleaned_one(self):
        self.cachet("average", "run", "--last", "3")
        shutil.copytree(self.folder / "run", self.folder / "copy", symlinks=True)
        for checkpoint in (self.folder / "copy/checkpoints").iterdir():  # weights alone are left, and its logs
            if checkpoint.name.startswith("step-"):
                shutil.rmtree(checkpoint)
        for words in ([], ["--overwrite"]):
            self.assertIn("its contents are not an output of this command", self.refused("clean", "run", "-o", "copy", *words, cwd=self.folder))
        self.assertTrue((self.folder / "copy/metrics.jsonl").exists())

    def test_a_cleaned_mean_is_a_run(self):
        self.cachet("average", "run", "--last", "3")
        self.cachet("clean", "run/checkpoints/mean-3/", "-o", "clean")
        mean = self.cachet("predict", "run/checkpoints/mean-3").stdout
        self.assertEqual(self.cachet("predict", "clean").stdout, mean)
        self.assertEqual(self.cachet("predict", "clean/checkpoints/step-00000036").stdout, mean)

    def test_weights_alone_fill_a_model(self):
        self.cachet("average", "run", "--last", "3")
        self.cachet("clean", "run/checkpoints/mean-3", "-o", "mean.safetensors")
        self.cachet("average", "run", "--last", "3", "-o", "again.safetensors")
        self.assertEqual((self.folder / "mean.safetensors").read_bytes(), (self.folder / "again.safetensors").read_bytes())
        self.train("warm", "--set", "train.init=mean.safetensors", "--set", "train.limit=1 steps")
        deeper = ["--set", "train.init=mean.safetensors", "--set", "train.limit=1 steps", "--set", "model.depth=2"]
        self.assertIn("blocks.1", self.refused("train", "tiny.toml", "--run", "deep", *deeper, cwd=self.folder, code=1, lines=9))
        self.train("deep", *deeper, "--set", "train.init_partial=true", "--set", "optimizer.lr=1e-12")
        self.cachet("average", "deep", "--last", "1", "-o", "deep.safetensors")
        self.assertEqual(self.tensor("deep.safetensors", "patch_embed.proj.weight"),
                         self.tensor("mean.safetensors", "patch_embed.proj.weight"))
        self.assertIn("already has only weights", self.refused("clean", self.made_model(), "-o", "x.safetensors", cwd=self.folder))

    def tensor(self, file, name):
        data = (self.folder / file).read_bytes()
        begin = 8 + int.from_bytes(data[:8], "little")
        first, end = json.loads(data[8:begin])[name]["data_offsets"]
        return data[begin + first:begin + end]

    def made_model(self):
        self.cachet("import", "mean.safetensors", "--model", "vit_tiny_patch16_224", "--set", "model.image_size=8", "--set",
                    "model.patch_size=4", "--set", "model.embed_dim=16", "--set", "model.depth=1", "--set", "model.num_heads=2",
                    "--set", "model.classes=4", "--set", "model.cache.kind=grc", "--set", "model.norm.kind=un", "--set",
                    "model.norm.warmup=4", "-o", "model", "--partial")
        return "model"


if __name__ == "__main__":
    command.main()
