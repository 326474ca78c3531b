"""Training and what is done with runs: train, eval, predict, compare, recipes."""
import base64
import csv
import json
import os
import pathlib
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import tomllib
import zlib

import command
from examples_test import examples

RECIPE = """
[data]
root = "images"
kind = "idx"
classes = 4
[model]
name = "vit_tiny_patch16_224"
image_size = 8
patch_size = 4
embed_dim = 16
depth = 1
num_heads = 2
[model.cache]
kind = "grc"
[model.norm]
kind = "un"
warmup = 4
[train]
epochs = 3
batch_size = 8
threads = 1
log_every = "2 steps"
checkpoint_every = "4 steps"
"""


def pixels(index):
    """Noise of no library, brighter columns for each class."""
    label = index % 4
    return bytes((index * 31 + y * 17 + x * 13) % 100 + (120 if x % 4 == label else 0)
                 for y in range(8) for x in range(8))


def write_images(folder):
    folder.mkdir()
    for prefix, count in (("train", 96), ("t10k", 33)):
        data = b"".join(pixels(index) for index in range(count))
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, 8, 8) + data)
        labels = bytes(index % 4 for index in range(count))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count) + labels)


def write_png(path, width, height, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + rows[y * width:(y + 1) * width] for y in range(height))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


class RunTest(command.CommandTest):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        write_images(self.folder / "images")
        (self.folder / "tiny.toml").write_text(RECIPE)

    def cachet(self, *words):
        return self.succeed(*words, cwd=self.folder)

    def train(self, run, *words):
        return self.cachet("train", "tiny.toml", "--run", run, "--progress", "none", *words)

    def events(self, run):
        return [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]

    def weights(self, run):
        checkpoints = self.folder / run / "checkpoints"
        return (checkpoints / (checkpoints / "last").read_text().strip() / "model.safetensors").read_bytes()

    def started(self, run, *words, step=4):
        """A training that is under way and has reached a step."""
        process = subprocess.Popen([command.COMMAND, "train", "tiny.toml", "--run", run, "--progress", "none", *words],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 200
        while not ((self.folder / run / "metrics.jsonl").exists() and
                   any(event["step"] >= step for event in self.events(run))):
            self.assertIsNone(process.poll(), "it ended before it was to be stopped")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process


class Train(RunTest):
    def test_leaves_a_run_and_says_where(self):
        done = self.train("run")
        self.assertRegex(done.stdout, r"step 36, .* of training, top-1 [0-9.]+ % ± ")
        self.assertEqual(done.stdout.splitlines()[-1], "run/report.html")
        for name in ("recipe.toml", "resolved.toml", "command.txt", "environment.json", "log.txt", "metrics.jsonl",
                     "summary.csv", "report.html"):
            self.assertTrue((self.folder / "run" / name).is_file(), name)
        self.assertEqual((self.folder / "run" / "command.txt").read_text(),
                         "cachet train tiny.toml --run run --progress none\n")

    def test_print_shows_values_and_where_they_stand(self):
        text = self.cachet("train", "tiny.toml", "--print", "--set", "train.epochs=7", "--seed", "5").stdout
        values = tomllib.loads(text)
        self.assertEqual((values["train"]["epochs"], values["train"]["seed"]), (7, 5))
        line = RECIPE.splitlines().index('kind = "grc"') + 1
        self.assertIn(f'kind = "grc"  # tiny.toml:{line}', text)
        self.assertIn("epochs = 7  # --set", text)
        self.assertIn("ratio = 0.5  # default", text)
        self.assertFalse((self.folder / "runs").exists())

    def test_dry_run_estimates_and_leaves_nothing(self):
        text = self.cachet("train", "tiny.toml", "--dry-run").stdout
        self.assertEqual([line.split("  ")[0] for line in text.splitlines()],
                         ["model", "a step", "evaluation", "checkpoint", "memory", "whole run"])
        self.assertIn("36 steps, 3 evaluations", text)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})

    def test_dry_run_needs_no_data(self):
        text = self.cachet("train", "tiny.toml", "--dry-run", "--set", "data.root=nowhere", "--set",
                           "train.batch_size=1024").stdout
        self.assertEqual([line.split("  ")[0] for line in text.splitlines()],
                         ["model", "data", "", "a step", "evaluation", "checkpoint", "memory", "whole run"])
        self.assertIn("there is no folder", text)
        self.assertIn("Made-up images instead: 4 a batch, 1 x 8 x 8.", text)
        self.assertIn("for each 1,000 training images (3 epochs)", text)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})

    def test_nothing_that_exists_is_written_over(self):
        self.train("run", "--set", "train.limit=4 steps")
        before = self.weights("run")
        said = self.refused("train", "tiny.toml", "--run", "run", cwd=self.folder, code=1)
        self.assertIn("exists already", said)
        self.assertIn("--resume", self.refused("train", "run", cwd=self.folder))
        self.assertEqual(self.weights("run"), before)

    def test_runs_are_dated_and_the_newest_is_resumed(self):
        words = ["train", "tiny.toml", "--runs", "many", "--progress", "none"]
        for _ in range(2):
            self.cachet(*words, "--set", "train.limit=2 steps")
        first, second = sorted(path for path in (self.folder / "many").iterdir() if not path.is_symlink())
        self.assertRegex(first.name, r"^[0-9]{8}-tiny$")
        self.assertEqual(second.name, first.name + "-2")
        self.cachet(*words, "--resume", "--set", "train.limit=4 steps")
        self.assertEqual(self.events(second)[-1]["step"], 4)
        self.assertEqual(self.events(first)[-1]["step"], 2)

    def test_extends_on_resume_and_refuses_another_model(self):
        self.train("run")
        self.cachet("train", "run", "--resume", "--set", "train.epochs=4", "--progress", "none")
        self.assertEqual(self.events("run")[-1]["step"], 48)
        self.assertIn("train.epochs: 3 -> 4", (self.folder / "run" / "changes.txt").read_text())
        said = self.refused("train", "run", "--resume", "--set", "model.depth=2", cwd=self.folder, code=1, lines=4)
        self.assertIn("model.depth: 1 -> 2", said)

    def test_ctrl_c_saves_and_says_how_to_go_on(self):
        process = self.started("run")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=200)
        self.assertEqual((process.returncode, output), (130, ""), errors)
        self.assertIn("cachet train run --resume", errors)
        self.assertIn("--resume", (self.folder / "run" / "report.html").read_text())
        self.cachet("train", "run", "--resume", "--progress", "none")
        self.assertEqual(self.events("run")[-1]["step"], 36)

    def test_the_same_command_goes_on_after_a_kill_bit_by_bit(self):
        self.train("whole")
        process = self.started("run", "--resume", step=6)  # --resume begins a run that is not there
        process.kill()
        process.communicate()
        self.train("run", "--resume")
        self.assertEqual(self.weights("run"), self.weights("whole"))
        strip = lambda events: [{key: event[key] for key in ("kind", "step", "metrics", "series")} for event in events]
        self.assertEqual(strip(self.events("run")), strip(self.events("whole")))

    def test_a_loss_that_is_not_finite_ends_the_run(self):
        said = self.refused("train", "tiny.toml", "--run", "run", "--progress", "none", "--set", "optimizer.lr=1e30",
                            cwd=self.folder, code=1, lines=3)
        self.assertRegex(said, r"step \d+ .*(loss|gradient|weight)")
        self.assertTrue((self.folder / "run" / "report.html").is_file())

    def test_mistakes(self):
        self.assertIn("did you mean 'vision/demo_plain'", self.refused("train", "vision/demo_plane"))
        self.assertIn("'demo_plain'", self.refused("train", "demo_plian"))
        said = self.refused("train", "tiny.toml", "--set", "train.epohcs=3", "--set", "model.norm.kind=um",
                            cwd=self.folder)
        self.assertIn("did you mean 'epochs'", said)
        self.assertIn("model.norm.kind", said)
        self.assertIn("data.root", self.refused("train", "tiny.toml", "--set", "data.root=nowhere", cwd=self.folder, code=1))
        self.assertIn("no run folder", self.refused("train", "images", "--resume", cwd=self.folder, code=1))
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})


