"""Training: what a run leaves, stopping it, resuming it."""
import html
import json
import os
import re
import shutil
import signal
import subprocess
import tomllib
from unittest import mock

import command
from runs import RECIPE, RunTest, pixels, write_images, write_png


class Train(RunTest):
    def test_leaves_a_run_and_says_where(self):
        done = self.train("run")
        self.assertIn(f"training in run, data in {self.folder.resolve() / 'images'}", done.stderr)
        self.assertRegex(done.stdout, r"step 36, [0-9.]+ m?s, test top-1 [0-9.]+ (± [0-9.]+ %|% \([0-9.]+ % to [0-9.]+ %\)) "
                                      r"\((the best|best [0-9.]+ % in epoch [12])\)\n")
        self.assertEqual(done.stdout.splitlines()[-1], "run/report.html")
        for name in ("recipe.toml", "resolved.toml", "command.txt", "environment.json", "log.txt", "metrics.jsonl",
                     "summary.csv", "report.html"):
            self.assertTrue((self.folder / "run" / name).is_file(), name)
        self.assertEqual((self.folder / "run" / "command.txt").read_text(),
                         "cachet train tiny.toml --run run --progress none\n")

    def test_each_evaluation_leaves_a_line_with_its_metric(self):
        train = ["train", "tiny.toml", "--run"]
        result = r"test [0-9.]+ (± [0-9.]+ %|% \([0-9.]+ % to [0-9.]+ %\))"
        whole = (r"epoch {}/3  loss [0-9.]+  train [0-9.]+ %  \|  " + result +
                 r" \((best so far|best [0-9.]+ % in epoch [12])\)  [0-9.]+[kM]? images/s")
        said = self.cachet(*train, "piped", "--progress", "auto").stderr.splitlines()
        self.assertFalse([line for line in said if line.startswith("eval")], said)
        lines = [line for line in said if "|" in line]
        self.assertEqual(len(lines), 3, said)
        log = (self.folder / "piped/log.txt").read_text().splitlines()
        for number, line in enumerate(lines, 1):
            self.assertRegex(line, whole.format(number) + (r"  [0-9.hmµ]+ ?m?s left$" if number < 3 else "$"))
            self.assertEqual(sum(each.endswith("Z " + line) for each in log), 1, line)
        by_steps = self.cachet(*train, "steps", "--progress", "plain", "--set", "train.evaluate_every=10 steps",
                               "--set", "train.limit=20 steps").stderr
        self.assertRegex(by_steps, r"(?m)^step 10/20  loss .*\n(.*\n)*step 20/20  loss ")
        said = self.cachet(*train, "silent", "--progress", "none").stderr.splitlines()
        self.assertFalse([line for line in said if line.startswith("train ")], said)
        for number, line in enumerate((line for line in said if "|" in line), 1):
            self.assertRegex(line, whole.format(number))
        self.assertEqual(number, 3, said)
        for columns, expected in ((200, whole.format(3)), (62, r"epoch 3/3  \|  " + result), (12, result)):
            code, text = command.on_terminal(*train, f"on-{columns}", cwd=self.folder, columns=columns, LANG="C.UTF-8",
                                             TERM="xterm")
            self.assertEqual(code, 0, text)
            last = re.split(r"\r|\x1b\[J", text.split("\nstep 36, ")[0])[-1]
            self.assertRegex(last, "^" + expected, columns)
            if columns == 62:
                self.assertLessEqual(len(last), columns)

    def test_what_wastes_a_run_is_said_before_it(self):
        norm = ("the warm-up of the norms (model.norm.warmup) takes 4000 updates, but this run updates the norms only 24 times. In this "
                "run, the norms do not use their window and filter; set a shorter warm-up, such as model.norm.warmup = \"10 %\" of the run")
        warmup = "schedule.warmup is 50 steps, but the run has only 12 steps, so the learning rate does not reach optimizer.lr; set a shorter"
        limit = "train.limit is 150 steps, but train.epochs = 2 ends the run earlier, after 12 steps; raise train.epochs"
        words = ["--set", "model.norm.warmup=4000", "--set", "schedule.warmup=50 steps", "--set", "train.limit=150 steps",
                 "--set", "train.epochs=2", "--set", "train.accumulate=2"]
        said = self.train("run", *words).stderr
        log = (self.folder / "run/log.txt").read_text()
        dry = self.cachet("train", "tiny.toml", "--dry-run", *words).stdout
        for note in (norm, warmup, limit):
            self.assertEqual([text.count(note) for text in (said, log, dry)], [1, 1, 1], note)
        said = self.train("first", *words, "--set", "train.state=first").stderr
        self.assertIn("this run updates the norms only 12 times", said)
        self.assertNotIn("warm-up of the norms", self.cachet("train", "run", "--resume", "--progress", "none").stderr)
        self.assertEqual(len([line for line in self.train("fits").stderr.splitlines() if "|" not in line]), 1, "the recipe fits")

    def test_a_warm_up_is_a_fraction_of_the_run(self):
        def values(run):
            return json.loads((self.folder / run / "run.json").read_text())["values"]["model.norm.warmup"]

        tenth = "model.norm.warmup=25 %"
        words = ["--set", tenth, "--set", "train.accumulate=2"]
        # 3 epochs of 12 micro-batches of a shared state; with states of the parts' own, 3 of 6 steps.
        said = self.train("shared", *words).stderr
        self.assertEqual(said.count("model.norm.warmup: 25 % of 36 updates is 9\n"), 1, said)
        self.assertIn("model.norm.warmup: 25 % of 36 updates is 9\n", (self.folder / "shared/log.txt").read_text())
        self.assertRegex((self.folder / "shared/resolved.toml").read_text(), r"(?m)^warmup = 9 ")
        self.assertEqual(values("shared"), "9")
        self.train("parts", *words, "--set", "train.state=first")
        self.assertEqual(values("parts"), "4", "25 % of 18 steps, rounded down")
        self.train("limited", *words, "--set", "train.limit=3 steps")
        self.assertEqual(values("limited"), "1", "25 % of 6 micro-batches")
        # A resume keeps it, however long the run becomes, and whatever the recipe has.
        recipe = (self.folder / "tiny.toml").read_text()
        for target in (["limited"], ["tiny.toml", "--run", "limited", *words]):
            done = self.cachet("train", *target, "--resume", "--set", "train.limit=1 epoch", "--progress", "none")
            self.assertEqual(values("limited"), "1", done.stderr)
        refused = command.run("train", "limited", "--resume", "--set", "model.norm.warmup=2", cwd=self.folder)
        self.assertIn("model.norm.warmup: 1 -> 2", refused.stderr)
        self.assertEqual((self.folder / "tiny.toml").read_text(), recipe)
        # The norms of a run with the fraction train as those of the run with the count.
        self.train("count", "--set", "model.norm.warmup=9", "--set", "train.accumulate=2")
        first, second = ((self.folder / run / "checkpoints/step-00000018/model.safetensors").read_bytes() for run in ("shared", "count"))
        self.assertTrue(first == second)
        self.cachet("train", "tiny.toml", "--seeds", "2", "--run", "seeds", *words, "--set", "train.limit=2 steps")
        self.assertEqual([values(f"seeds/{run}") for run in ("seed-0", "seed-1")], ["1", "1"])
        self.assertEqual(json.loads((self.folder / "seeds/run.json").read_text())["values"]["model.norm.warmup"], "1")
        said = self.cachet("train", "tiny.toml", "--dry-run", "--set", "model.norm.warmup=100 %").stdout
        self.assertIn("takes 36 updates, but this run updates the norms only 36 times", said)
        for text, message in (("10", ""), ("0 %", "must be above 0 % and at most 100 %"), ("120 %", "at most 100 %"),
                              ("-5 %", "must be above 0 %"), ("10%", 'or a fraction of the updates of a run such as "10 %", not the text "10%"')):
            done = command.run("train", "tiny.toml", "--print", "--set", f"model.norm.warmup={text}", cwd=self.folder)
            self.assertEqual((done.returncode, message in done.stderr), (0 if text == "10" else 2, True), done.stderr)

    def test_says_which_folder_of_a_relative_name_it_reads(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (self.folder / "tiny.toml").rename(elsewhere / "tiny.toml")
        os.environ["CACHET_DATA"] = str(self.folder)
        self.addCleanup(os.environ.pop, "CACHET_DATA")

        def read_by(*words):
            done = self.succeed(*words, cwd=elsewhere)
            found, = re.findall(r"data in (.*)", done.stdout + done.stderr)
            return found

        words = ["train", "tiny.toml", "--progress", "none", "--set", "train.limit=2 steps"]
        self.assertEqual(read_by(*words, "--run", "one"), str(self.folder / "images"))
        self.assertEqual(read_by("eval", "one"), str(self.folder / "images"))
        write_images(elsewhere / "images")  # now there is one of that name in the working folder, and it is taken
        self.assertEqual(read_by(*words, "--run", "two"), str(elsewhere.resolve() / "images"))
        self.assertEqual(read_by("eval", "one"), str(elsewhere.resolve() / "images"))
        self.assertEqual(read_by("predict", "one"), str(elsewhere.resolve() / "images"))
        done = self.succeed("eval", "one", "--data", str(elsewhere / "images"), cwd=elsewhere)
        self.assertNotIn("data in", done.stdout + done.stderr, "a whole name needs no saying")

    def test_the_demos_images_are_found_everywhere(self):
        """Below CACHET_DATA they may lie in a folder `data` or not; those that come with the command are the last."""
        def found(**variables):
            with mock.patch.dict(os.environ, variables):
                if not variables:
                    os.environ.pop("CACHET_DATA", None)
                done = self.cachet("data", "ls", "fashion_mnist", "--json", "--quick")
            return next(each["found"] for each in json.loads(done.stdout)["data"] if each["root"] == "data/fashion-mnist")

        own = str(command.ROOT / "data/fashion-mnist")
        self.assertEqual(found(), own)
        self.assertEqual(found(CACHET_DATA=str(self.folder)), own)
        for place in ("holder/fashion-mnist", "parent/data/fashion-mnist"):
            (self.folder / place).mkdir(parents=True)
            self.assertEqual(found(CACHET_DATA=str(self.folder / place.split("/")[0])), str(self.folder / place))
        (self.folder / "data/fashion-mnist").mkdir(parents=True)
        self.assertEqual(found(CACHET_DATA=str(self.folder / "holder")), str(self.folder.resolve() / "data/fashion-mnist"))

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
                         ["model", "a step", "evaluation", "checkpoint", "memory", "whole run", "shared data"])
        self.assertIn("36 steps, 3 evaluations", text)
        self.assertIn("all 33 test images are also in the training data", text)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})

    def test_dry_run_needs_no_data(self):
        text = self.cachet("train", "tiny.toml", "--dry-run", "--set", "data.root=nowhere", "--set",
                           "train.batch_size=1024").stdout
        self.assertEqual([line.split("  ")[0] for line in text.splitlines()],
                         ["model", "data", "", "a step", "evaluation", "checkpoint", "memory", "whole run"])
        self.assertIn("there is no folder", text)
        self.assertIn("Synthetic images instead: 4 a batch, 1 x 8 x 8.", text)
        self.assertIn("for each 1,000 training images (3 epochs)", text)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})

    def test_nothing_that_exists_is_written_over(self):
        self.train("run", "--set", "train.limit=4 steps")
        before = self.weights("run")
        said = self.refused("train", "tiny.toml", "--run", "run", cwd=self.folder, code=1)
        self.assertIn("exists already", said)
        (self.folder / "run").rename(self.folder / "my run")
        self.assertIn("cachet train 'my run' --resume", self.refused("train", "my run", cwd=self.folder))
        (self.folder / "my run").rename(self.folder / "run")
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

    def test_two_that_begin_at_once_have_folders_of_their_own(self):
        words = [command.COMMAND, "train", "tiny.toml", "--runs", "many", "--progress", "none", "--set", "train.limit=2 steps"]
        both = [subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = [process.communicate(timeout=200)[1] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0], said)
        runs = sorted(path.name for path in (self.folder / "many").iterdir() if not path.is_symlink())
        self.assertEqual(len(runs), 2, runs)
        self.assertIn("leave --run out", self.refused("train", "many/" + runs[0], "--resume", "--run", "other", cwd=self.folder))

    def test_extends_on_resume_and_refuses_another_model(self):
        self.train("run")
        self.cachet("train", "run", "--resume", "--set", "train.epochs=4", "--progress", "none")
        self.assertEqual(self.events("run")[-1]["step"], 48)
        self.assertIn("train.epochs: 3 -> 4", (self.folder / "run" / "changes.txt").read_text())
        said = self.refused("train", "run", "--resume", "--set", "model.depth=2", cwd=self.folder, code=1, lines=4)
        self.assertIn("model.depth: 1 -> 2", said)

    def test_other_data_are_noticed_on_a_resume(self):
        self.train("run", "--set", "train.limit=4 steps")
        labels = self.folder / "images" / "train-labels-idx1-ubyte"
        held = labels.read_bytes()
        labels.write_bytes(held[:8] + bytes((label + 1) % 4 for label in held[8:]))
        said = self.refused("train", "run", "--resume", "--progress", "none", cwd=self.folder, code=1)
        self.assertIn("the training data are not the data with which the run began", said)
        labels.write_bytes(held)
        run = self.folder / "run"
        (run / "recipe.toml").write_text(RECIPE + "# mine\n")
        said = self.cachet("train", "run", "--resume", "--set", "train.limit=8 steps").stderr
        self.assertIn("recipe.toml was edited. This has no effect", said)
        # A run of an older version has no fingerprints: it takes those of its next part.
        description = json.loads((run / "run.json").read_text())
        kept = description.pop("data")
        (run / "run.json").write_text(json.dumps(description))
        self.cachet("train", "run", "--resume", "--set", "train.limit=12 steps", "--progress", "none")
        self.assertEqual(json.loads((run / "run.json").read_text())["data"], kept)

    def write_photos(self):
        """Class folders, and the options that make a recipe one of them."""
        for split, count in (("train", 8), ("val", 4)):
            for label in ("a", "b"):
                folder = self.folder / "photos" / split / label
                folder.mkdir(parents=True)
                for number in range(count):
                    write_png(folder / f"{number}.png", 8, 8, pixels(2 * number + (label == "b")))
        settings = ["data.root=photos", "data.kind=class_folders", "data.classes=2", "data.resize.image_size=8", "train.epochs=6",
                    "train.checkpoint_every=1000 steps", "train.evaluate_every=2 steps"]
        return [word for each in settings for word in ("--set", each)]

    def test_files_of_the_evaluation_are_looked_at_before_the_first_step(self):
        settings = self.write_photos()
        empty, absent = (self.folder / "photos/val/b" / name for name in ("2.png", "3.png"))
        kept = empty.read_bytes()
        empty.write_bytes(b"")
        absent.unlink()
        absent.symlink_to("nowhere.png")
        self.train("trained", *settings, "--set", "train.limit=2 steps", "--set", "data.validation_folder=train")
        for words in (("train", "tiny.toml", "--run", "run"), ("train", "tiny.toml", "--dry-run"), ("eval", "trained")):
            options = settings if words[0] == "train" else ["--set", "data.validation_folder=val"]
            done = command.run(*words, *options, cwd=self.folder)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(f"2 of the 8 files of the evaluation cannot be read; the first: {empty}: the file is empty; "
                          "put them back", done.stderr)
        self.assertFalse((self.folder / "run").exists(), "nothing was begun")
        empty.write_bytes(kept)
        self.assertIn(f"1 of the 8 files of the evaluation cannot be read: {absent}: opening failed: No such file or "
                      "directory; put it back", self.refused("train", "tiny.toml", "--run", "run", *settings, cwd=self.folder, code=1))

    def test_an_evaluation_that_fails_loses_no_step(self):
        settings = self.write_photos()
        damaged = self.folder / "photos/val/b/3.png"
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:-30] + bytes(30))
        said = self.refused("train", "tiny.toml", "--run", "run", "--progress", "none", *settings, cwd=self.folder, code=1, lines=9)
        self.assertIn("3.png", said)
        self.assertIn("the evaluation at step 2 failed. The checkpoint of this step is run/checkpoints/step-00000002", said)
        self.assertIn("cachet train run --resume", said)
        state = json.loads((self.folder / "run/checkpoints/step-00000002/state.json").read_text())
        self.assertEqual((state["step"], state["evaluated"], state["for_evaluation"]), (2, False, True))
        damaged.write_bytes(whole)
        self.cachet("train", "run", "--resume", "--progress", "none")
        self.train("whole", *settings)
        same = lambda run: [{key: event[key] for key in ("kind", "step", "epoch", "metrics")} for event in self.events(run)]
        self.assertEqual(same("run"), same("whole"))
        self.assertEqual(self.weights("run"), self.weights("whole"))
        for name in ("best", "last"):
            self.assertEqual(*((self.folder / run / "checkpoints" / name).read_text() for run in ("run", "whole")))
        self.assertEqual(*(sorted(path.name for path in (self.folder / run / "checkpoints").iterdir()) for run in ("run", "whole")))

    def test_files_of_a_newer_cachet_are_refused(self):
        self.train("run", "--set", "train.limit=4 steps")
        for name, words in (("run.json", ("eval", "run")), ("run.json", ("train", "run", "--resume"))):
            kept = (self.folder / "run" / name).read_text()
            (self.folder / "run" / name).write_text(json.dumps(json.loads(kept) | {"schema": 77}))
            said = self.refused(*words, cwd=self.folder, code=1)
            self.assertIn(f"run/{name}: its schema is 77, but this version of Cachet reads only schemas up to 1; use a newer version of Cachet", said)
            (self.folder / "run" / name).write_text(kept)

    def test_the_page_shows_what_command_lines_set(self):
        self.train("run", "--set", "train.limit=4 steps", "--set", "model.norm.warmup=20")
        self.cachet("train", "run", "--resume", "--set", "train.limit=8 steps", "--progress", "none")
        page = html.unescape(re.sub("<[^>]*>", "", (self.folder / "run" / "report.html").read_text()))
        for part in ("Set over the recipe", "model.norm.warmup = 20", 'train.limit = "8 steps"',
                     "cachet train run --resume"):
            self.assertIn(part, page)

    def test_the_page_shows_when_how_long_and_on_what(self):
        self.train("run")
        page = html.unescape(re.sub("<[^>]*>", " ", (self.folder / "run" / "report.html").read_text()))
        begun = json.loads((self.folder / "run" / "run.json").read_text())["created"]
        machine = json.loads((self.folder / "run" / "environment.json").read_text())
        self.assertGreater(machine["memory_bytes"], 1 << 27)
        for part in ("Begun", begun[:10], begun[11:16] + " UTC", "Training time", "the run took", "of it in evaluations", "1 thread",
                     machine["processor"] + ", ", "GiB of memory"):
            self.assertIn(part, page)

    def test_threads_are_those_that_openmp_was_given(self):
        recipe = self.folder / "tiny.toml"
        recipe.write_text(re.sub(r"threads = \d+\n", "", recipe.read_text()))
        for threads in (1, 3):
            os.environ["OMP_NUM_THREADS"] = str(threads)
            self.addCleanup(os.environ.pop, "OMP_NUM_THREADS", None)
            self.train(f"of_{threads}")
            machine = json.loads((self.folder / f"of_{threads}" / "environment.json").read_text())
            self.assertEqual(machine["threads"], threads)

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

    def test_a_cache_that_evaluation_would_read_unlike_training_is_noted(self):
        own = ["--set", "train.limit=1 steps", "--set", "model.cache.attend=per_sample"]
        note = "model.cache: training attends to the cache of each sample"
        self.assertEqual(self.train("apart", *own).stderr.count(note), 1)
        self.assertIn(note, (self.folder / "apart/log.txt").read_text())
        self.assertNotIn(note, self.cachet("eval", "apart").stderr)
        self.assertNotIn(note, self.train("alike", *own, "--set", "model.cache.inference=per_sample").stderr)
        self.assertNotIn(note, self.train("mean", "--set", "train.limit=1 steps").stderr)

    def test_a_pool_that_leaves_one_key_is_noted(self):
        words = [word for setting in ("model.name=pvt_tiny", "model.image_size=64", "model.embed_dims=[8, 16, 16, 32]",
                                      "model.depths=[1, 1, 1, 1]", "model.num_heads=[1, 2, 2, 4]", "model.mlp_ratios=[1, 1, 1, 1]",
                                      "train.limit=1 steps", "data.resize.image_size=64") for word in ("--set", setting)]
        pooled = [*words, "--set", "model.cache_pools=[2, 2, 1, 1]"]
        note = "--set: model.cache_pools: the pooling by 2 and the spatial reduction by 8 leave the memory attention of stage 1 only one key"
        self.assertIn(note, self.train("pooled", *pooled).stderr)
        self.assertIn(note, (self.folder / "pooled/log.txt").read_text())
        self.assertNotIn("one key", self.train("whole", *words).stderr)
        tried = self.cachet("train", "tiny.toml", "--dry-run", *pooled, "--set", "data.root=nowhere").stdout
        self.assertIn("note          " + note, tried)

    def test_a_kill_before_the_first_checkpoint_loses_no_weights_to_begin_with(self):
        self.train("first", "--set", "train.limit=4 steps")
        started = ["--seed", "1", "--set", "train.init=first", "--set", "train.limit=4 steps"]
        self.train("whole", *started)
        self.train("killed", *started)
        for name in ("metrics.jsonl", "status.json", "log.txt"):
            (self.folder / "killed" / name).unlink()
        shutil.rmtree(self.folder / "killed/checkpoints")
        (self.folder / "killed/checkpoints").mkdir()
        done = self.cachet("train", "killed", "--resume", "--progress", "none")
        self.assertRegex(done.stderr, r"loaded \d+ of \d+ tensors from first")
        self.assertEqual(self.weights("killed"), self.weights("whole"))
        again = self.cachet("train", "killed", "--resume", "--progress", "none", "--set", "train.limit=5 steps")
        self.assertNotIn("tensors from first", again.stderr, "a checkpoint has weights of its own")

    def test_an_average_that_is_too_slow_is_reported_at_the_start(self):
        note = "train.ema_decay = 0.9999 is too slow for 36 steps: 100 % of the averaged weights"
        slow = ["--set", "train.ema_decay=0.9999"]
        self.assertIn(note, self.cachet("train", "tiny.toml", "--dry-run", *slow).stdout)
        self.assertIn(note, self.train("slow", *slow, "--set", "train.ema_renew_states=2").stderr)
        again = self.cachet("train", "slow", "--resume", "--progress", "none", "--set", "train.epochs=4")
        self.assertNotIn("is too slow", again.stderr)
        self.assertNotIn("is too slow", self.train("warm", *slow, "--set", "train.ema_warmup=true", "--set",
                                                   "train.ema_renew_states=2").stderr)
        top1 = lambda run: [event["metrics"]["top1"] for event in self.events(run) if event["kind"] == "evaluation"][-1]
        self.assertGreater(top1("warm"), top1("slow"))

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
        self.assertIn("not a run folder", self.refused("train", "images", "--resume", cwd=self.folder, code=1))
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})


if __name__ == "__main__":
    command.main()
