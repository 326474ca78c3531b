"""The list of runs, and comparisons of folders that hold runs, seeds and sweeps."""
import json
import re

import command
from runs import RunTest

SHORT = ["--progress", "none", "--set", "train.limit=4 steps"]


class RunList(RunTest):
    def setUp(self):
        super().setUp()
        self.cachet("train", "tiny.toml", "--run", "runs/one", *SHORT)
        self.cachet("train", "tiny.toml", "--run", "runs/seeds", "--seeds", "2", *SHORT, "--set", "model.cache.kind=none")
        (self.folder / "wide-sweep.toml").write_text('base = "tiny.toml"\n[sweep]\nmodel.cache.ratio = [0.5, 0.25]\nseeds = 1\n')
        self.cachet("sweep", "wide-sweep.toml", *SHORT)
        self.sweep, = (path.name for path in (self.folder / "runs").iterdir() if "sweep" in path.name)

    def names(self, *words):
        return [run["name"] for run in self.json_of("runs", *words, "--json", cwd=self.folder)["runs"]]

    def test_all_runs_are_listed_with_their_results(self):
        self.assertRegex(self.sweep, r"^\d{8}-wide-sweep$", "the word is there once")
        points = [f"{self.sweep}/ratio_{ratio}/seed-0" for ratio in ("0.25", "0.5")]
        self.assertEqual(self.names("--sort", "name"), sorted([*points, "one", "seeds/seed-0", "seeds/seed-1"]))
        self.assertEqual(self.names("runs", "--sort", "name", "--reverse")[0], "seeds/seed-1")
        self.assertEqual(self.names("--match", "seeds/*", "--sort", "name"), ["seeds/seed-0", "seeds/seed-1"])
        self.assertEqual(self.names("--state", "failed"), [])
        self.assertEqual(self.names("runs/one"), ["one"])
        run = next(run for run in self.json_of("runs", "--json", cwd=self.folder)["runs"] if run["name"] == "one")
        evaluation, = (event for event in self.events("runs/one") if event["kind"] == "evaluation")
        self.assertEqual((run["state"], run["recipe"], run["step"], run["total_steps"]), ("finished", "tiny", 4, 4))
        self.assertEqual(run["best"], {"metric": "top1", "value": evaluation["metrics"]["top1"],
                                       "stderr": evaluation["metrics"]["top1_stderr"]})
        self.assertEqual(run["date"], json.loads((self.folder / "runs/one/run.json").read_text())["created"])
        self.assertGreater(run["seconds"], 0)
        table = self.cachet("runs").stdout
        self.assertRegex(table, r"(?m)^one +tiny +finished +top-1 \S+ .*%.* +20\d\d-\d\d-\d\d \d\d:\d\d +\S+ m?s$")
        values = [run["best"]["value"] for run in self.json_of("runs", "--sort", "metric", "--json", cwd=self.folder)["runs"]]
        self.assertEqual(values, sorted(values, reverse=True))

    def test_states_and_what_cannot_be_read(self):
        process = self.started("runs/stopped", "--set", "train.epochs=2000", step=14)
        process.terminate()
        process.communicate()
        self.assertEqual(self.names("--state", "interrupted"), ["stopped"])
        self.assertRegex(self.cachet("runs", "--match", "stopped").stdout, r"interrupted at step \d+ of ")
        self.assertEqual(self.cachet("runs", "--match", "nothing").stdout, "runs: no run matches the options\n")
        self.assertEqual(self.cachet("runs", "images").stdout, "images: holds no runs\n")
        self.assertIn("there is no such folder", self.refused("runs", "nowhere", cwd=self.folder, code=1))
        self.assertIn("did you mean", self.refused("runs", "--sort", "nmae", cwd=self.folder))
        (self.folder / "runs/one/run.json").write_text("{")
        done = command.run("runs", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("left out: runs/one/run.json", done.stderr)
        self.assertNotIn("one", [run["name"] for run in json.loads(done.stdout)["runs"]])

    def test_a_folder_of_seeds_and_sweeps_is_compared(self):
        result = self.json_of("compare", "runs", "--json", cwd=self.folder)
        self.assertEqual(len(result["runs"]), 5)
        self.assertEqual([group["name"] for group in result["groups"]], ["seeds (2 seeds)"])
        self.assertIn("seeds (2 seeds)", self.cachet("compare", "runs", "--wide").stdout)

    def test_latest_leads_to_runs_of_the_folder_of_runs(self):
        self.assertFalse((self.folder / "latest").is_symlink())
        self.cachet("train", "tiny.toml", "--run", "elsewhere", *SHORT)
        self.cachet("train", "tiny.toml", "--run", "mine/run", "--seeds", "1", *SHORT)
        for folder in (self.folder, self.folder / "mine", self.folder / "mine/run", self.folder / "runs/seeds"):
            self.assertFalse((folder / "latest").is_symlink(), folder)
        self.cachet("train", "tiny.toml", *SHORT)
        self.assertRegex((self.folder / "runs/latest").resolve().name, r"^\d{8}-tiny$")
        self.cachet("train", "tiny.toml", "--runs", "mine", *SHORT)
        self.assertRegex((self.folder / "mine/latest").resolve().name, r"^\d{8}-tiny$")


class Words(RunTest):
    def test_a_limit_without_a_unit_is_in_steps(self):
        self.train("run", "--set", "train.limit=4")
        self.assertEqual(self.events("run")[-1]["step"], 4)
        self.assertIn('limit = "4 steps"', (self.folder / "run/resolved.toml").read_text())
        self.cachet("train", "run", "--resume", "--progress", "none", "--set", "train.limit=6")
        self.assertEqual(self.events("run")[-1]["step"], 6)
        self.assertIn("train.limit", self.refused("train", "tiny.toml", "--run", "x", "--set", "train.limit=0", cwd=self.folder))
        self.assertIn("set a number", self.refused("train", "tiny.toml", "--run", "x", "--set", "train.limit=four", cwd=self.folder))

    def test_another_learning_rate_is_a_new_run_of_these_weights(self):
        self.train("my run", "--set", "train.limit=4 steps")
        said = self.refused("train", "my run", "--resume", "--set", "optimizer.lr=0.5", cwd=self.folder, code=1, lines=4)
        self.assertIn("--set train.init='my run'", said)
        said = self.refused("train", "my run", "--resume", "--set", "model.depth=2", cwd=self.folder, code=1, lines=4)
        self.assertNotIn("train.init", said)
        self.train("next", "--set", "train.limit=2 steps", "--set", "train.init=my run", "--set", "optimizer.lr=0.5")

    def test_a_wrong_name_of_a_model_is_one_error(self):
        (self.folder / "wrong.toml").write_text(re.sub("vit_tiny_patch16_224", "vit_tinny_patch16_224",
                                                       (self.folder / "tiny.toml").read_text()) + "[model.neck]\nx = 1\n")
        said = self.refused("train", "wrong.toml", "--print", cwd=self.folder, lines=1)
        self.assertIn("there is no model 'vit_tinny_patch16_224' (did you mean 'vit_tiny_patch16_224'", said)
        said = self.refused("train", "tiny.toml", "--print", "--set", "model.name=pvt_tny", "--set", "optimizer.lrr=1", cwd=self.folder)
        self.assertEqual(["model.name" in line for line in said.splitlines()], [True, False], said)


if __name__ == "__main__":
    command.main()