class Seeds(RunTest):
    SHORT = ["--progress", "none", "--set", "train.limit=8 steps"]

    def states(self, folder):
        rows = csv.DictReader((self.folder / folder / "results.csv").read_text().splitlines())
        return {row["seed"]: row["state"] for row in rows}

    def test_each_is_the_run_of_its_own(self):
        done = self.cachet("train", "tiny.toml", "--seeds", "3", "--run", "many", *self.SHORT)
        self.assertIn("many (3 seeds)", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "many/report.html")
        self.assertEqual(self.states("many"), {"0": "finished", "1": "finished", "2": "finished"})
        self.train("alone", "--set", "train.limit=8 steps", "--seed", "1")
        self.assertEqual(self.weights("many/seed-1"), self.weights("alone"))
        self.assertNotEqual(self.weights("many/seed-0"), self.weights("alone"))
        self.assertIn("<svg", (self.folder / "many/report.html").read_text())
        self.cachet("eval", "many/seed-2")
        self.assertIn("many/seed-0", self.refused("eval", "many", cwd=self.folder, code=1))

    def test_goes_on_with_what_is_unfinished_and_adds_seeds(self):
        words = ["train", "tiny.toml", "--seeds", "4,0", "--runs", "all", *self.SHORT]
        self.cachet(*words)
        folder, = (path for path in (self.folder / "all").iterdir() if not path.is_symlink())
        self.assertEqual((self.folder / "all" / "latest").resolve(), folder)
        shutil.rmtree(folder / "seed-0")
        before = (folder / "seed-4" / "command.txt").read_text()
        self.cachet(*words, "--resume")
        self.assertEqual(self.states(folder), {"4": "finished", "0": "finished"})
        self.assertEqual((folder / "seed-4" / "command.txt").read_text(), before)  # it was done
        self.cachet("train", str(folder), "--resume", "--seeds", "4,7", "--progress", "none")
        self.assertEqual(self.states(folder), {"4": "finished", "0": "finished", "7": "finished"})
        self.cachet("train", str(folder), "--resume", "--set", "train.limit=10 steps", "--progress", "none")
        for seed in (4, 0, 7):
            self.assertEqual(self.events(folder / f"seed-{seed}")[-1]["step"], 10)

    def test_ctrl_c_stops_all_of_them(self):
        process = subprocess.Popen([command.COMMAND, "train", "tiny.toml", "--seeds", "2", "--run", "many",
                                    "--progress", "none", "--set", "train.epochs=200"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = self.folder / "many/seed-0/metrics.jsonl"
        deadline = time.monotonic() + 200
        while not (log.exists() and log.read_text().count("\n") > 2):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=200)
        self.assertEqual((process.returncode, output), (130, ""), errors)
        self.assertEqual(errors.splitlines()[-1], "interrupted in seed 0; go on with: cachet train many --resume")
        self.assertFalse((self.folder / "many/seed-1").exists())
        self.assertEqual(self.states("many"), {"0": "interrupted"})
        self.assertIn("not begun", (self.folder / "many/report.html").read_text())
        self.cachet("train", "many", "--resume", "--progress", "none", "--set", "train.limit=20 epochs")
        self.assertEqual(self.states("many"), {"0": "finished", "1": "finished"})
        self.assertEqual(self.events("many/seed-1")[-1]["step"], 240)

    def test_a_seed_that_fails_is_named_and_the_others_go_on(self):
        self.cachet("train", "tiny.toml", "--seeds", "3", "--run", "many", *self.SHORT)
        shutil.rmtree(self.folder / "many/seed-2")
        (self.folder / "many/seed-1/status.json").unlink()
        recipe = self.folder / "many/seed-1/run.json"
        whole = recipe.read_text()
        recipe.write_text("{")
        done = command.run("train", "many", "--resume", "--progress", "none", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cachet train: seed 1: ", done.stderr)
        self.assertIn("1 of 3 seeds failed", done.stderr)
        self.assertTrue((self.folder / "many/seed-2/checkpoints/last").exists())
        recipe.write_text(whole)
        self.cachet("train", "many", "--resume", "--progress", "none")
        self.assertEqual(self.states("many"), {"0": "finished", "1": "finished", "2": "finished"})

    def test_a_loss_that_is_not_finite_fails_its_seed(self):
        done = command.run("train", "tiny.toml", "--seeds", "2", "--run", "many", *self.SHORT, "--set",
                           "optimizer.lr=1e30", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        for part in ("seed 0: ", "seed 1: ", "2 of 2 seeds failed"):
            self.assertIn(part, done.stderr)
        self.assertEqual(self.states("many"), {"0": "not finite", "1": "not finite"})

    def test_looking_touches_nothing(self):
        printed = tomllib.loads(self.cachet("train", "tiny.toml", "--seeds", "5,6", "--print").stdout)
        self.assertEqual(printed["train"]["seed"], 5)
        self.assertIn("(4 runs)", self.cachet("train", "tiny.toml", "--seeds", "4", "--dry-run").stdout)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})

    def test_mistakes(self):
        for seeds in ("0", "two", "1,1", "1,,2", "-3", "0-4"):
            self.assertIn("--seeds", self.refused("train", "tiny.toml", f"--seeds={seeds}", cwd=self.folder))
        self.assertIn("leave it out", self.refused("train", "tiny.toml", "--seeds", "1,2", "--seed", "3", cwd=self.folder))
        self.refused("train", "tiny.toml", "--seeds", "2", "--run", "none", "--set", "data.root=nowhere",
                     cwd=self.folder, code=1)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})
        self.cachet("train", "tiny.toml", "--seeds", "1", "--run", "many", *self.SHORT)
        self.train("single", "--set", "train.limit=2 steps")
        self.assertIn("exists already", self.refused("train", "tiny.toml", "--seeds", "1", "--run", "many",
                                                     cwd=self.folder, code=1))
        self.assertIn("--resume", self.refused("train", "many", cwd=self.folder))
        self.assertIn("one seed", self.refused("train", "single", "--seeds", "2", "--resume", cwd=self.folder))
        self.assertIn("one seed", self.refused("train", "tiny.toml", "--run", "single", "--seeds", "2", "--resume",
                                               cwd=self.folder))
        said = self.refused("train", "many", "--resume", "--set", "model.depth=2", cwd=self.folder, code=1, lines=4)
        self.assertIn("model.depth: 1 -> 2", said)


