"""What is done with a run: eval and predict, and the examples of all commands about runs."""
import base64
import json
import math
import os
import pathlib
import shlex
import shutil

import command
from examples_test import examples
from runs import SMALL_ENCODER, RunTest, pixels, write_png, write_reviews


class Use(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run", "--set", "train.keep=9")

    def test_eval_gives_the_metrics_of_the_training(self):
        result = self.json_of("eval", "run", "--json", cwd=self.folder)
        self.assertEqual(list(result), ["schema", "checkpoint", "images", "of", "split", "chose_the_checkpoint", "metrics", "intervals"])
        step = int(pathlib.Path(result["checkpoint"]).name.removeprefix("step-"))
        event, = [event for event in self.events("run") if event["kind"] == "evaluation" and event["step"] == step]
        self.assertEqual(result["metrics"], event["metrics"])
        self.assertEqual((result["images"], result["of"]), (33, 33))
        last = self.json_of("eval", "run/checkpoints/step-00000036", "--set", "data.limit=10", "--json", cwd=self.folder)
        self.assertEqual((last["images"], last["of"]), (10, 33))
        self.assertIn("top1", self.cachet("eval", "run").stdout)

    def test_a_metric_and_its_error_are_one_row(self):
        rows = self.cachet("eval", "run").stdout.splitlines()[1:]
        self.assertEqual([row.split()[0] for row in rows], ["loss", "top1"])
        result = self.json_of("eval", "run", "--json", cwd=self.folder)
        metrics = result["metrics"]
        self.assertEqual(list(metrics), ["loss", "top1", "top1_stderr"])
        # All 33 are right: the fraction is 1, its standard error 0, and Wilson's interval from 33/34 to 1.
        self.assertEqual((metrics["top1"], metrics["top1_stderr"]), (1, 0))
        self.assertEqual(list(result["intervals"]), ["top1"])
        self.assertAlmostEqual(result["intervals"]["top1"]["lower"], 33 / 34, places=12)
        self.assertEqual(result["intervals"]["top1"]["upper"], 1)
        self.assertEqual(rows[1].split(), ["top1", "100.0", "%", "(97.1", "%", "to", "100.0", "%)"])
        self.assertTrue(rows[0].startswith("  loss          ") and rows[1].startswith("  top1          "), rows)

    def test_an_evaluation_goes_on_and_is_scored_without_the_model(self):
        records = self.assert_evaluation_goes_on("run")
        self.assertEqual([record["sample"] for record in records], list(range(33)))
        predictions = [json.loads(line) for line in self.cachet("predict", "run").stdout.splitlines()]
        self.assertEqual([record["label"] for record in records], [prediction["label"] for prediction in predictions])
        kept = self.folder / "kept/predictions.jsonl"
        held = kept.read_bytes()
        self.assertIn("--overwrite", self.refused("predict", "run", "-o", "kept/predictions.jsonl", cwd=self.folder, code=1))
        for other in (["--set", "data.limit=10"],
                      ["--set", "data.normalization.mean=0.4", "--set", "data.normalization.std=0.5"]):
            self.assertIn("--overwrite", self.refused("eval", "run", "-o", "kept", *other, cwd=self.folder, code=1))
        self.assertEqual(kept.read_bytes(), held)
        # The numbers are those of the records: if all records are right, so are the numbers.
        kept.write_text("".join(json.dumps({**record, "predicted": record["label"]}, separators=(",", ":")) + "\n" for record in records))
        self.assertEqual(self.json_of("eval", "run", "-o", "kept", "--json", cwd=self.folder)["metrics"]["top1"], 1)
        kept.write_text("".join(json.dumps({**record, "sample": 0}, separators=(",", ":")) + "\n" for record in records))
        self.assertIn("of an earlier record", self.refused("eval", "run", "-o", "kept", cwd=self.folder, code=1))
        self.cachet("eval", "run", "-o", "kept", "--overwrite")
        self.assertEqual(kept.read_bytes(), held)

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
        self.cachet("predict", "run", "--top", "2", "-o", "part.jsonl")
        whole = part.read_text().splitlines()
        for record, line in zip(map(json.loads, whole), predictions):
            self.assertEqual([len(record.pop(key)) for key in ("source", "sample_digest")], [16, 16])
            self.assertEqual(record, line)
        part.write_text("\n".join(whole[:11]) + "\n" + whole[11][:9])
        done = self.cachet("predict", "run", "--top", "2", "-o", "part.jsonl")
        self.assertIn("holds 11 of 33", done.stderr)
        self.assertEqual(part.read_text().splitlines(), whole)

    def test_logits_stand_beside_the_probabilities(self):
        self.cachet("predict", "run", "-o", "plain.jsonl")
        self.cachet("predict", "run", "--logits", "-o", "raw.jsonl")
        plain, raw = (list(map(json.loads, (self.folder / f"{name}.jsonl").read_text().splitlines()))
                      for name in ("plain", "raw"))
        self.assertEqual(len(raw), 33)
        for without, record in zip(plain, raw):
            self.assertNotEqual(without.pop("source"), record.pop("source"))
            logits = record.pop("logits")
            self.assertEqual(record, without)
            self.assertEqual(len(logits), 4)
            whole = sum(map(math.exp, logits))
            for guess in record["top"]:
                self.assertAlmostEqual(guess["probability"], math.exp(logits[guess["label"]]) / whole, places=5)
        said = self.refused("predict", "run", "--logits", "-o", "plain.jsonl", cwd=self.folder, code=1)
        self.assertIn("--overwrite", said)

    def test_summary_takes_what_was_trained(self):
        by_recipe = self.json_of("summary", "tiny.toml", "--json", cwd=self.folder)
        for path in ("run", "run/checkpoints/step-00000036"):
            self.assertEqual(self.json_of("summary", path, "--json", cwd=self.folder), by_recipe)
        shutil.rmtree(self.folder / "run" / "checkpoints")
        self.assertEqual(self.json_of("summary", "run", "--json", cwd=self.folder), by_recipe)
        deeper = self.json_of("summary", "run", "--set", "model.depth=2", "--json", cwd=self.folder)
        self.assertGreater(deeper["parameters"], by_recipe["parameters"])
        self.refused("summary", "images", cwd=self.folder, code=1)

    def test_records_go_on_only_with_what_they_are_of(self):
        for number in range(3):
            write_png(self.folder / f"{number}.png", 8, 8, pixels(number))
        self.cachet("predict", "run", "0.png", "-o", "q.jsonl")
        self.cachet("predict", "run", "0.png", "1.png", "-o", "q.jsonl")
        held = (self.folder / "q.jsonl").read_bytes()
        self.assertEqual([json.loads(line)["file"] for line in held.splitlines()], ["0.png", "1.png"])
        for other in (["1.png"], ["0.png"], ["0.png", "2.png"], ["0.png", "1.png", "--top", "2"],
                      ["0.png", "1.png", "--set", "data.normalization.mean=0.5", "--set",
                       "data.normalization.std=0.5"], []):
            said = self.refused("predict", "run", *other, "-o", "q.jsonl", cwd=self.folder, code=1)
            self.assertIn("--overwrite", said)
            self.assertEqual((self.folder / "q.jsonl").read_bytes(), held)
        last = "run/checkpoints/step-00000036"
        if (self.folder / "run/checkpoints/best").read_text() != (self.folder / "run/checkpoints/last").read_text():
            self.assertIn("another model", self.refused("predict", last, "0.png", "-o", "q.jsonl", cwd=self.folder, code=1))
        for foreign in (b"notes without an end", b'{"index":1,"file":"0.png"', b'{"in', b"{}\n"):
            with self.subTest(foreign):
                (self.folder / "notes.jsonl").write_bytes(foreign)
                torn = b'{"index":0,'.startswith(foreign)  # as a process that was stopped may leave it
                if torn:
                    self.cachet("predict", "run", "0.png", "-o", "notes.jsonl")
                    line, = (self.folder / "notes.jsonl").read_text().splitlines()
                    self.assertEqual(json.loads(line)["file"], "0.png")
                else:
                    said = self.refused("predict", "run", "0.png", "-o", "notes.jsonl", cwd=self.folder, code=1)
                    self.assertIn("line 1 is not a prediction, so the file cannot be resumed", said)
                    self.assertEqual((self.folder / "notes.jsonl").read_bytes(), foreign)
        self.assertIn("-o", self.refused("predict", "run", "0.png", "--overwrite", cwd=self.folder))
        self.assertIn("works only with pictures", self.refused("predict", "run", "0.png", "--least-score", "0.1", cwd=self.folder))
        (self.folder / "run/checkpoints/best").rename(self.folder / "best")
        damaged = self.folder / last / "model.safetensors"
        whole = damaged.read_bytes()
        damaged.write_bytes(b"damaged")
        self.refused("predict", last, "0.png", "-o", "q.jsonl", "--overwrite", cwd=self.folder, code=1)
        damaged.write_bytes(whole)
        (self.folder / "empty").mkdir()
        (self.folder / "no-image.png").write_text("text")
        for words in (["empty"], ["--lines", "nowhere.txt"], ["no-image.png"]):
            self.refused("predict", "run", *words, "-o", "q.jsonl", "--overwrite", cwd=self.folder, code=1)
        self.assertEqual((self.folder / "q.jsonl").read_bytes(), held, "what cannot be done replaces nothing")
        (self.folder / "names.jsonl").write_text("0.png\n")
        self.assertIn("is an input of this command", self.refused("predict", "run", "--lines", "names.jsonl", "-o", "names.jsonl",
                                                              "--overwrite", cwd=self.folder))
        self.assertEqual((self.folder / "names.jsonl").read_text(), "0.png\n")
        (self.folder / "best").rename(self.folder / "run/checkpoints/best")
        self.cachet("predict", "run", "2.png", "-o", "q.jsonl", "--overwrite")
        self.assertEqual([json.loads(line)["file"] for line in (self.folder / "q.jsonl").read_text().splitlines()], ["2.png"])

    def test_bench_says_whose_weights_it_measures(self):
        quick = ["--mode", "infer", "--seconds", "0.001"]
        weights = lambda *words: self.json_of("bench", *words, *quick, "--json", cwd=self.folder)["weights"]
        self.assertEqual(weights("run"), "stored")
        self.assertEqual(weights("run/checkpoints/step-00000036"), "stored")
        self.assertEqual(weights("run", "--set", "model.depth=2"), "random")
        self.assertEqual(weights("tiny.toml"), "random")
        self.assertNotIn("random", self.cachet("bench", "run", *quick).stderr)
        said = self.cachet("bench", "run", "tiny.toml", *quick, "--set", "model.depth=2", "--progress", "none").stderr
        self.assertEqual(said, "run: measured with random weights, because --set may change the model\n")
        shutil.copytree(self.folder / "run", self.folder / "begun")
        shutil.rmtree(self.folder / "begun/checkpoints")
        (self.folder / "begun/checkpoints").mkdir()
        self.assertEqual(self.cachet("bench", "begun", *quick).stderr,
                         "begun: measured with random weights, because the run has no checkpoint yet\n")

    def files_in(self, name):
        records = [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
        self.assertEqual([record["index"] for record in records], list(range(len(records))))
        return [record["file"] for record in records]

    def test_records_are_matched_with_their_samples_wherever_these_stand(self):
        for number in range(6):
            write_png(self.folder / f"{number}.png", 8, 8, pixels(number))
        shutil.copy(self.folder / "0.png", self.folder / "same-bytes.png")
        predict = lambda *files: self.cachet("predict", "run", *files, "-o", "p.jsonl").stderr
        predict("1.png", "3.png")
        kept = (self.folder / "p.jsonl").read_text()
        self.assertIn("holds 2 predictions; resuming", predict("3.png", "0.png", "1.png", "3.png"))
        self.assertEqual(self.files_in("p.jsonl"), ["3.png", "0.png", "1.png", "3.png"])
        for line in kept.splitlines():  # what was there was not computed again: it has its own line still
            self.assertIn(line.split(",", 1)[1], (self.folder / "p.jsonl").read_text())
        self.cachet("predict", "run", "3.png", "0.png", "1.png", "3.png", "-o", "fresh.jsonl")
        self.assertEqual((self.folder / "p.jsonl").read_bytes(), (self.folder / "fresh.jsonl").read_bytes())
        # All are there, in another order.
        self.assertIn("holds 4 of 4 predictions", predict("0.png", "3.png", "3.png", "1.png"))
        self.assertEqual(self.files_in("p.jsonl"), ["0.png", "3.png", "3.png", "1.png"])
        (self.folder / "names.txt").write_text("5.png\n1.png\n3.png\n0.png\n3.png\n")
        self.assertIn("holds 4 predictions; resuming",
                      self.cachet("predict", "run", "--lines", "names.txt", "-o", "p.jsonl").stderr)
        self.assertEqual(self.files_in("p.jsonl"), ["5.png", "1.png", "3.png", "0.png", "3.png"])
        # A command that fails on the way keeps what it has, and the next one uses all of it.
        (self.folder / "bad.png").write_bytes(b"nothing")
        self.refused("predict", "run", "4.png", "bad.png", "5.png", "1.png", "3.png", "0.png", "3.png", "-o", "p.jsonl",
                     cwd=self.folder, code=1, lines=3)
        self.assertEqual(self.files_in("p.jsonl"), ["5.png", "1.png", "3.png", "0.png", "3.png", "4.png"])
        self.assertIn("holds 6 of 6 predictions", predict("4.png", "5.png", "1.png", "3.png", "0.png", "3.png"))
        self.assertEqual(self.files_in("p.jsonl"), ["4.png", "5.png", "1.png", "3.png", "0.png", "3.png"])
        held = (self.folder / "p.jsonl").read_bytes()
        # A record without its sample is not thrown away.
        for files in (["5.png", "4.png", "3.png", "0.png", "3.png"], ["4.png", "5.png", "1.png", "2.png", "0.png", "3.png"],
                      ["4.png", "5.png", "1.png", "3.png", "same-bytes.png", "3.png"], []):
            said = self.refused("predict", "run", *files, "-o", "p.jsonl", cwd=self.folder, code=1)
            self.assertIn("--overwrite", said)
            self.assertEqual((self.folder / "p.jsonl").read_bytes(), held)
        write_png(self.folder / "0.png", 8, 8, pixels(3))
        said = self.refused("predict", "run", "3.png", "0.png", "1.png", "3.png", "4.png", "5.png", "-o", "p.jsonl", cwd=self.folder, code=1)
        self.assertIn("line 5 is the prediction of a sample whose bytes have changed since", said)
        # From standard input samples come one by one, and records stay at their positions.
        words = ["predict", "run", "--lines", "-", "-o", "s.jsonl"]
        for stdin, code in (("1.png\n", 0), ("3.png\n1.png\n", 1), ("1.png\n3.png\n", 0)):
            self.assertEqual(command.run(*words, cwd=self.folder, stdin=stdin).returncode, code, stdin)
        self.assertEqual(self.files_in("s.jsonl"), ["1.png", "3.png"])

    def test_records_are_of_the_data_that_were_there(self):
        self.cachet("predict", "run", "-o", "all.jsonl")
        labels = self.folder / "images/t10k-labels-idx1-ubyte"
        held = labels.read_bytes()
        labels.write_bytes(held[:8] + bytes((label + 1) % 4 for label in held[8:]))
        self.assertIn("other data", self.refused("predict", "run", "-o", "all.jsonl", cwd=self.folder, code=1))

    def test_a_separator_behind_a_folder_changes_nothing(self):
        self.assertEqual(self.cachet("eval", "run/").stdout, self.cachet("eval", "run").stdout)
        checkpoint = "run/checkpoints/step-00000036"
        for words in (["eval"], ["summary"]):
            self.assertEqual(self.cachet(*words, checkpoint + "/").stdout, self.cachet(*words, checkpoint).stdout)
        self.train("new/", "--set", "train.limit=4 steps")
        self.train("many/", "--set", "train.limit=4 steps", "--seeds", "2")
        self.assertEqual(sorted(path.name for path in self.folder.glob("**/.*")), [])
        self.assertFalse((self.folder / "latest").is_symlink())
        (self.folder / "latest").symlink_to("new")
        self.cachet("train", "latest/", "--resume", "--set", "train.limit=8 steps", "--progress", "none")
        self.assertIn("cachet train new --resume", self.refused("train", "latest/", cwd=self.folder))
        self.assertEqual(self.events("new")[-1]["step"], 8)
        self.assertIn("<title>new", (self.folder / "new/report.html").read_text())

    def test_no_command_writes_over_what_is_not_its_own(self):
        def refused(*words):
            before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
            said = self.refused(*words, cwd=self.folder)
            self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, before)
            return said

        (self.folder / "notes.html").write_text("my notes")
        (self.folder / "keep.safetensors").write_text("not what export wrote")
        self.assertIn(".html, .md, .csv or .txt", refused("compare", "run", "-o", "keep.pth"))
        self.assertIn("--overwrite", refused("compare", "run", "-o", "notes.html"))
        self.assertIn("--overwrite", refused("export", "run", "-o", "keep.safetensors"))
        for words in (["compare", "run"], ["compare", "run", "--overwrite"]):
            self.assertIn("a file of the run", refused(*words, "-o", "run/report.html"))
            self.assertIn("a file of the run", refused(*words, "-o", "run/changes.txt"))
        self.assertIn("a file of the run", refused("predict", "run", "-o", "run/metrics.jsonl", "--overwrite"))
        self.assertIn("a file of the run",
                      refused("export", "run", "-o", "run/checkpoints/step-00000036/model.safetensors", "--overwrite"))
        self.assertIn(".safetensors", refused("export", "run", "-o", "run/metrics.jsonl"))
        (self.folder / "folder.safetensors").mkdir()
        self.assertIn("is a folder", refused("export", "run", "-o", "folder.safetensors"))

        self.cachet("compare", "run", "-o", "notes.html", "--overwrite")
        self.cachet("compare", "run", "-o", "notes.html")
        self.assertIn("<html", (self.folder / "notes.html").read_text())
        for form in ("md", "csv", "txt"):
            self.cachet("compare", "run", "-o", f"run/mine.{form}")
            self.assertIn("--overwrite", refused("compare", "run", "-o", f"run/mine.{form}"))
        self.cachet("export", "run", "-o", "own.safetensors")
        self.cachet("export", "run", "-o", "own.safetensors", "--names", "cachet")

    def test_predictions_of_files(self):
        write_png(self.folder / "one.png", 8, 8, pixels(1))
        write_png(self.folder / "large.png", 16, 16, bytes(range(256)))
        first, second = map(json.loads, self.cachet("predict", "run", "one.png", "large.png").stdout.splitlines())
        self.assertEqual((first["file"], second["file"]), ("one.png", "large.png"))
        self.assertEqual(first["predicted"], json.loads(self.cachet("predict", "run").stdout.splitlines()[1])["predicted"])
        self.assertIn("tiny.toml", self.refused("predict", "run", "tiny.toml", cwd=self.folder, code=1))
        (self.folder / "images").rename(self.folder / "moved")
        alone, = map(json.loads, self.cachet("predict", "run", "one.png").stdout.splitlines())
        self.assertEqual(alone["top"], first["top"], "mean and deviation are those of training")
        there = self.cachet("predict", "run", "one.png", "--data", "moved").stdout
        self.assertEqual(json.loads(there)["predicted"], first["predicted"])

    def test_a_damaged_checkpoint_is_refused(self):
        file = self.folder / "run/checkpoints/step-00000036/model.safetensors"
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        self.assertIn("model.safetensors", self.refused("eval", "run/checkpoints/step-00000036", cwd=self.folder, code=1))


class Examples(RunTest):
    def test_each_runs_in_turn(self):
        self.assertFalse((self.folder / "data").exists(), "the demo's images come with the command")
        write_png(self.folder / "boot.png", 28, 28, bytes(index % 251 for index in range(784)))
        pictures = json.loads((command.ROOT / "tests/data/pillow_images.json").read_text())
        (self.folder / "bag.jpg").write_bytes(base64.b64decode(pictures["jpeg"][0]["file"]))
        shutil.copytree(command.ROOT / "data/fashion-mnist", self.folder / "my-images")
        for name in ("bag", "boot"):
            (self.folder / "photos" / name).mkdir(parents=True)
            for number in range(3):
                write_png(self.folder / "photos" / name / f"{number}.png", 28, 28, bytes(index % (50 + number) for index in range(784)))
        write_reviews(self.folder / "aclImdb")
        self.cachet("train", "lra_text", *SMALL_ENCODER, "--set", "train.limit=1 steps", "--run", "my-text-run")
        for name in ("recipes", "train", "eval", "predict", "compare"):
            if name == "compare":
                self.cachet("train", "demo_cached", "--set", "train.limit=2 steps", "--run", "other-run")
            for line in examples(name):
                with self.subTest(line):
                    self.cachet(*shlex.split(line)[1:])


if __name__ == "__main__":
    command.main()