class Use(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run", "--set", "train.keep=9")

    def test_eval_gives_the_metrics_of_the_training(self):
        result = self.json_of("eval", "run", "--json", cwd=self.folder)
        self.assertEqual(list(result), ["schema", "checkpoint", "images", "metrics"])
        step = int(pathlib.Path(result["checkpoint"]).name.removeprefix("step-"))
        event, = [event for event in self.events("run") if event["kind"] == "evaluation" and event["step"] == step]
        self.assertEqual(result["metrics"], event["metrics"])
        self.assertEqual(result["images"], 33)
        last = self.json_of("eval", "run/checkpoints/step-00000036", "--set", "data.limit=10", "--json", cwd=self.folder)
        self.assertEqual(last["images"], 10)
        self.assertIn("top1", self.cachet("eval", "run").stdout)

    def test_eval_of_nothing(self):
        self.refused("eval", "nowhere", cwd=self.folder, code=1)
        self.refused("eval", "images", cwd=self.folder, code=1)

    def test_predictions_agree_with_the_evaluation_and_go_on(self):
        lines = self.cachet("predict", "run", "--top", "2").stdout.splitlines()
        self.assertEqual(len(lines), 33)
        predictions = [json.loads(line) for line in lines]
        right = sum(prediction["label"] == prediction["predicted"] for prediction in predictions) / 33
        self.assertAlmostEqual(right, self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"]["top1"])
        self.assertEqual([len(prediction["top"]) for prediction in predictions], [2] * 33)
        part = self.folder / "part.jsonl"
        part.write_text("\n".join(lines[:11]) + "\n" + lines[11][:9])
        done = self.cachet("predict", "run", "--top", "2", "-o", "part.jsonl")
        self.assertIn("holds 11 of 33", done.stderr)
        self.assertEqual(part.read_text().splitlines(), lines)

    def test_predictions_of_files(self):
        write_png(self.folder / "one.png", 8, 8, pixels(1))
        write_png(self.folder / "large.png", 16, 16, bytes(range(256)))
        first, second = map(json.loads, self.cachet("predict", "run", "--images", "one.png", "large.png").stdout.splitlines())
        self.assertEqual((first["file"], second["file"]), ("one.png", "large.png"))
        self.assertEqual(first["predicted"], json.loads(self.cachet("predict", "run").stdout.splitlines()[1])["predicted"])
        self.assertIn("tiny.toml", self.refused("predict", "run", "--images", "tiny.toml", cwd=self.folder, code=1))

    def test_comparisons(self):
        self.train("other", "--set", "model.cache.kind=none", "--seed", "3")
        result = self.json_of("compare", "run", "other", "--json", cwd=self.folder)
        self.assertEqual([row["name"] for row in result["runs"]], ["run", "other"])
        self.assertEqual(result["runs"][0]["differing"]["train.seed"], "0")
        self.assertEqual(result["runs"][1]["differing"]["model.cache.kind"], '"none"')
        self.assertNotIn("model.depth", result["runs"][0]["differing"])
        self.assertLess(result["runs"][1]["metrics"]["parameters"], result["runs"][0]["metrics"]["parameters"])
        text = self.cachet("compare", "run", "other", "-o", "comparison.html").stdout
        for part in ("top-1", "UN filtered", "model.cache.kind", "standard error"):
            self.assertIn(part, text)
        self.assertIn("<svg", (self.folder / "comparison.html").read_text())
        self.assertIn("| --- |", self.cachet("compare", "run", "other", "--format", "md").stdout.replace("---:", "---"))
        self.assertEqual(len(self.cachet("compare", "run", "other", "--format", "csv").stdout.splitlines()), 3)
        self.refused("compare", "run", "images", cwd=self.folder, code=1)

    def test_comparisons_of_seeds(self):
        short = ["--progress", "none", "--set", "train.limit=2 epochs"]
        self.cachet("train", "tiny.toml", "--seeds", "2", "--run", "many", *short)
        self.cachet("train", "tiny.toml", "--seeds", "2", "--run", "plain", *short, "--set", "model.cache.kind=none")
        result = self.json_of("compare", "many", "plain", "--json", cwd=self.folder)
        self.assertEqual([row["name"] for row in result["runs"]],
                         ["many/seed-0", "many/seed-1", "plain/seed-0", "plain/seed-1"])
        self.assertEqual([(row["name"], row["runs"]) for row in result["groups"]],
                         [("many (2 seeds)", ["many/seed-0", "many/seed-1"]),
                          ("plain (2 seeds)", ["plain/seed-0", "plain/seed-1"])])
        first, second = (row["metrics"]["top-1"] for row in result["runs"][:2])
        self.assertAlmostEqual(result["groups"][0]["means"]["top-1"], (first + second) / 2)
        self.assertAlmostEqual(result["groups"][0]["deviations"]["top-1"], abs(first - second) / 2 ** 0.5)
        text = self.cachet("compare", "many", "plain", "-o", "page.html").stdout
        for part in ("many (2 seeds)", "than seeds explain", "Runs of several seeds", "plain/seed-1"):
            self.assertIn(part, text)
        self.assertNotIn("train.seed", text)  # both have the same
        page = (self.folder / "page.html").read_text()
        self.assertIn('class="band"', page)
        self.assertIn("Over time", page)
        rows = list(csv.DictReader(self.cachet("compare", "many", "run", "--format", "csv").stdout.splitlines()))
        self.assertEqual([(row["run"], row["recipe"], row["seed"], row["state"]) for row in rows],
                         [("many/seed-0", "tiny", "0", "finished"), ("many/seed-1", "tiny", "1", "finished"),
                          ("run", "tiny", "0", "finished")])
        for row in rows:
            self.assertRegex(row["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertIn("1 thread of ", row["device"])
            self.assertTrue(row["commit"])
            self.assertGreater(int(row["parameters"]), 0)
            self.assertTrue(0 <= float(row["top-1"]) <= 1)

    def test_a_damaged_checkpoint_is_refused(self):
        file = self.folder / "run/checkpoints/step-00000036/model.safetensors"
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        self.assertIn("model.safetensors", self.refused("eval", "run/checkpoints/step-00000036", cwd=self.folder, code=1))


class Recipes(RunTest):
    def test_all_are_listed_and_whole(self):
        listed = self.json_of("recipes", "--json")["recipes"]
        self.assertIn("vision/demo_plain", [recipe["name"] for recipe in listed])
        for recipe in listed:
            with self.subTest(recipe["name"]):
                self.assertGreater(len(recipe["summary"]), 20, "a recipe opens with a comment on what it is")
                self.succeed("train", recipe["name"], "--print")

    def test_pattern(self):
        names = [recipe["name"] for recipe in self.json_of("recipes", "vision/cifar10*", "--json")["recipes"]]
        self.assertEqual(names, [f"vision/cifar10_{kind}" for kind in ("bn", "cached", "fifo", "plain", "rms", "un")])
        named = [recipe["name"] for recipe in self.json_of("recipes", "cifar100*", "--json")["recipes"]]
        self.assertEqual(named, [f"transfer/cifar100_t2t_vit_14{kind}" for kind in ("", "_bn", "_un")])
        self.refused("recipes", "imagenet22k*")

    def test_a_copy_stands_alone_and_says_the_same(self):
        self.cachet("recipes", "cp", "demo_cached", "mine.toml")
        mine = (self.folder / "mine.toml").read_text()
        self.assertNotIn("base", tomllib.loads(mine))
        self.assertTrue(mine.startswith("# The demo"))
        values = lambda name: tomllib.loads(self.cachet("train", name, "--print").stdout)
        self.assertEqual(values("mine.toml"), values("demo_cached"))
        self.refused("recipes", "cp", "demo_plain", "mine.toml", cwd=self.folder)

    def test_folder_of_ones_own(self):
        os.environ["CACHET_RECIPES"] = str(self.folder)
        self.addCleanup(os.environ.pop, "CACHET_RECIPES")
        self.assertIn("tiny", [recipe["name"] for recipe in self.json_of("recipes", "--json")["recipes"]])
        self.succeed("train", "tiny", "--print")


class Examples(RunTest):
    def test_each_runs_in_turn(self):
        os.environ["CACHET_DATA"] = str(command.ROOT)  # the demo's images lie in data/ of the source tree
        self.addCleanup(os.environ.pop, "CACHET_DATA")
        write_png(self.folder / "boot.png", 28, 28, bytes(index % 251 for index in range(784)))
        pictures = json.loads((command.ROOT / "tests/data/pillow_images.json").read_text())
        (self.folder / "bag.jpg").write_bytes(base64.b64decode(pictures["jpeg"][0]["file"]))
        for name in ("recipes", "train", "eval", "predict", "compare"):
            if name == "compare":
                self.cachet("train", "demo_cached", "--set", "train.limit=2 steps", "--run", "other-run")
            for line in examples(name):
                with self.subTest(line):
                    self.cachet(*shlex.split(line)[1:])


if __name__ == "__main__":
    command.main()
