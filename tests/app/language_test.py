"""Language models from a folder of text: vocabulary, training that continues bit by bit, evaluation, comparison, bad input."""
import gzip
import json
import math
import shutil
import subprocess

import command

SMALL = [word for setting in ("model.embed_dim=16", "model.depth=2", "model.num_heads=2", "model.mlp_dim=24", "model.target_length=8",
                              "model.cutoffs=[12]", "train.batch_size=4", "train.threads=1", "train.log_every=2 steps",
                              "task.evaluation.lanes=2", "schedule.kind=constant", "schedule.warmup=2 steps", "data.vocabulary=24")
         for word in ("--set", setting)]
WORDS = [f"word{number}" for number in range(21)]


def text(lines, first):
    """Lines whose words follow a rule that a model can learn."""
    return "".join(" ".join(WORDS[(first + 2 * line + place * place) % 21] for place in range(1 + line % 9)) + "\n"
                   for line in range(lines))


def write_corpus(corpus):
    """A small text in the form of WikiText-2, of which one file is compressed."""
    corpus.mkdir()
    (corpus / "wiki.train.tokens").write_text(text(120, 0) + "\n")
    with gzip.open(corpus / "wiki.valid.tokens.gz", "wt") as out:
        out.write(text(20, 5) + "unheard of\n")
    (corpus / "wiki.test.tokens").write_text(text(21, 9))


class Language(command.FolderTest):
    def setUp(self):
        super().setUp()
        write_corpus(self.folder / "wikitext-2")
        self.made = self.json_of("data", "words", "wikitext-2", "-o", "words.txt", "--vocabulary", "24", "--json", cwd=self.folder)

    def train(self, recipe, run, *words, limit="12 steps"):
        return self.cachet("train", recipe, "--run", run, *SMALL, "--set", f"train.limit={limit}", "--progress", "none", *words)

    def weights(self, run, step):
        return (self.folder / run / f"checkpoints/step-{step:08}/model.safetensors").read_bytes()

    def test_the_vocabulary_is_counted_and_ordered(self):
        lines = (self.folder / "words.txt").read_text().splitlines()
        self.assertEqual(self.made["vocabulary"], len(lines))
        self.assertEqual(len(lines), 23, "all words, <eos> and <unk>")
        self.assertEqual(lines[0], "<eos>\t121")
        self.assertEqual(lines[-1], "<unk>\t0")
        counts = [int(line.split("\t")[1]) for line in lines[1:]]
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertIn("exists", self.refused("data", "words", "wikitext-2", "-o", "words.txt", cwd=self.folder))

    def test_runs_go_on_bit_by_bit_whatever_they_remember(self):
        self.cachet("data", "words", "wikitext-2", "-o", "words.txt", "--overwrite")
        vocabulary = ["--set", "data.vocabulary=23"]
        for recipe in ("wikitext2_transformer_xl", "wikitext2_plain", "wikitext2_fifo", "wikitext2_grc", "wikitext2_grc_lane",
                       "wikitext2_grc_detached", "wikitext2_memory_tokens", "wikitext2_recurrent_memory", "wikitext2_kernel"):
            with self.subTest(recipe):
                self.train(recipe, recipe + "-whole", *vocabulary)
                self.train(recipe, recipe + "-half", *vocabulary, limit="5 steps")
                self.cachet("train", recipe + "-half", "--resume", "--set", "train.limit=12 steps", "--progress", "none")
                self.assertEqual(self.weights(recipe + "-whole", 12), self.weights(recipe + "-half", 12))
        metrics = [json.loads(line) for line in (self.folder / "wikitext2_grc-whole/metrics.jsonl").read_text().splitlines()]
        evaluation = next(event for event in metrics if "perplexity" in json.dumps(event))
        self.assertIn("share/blocks.0.attn", json.dumps(evaluation))
        compared = self.cachet("compare", "wikitext2_grc-whole", "wikitext2_plain-whole").stdout
        self.assertIn("perplexity", compared)
        page = (self.folder / "wikitext2_grc-whole/report.html").read_text()
        for part in ("Loss by position in the segment", "Perplexity over tokens", "Perplexity over time",
                     "Passages of the text, continued by the model", "tokens predicted", "What the model is trained on",
                     "Text of the first step"):
            self.assertIn(part, page)
        self.assertNotIn("5-gram's perplexity", page)

    def test_runs_can_be_looked_into(self):
        for recipe, expected in (("wikitext2_grc", {"caches", "gates", "maps", "interventions", "similarity", "kernels"}),
                                 ("wikitext2_grc_lane", {"caches", "gates", "maps", "interventions", "similarity", "kernels"}),
                                 ("wikitext2_kernel", {"similarity", "kernels"})):
            with self.subTest(recipe):
                self.train(recipe, recipe, "--set", "data.vocabulary=23", limit="4 steps")
                found = self.json_of("analyze", recipe, "--samples", "64", "--steps", "8", "--json", cwd=self.folder)["analyses"]
                self.assertEqual({word for word, results in found.items() if results}, expected)
                if "maps" in expected:
                    text = found["maps"][0]["samples"][0]
                    self.assertEqual(len(text["tokens"]), 8)
                    self.assertEqual([len(strip["activations"]) for strip in text["maps"]], [8] * 6)

    def test_what_is_evaluated_is_every_token_once(self):
        vocabulary = ["--set", "data.vocabulary=23"]
        self.train("wikitext2_transformer_xl", "run", *vocabulary)
        losses = []
        for lanes in ("1", "3"):
            said = self.json_of("eval", "run", "--json", "--set", f"task.evaluation.lanes={lanes}", cwd=self.folder)
            metrics = said["metrics"]
            self.assertAlmostEqual(metrics["perplexity"], math.exp(metrics["loss"]), places=6)
            self.assertGreater(metrics["bits_per_byte"], 0)
            losses.append(metrics["loss"])
        self.assertNotEqual(losses[0], losses[1], "lanes begin without a memory")
        self.assertIn("perplexity_stderr", metrics)
        self.assertLess(abs(metrics["perplexity_stderr"] / metrics["perplexity"] - metrics["loss_stderr"]), 1e-6)
        self.assertRegex((self.folder / "run/log.txt").read_text(),
                         r"Z (step|epoch) [0-9/]+  loss [0-9.]+  \|  validation perplexity [0-9.]+( ± [0-9.]+)? \(best .*\)  [0-9.]+[kM]? tokens/s")
        rows = self.cachet("eval", "run").stdout.splitlines()[1:]
        self.assertIn("bits_per_character", [row.split()[0] for row in rows])
        self.assertEqual(len({len(row) - len(row.lstrip().partition(" ")[2].lstrip()) for row in rows}), 1, rows)
        self.assert_evaluation_goes_on("run")
        shutil.move(self.folder / "words.txt", self.folder / "gone.txt")
        again = self.json_of("eval", "run", "--json", "--set", "task.evaluation.lanes=3", cwd=self.folder)
        self.assertEqual(again["metrics"]["loss"], losses[1], "a run has a copy of its vocabulary")

    def test_a_limit_of_an_evaluation_leaves_the_baseline_alone(self):
        self.train("wikitext2_plain", "run", "--set", "data.vocabulary=23", "--set", "task.baseline=true")
        said = lambda *words: self.json_of("eval", "run", "--json", *words, cwd=self.folder)
        test = self.folder / "wikitext-2/wiki.test.tokens"
        lines = test.read_text().splitlines(True)[:9]
        tokens = str(sum(len(line.split()) + 1 for line in lines))
        whole, few = said(), said("--limit", tokens)
        self.assertEqual(whole["segments"], whole["of"])
        self.assertLess(few["segments"], whole["of"])
        self.assertEqual(few["of"], whole["of"])
        self.assertEqual(said("--set", "data.limit=" + tokens), few)
        test.write_text("".join(lines))
        short = said()
        self.assertEqual(short["segments"], few["segments"])
        for name, value in few["metrics"].items():
            self.assertAlmostEqual(short["metrics"][name], value, places=9, msg=name)

    def test_it_writes_on_and_scores_texts(self):
        vocabulary = ["--set", "data.vocabulary=23"]
        for recipe in ("wikitext2_transformer_xl", "wikitext2_plain", "wikitext2_grc_lane", "wikitext2_recurrent_memory"):
            with self.subTest(recipe):
                run = recipe + "-run"
                self.train(recipe, run, *vocabulary)
                generate = ["generate", run, "--tokens", "30", "--seed", "3"]
                text = self.cachet(*generate, "--prompt", "word1 word2").stdout
                self.assertTrue(text.startswith("word1 word2"), text)
                self.assertGreaterEqual(len(text.split()), 20)
                self.assertEqual(self.cachet(*generate, "--prompt", "word1 word2").stdout, text, "a seed says all")
                self.assertNotEqual(self.cachet(*generate[:-1], "4", "--prompt", "word1 word2").stdout, text)
                (self.folder / "prompts.txt").write_text("word1 word2\n\nunheard of\n")
                said = [json.loads(line) for line in self.cachet(*generate, "--lines", "prompts.txt", "--json").stdout.splitlines()]
                self.assertEqual([each["prompt"] for each in said], ["word1 word2", "", "unheard of"])
                self.assertEqual("word1 word2" + said[0]["text"] + "\n", text)
                (self.folder / "mine.txt").write_text("word1 word2\n\nunheard of\n" + "word3 " * 30 + "\n")
                lines = [json.loads(line) for line in self.cachet("eval", run, "--text", "mine.txt", "--json").stdout.splitlines()]
                self.assertEqual([(line["line"], line["tokens"]) for line in lines], [(1, 3), (2, 1), (3, 3), (4, 31)])
                mean = sum(line["loss"] * line["tokens"] for line in lines) / 38
                whole = self.cachet("eval", run, "--text", "mine.txt").stdout
                self.assertIn("38 tokens", whole)
                self.assertIn(f"{math.exp(mean):.2f}"[:4], whole)
        generate = ["generate", "wikitext2_plain-run", "--tokens", "5", "--json"]
        prompts = lambda *words, **options: [json.loads(line)["prompt"] for line in self.cachet(*generate, *words, **options).stdout.splitlines()]
        self.assertEqual(prompts(stdin="word1 word2\n\nword3\n"), ["word1 word2", "", "word3"], "a pipe has prompts")
        self.assertEqual(prompts(), [""], "an empty one has none")
        self.assertEqual(prompts("--prompt", "", stdin="word1\n"), [""])
        self.assertEqual(prompts("--prompt", "word2", stdin="word1\n"), ["word2"])
        with open(self.folder / "prompts.txt") as file:
            done = subprocess.run([command.COMMAND, *generate], cwd=self.folder, stdin=file, capture_output=True, text=True)
        self.assertEqual([json.loads(line)["prompt"] for line in done.stdout.splitlines()], ["word1 word2", "", "unheard of"])
        self.assertIn("temperature", self.refused("generate", "wikitext2_plain-run", "--temperature", "-1", cwd=self.folder))
        self.assertIn("not with both", self.refused("generate", "wikitext2_plain-run", "--prompt", "a", "--lines", "b", cwd=self.folder))

    def test_a_long_line_is_scored_with_a_word_on_how_far_it_is(self):
        self.train("wikitext2_plain", "run", "--set", "data.vocabulary=23")
        (self.folder / "mine.txt").write_text("word1 word2 " * 50_000)
        code, said = command.on_terminal("eval", "run", "--text", "mine.txt", "--progress", "bar", cwd=self.folder)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"eval  tokens \d+")
        self.assertIn("100001 tokens", said)
        self.assertNotIn("eval  tokens", self.cachet("eval", "run", "--text", "mine.txt", "--progress", "none").stderr)

    def test_files_of_tokens_give_the_same_run(self):
        vocabulary = ["--set", "data.vocabulary=23"]
        self.train("wikitext2_grc", "text", *vocabulary)
        made = self.json_of("data", "tokens", "wikitext-2", "-o", "tokens", "--vocabulary-file", "words.txt", "--json", cwd=self.folder)
        self.assertEqual([file["file"] for file in made["files"]],
                         [f"tokens/{split}.tokens-cachet" for split in ("train", "validation", "test")])
        self.train("wikitext2_grc", "tokens-run", *vocabulary, "--set", "data.root=tokens")
        self.assertEqual(self.weights("text", 12), self.weights("tokens-run", 12))
        damaged = self.folder / "tokens/train.tokens-cachet"
        damaged.write_bytes(damaged.read_bytes()[:-2])
        self.assertIn("the file is truncated or damaged", self.refused("train", "wikitext2_grc", "--run", "x", *SMALL, *vocabulary, "--set",
                                                               "data.root=tokens", cwd=self.folder, code=1))

    def test_bytes_and_subwords(self):
        self.cachet("recipes", "cp", "wikitext2_grc", "bytes.toml")
        recipe = (self.folder / "bytes.toml").read_text().replace("vocabulary = 33278\n", "")
        (self.folder / "bytes.toml").write_text(recipe)
        self.cachet("train", "bytes.toml", "--run", "bytes", *SMALL[:-2], "--set", "data.tokens=bytes", "--set", "train.limit=6 steps",
                    "--progress", "none")
        generate = ["generate", "bytes", "--tokens", "200", "--temperature", "2", "--prompt", "x"]
        printed = self.cachet(*generate).stdout  # decoded as UTF-8: a model after 6 steps makes any bytes
        self.assertIn("\ufffd", printed)
        in_json = json.loads(self.cachet(*generate, "--json").stdout)["text"].replace("\r\n", "\n").replace("\r", "\n")
        self.assertEqual("x" + in_json + "\n", printed)
        metrics = self.json_of("eval", "bytes", "--json", cwd=self.folder)["metrics"]
        self.assertAlmostEqual(metrics["bits_per_byte"] * math.log(2) / metrics["loss"], 1, delta=0.01)
        folder = self.folder / "texts"
        folder.mkdir()
        (folder / "train.txt").write_text(text(120, 0))
        shutil.copy(folder / "train.txt", folder / "valid.txt")
        self.cachet("data", "subwords", "--train", "texts", "--vocabulary", "36", "--line-ends", "-o", "subwords.model")
        self.train("wikitext2_plain", "subwords", "--set", "data.root=texts", "--set", "data.tokens=subwords", "--set",
                   "data.vocabulary=36", limit="4 steps")
        self.cachet("data", "subwords", "--train", "texts", "--vocabulary", "36", "-o", "endless.model")
        self.assertIn("--line-ends", self.refused("train", "wikitext2_plain", "--run", "y", *SMALL, "--set", "data.root=texts", "--set",
                                                  "data.tokens=subwords", "--set", "data.vocabulary=36", "--set",
                                                  "data.vocabulary_file=endless.model", cwd=self.folder, code=1))

    def test_what_does_not_fit_is_said_in_a_line(self):
        refuses = lambda *words, code=1: self.refused("train", "wikitext2_transformer_xl", "--run", "z", *SMALL, *words, cwd=self.folder, lines=3,
                                                      code=code)
        self.assertIn("has 23 tokens, but the recipe has data.vocabulary = 24", refuses())
        self.assertIn("`cachet data words", refuses("--set", "data.vocabulary_file=nowhere.txt"))
        vocabulary = ["--set", "data.vocabulary=23"]
        self.assertIn("gives too many batch rows for a text", refuses(*vocabulary, "--set", "train.batch_size=1000"))
        self.assertIn("task.evaluation.lanes = 500 is too large for a text of", refuses(*vocabulary, "--set", "task.evaluation.lanes=500"))
        self.assertIn("memory_length", refuses(*vocabulary, "--set", "model.cache.kind=grc", "--set", "model.memory_length=8", code=2))
        self.assertIn("cutoffs", refuses(*vocabulary, "--set", "model.cutoffs=[12, 12]", code=2))
        (self.folder / "wikitext-2/wiki.train.tokens").write_text("")
        self.assertIn("wiki.train.tokens: the number of tokens is 0. A text needs at least two tokens", refuses(*vocabulary))
        (self.folder / "wikitext-2/wiki.train.tokens").unlink()
        self.assertIn("has no text for the split train: neither wiki.train.tokens nor train.txt", refuses(*vocabulary))


class EarlierLanguage(command.FolderTest):
    """A run of version 0.1.0: it divides bits by the whole text, although the first byte is not predicted."""

    def setUp(self):
        super().setUp()
        shutil.copytree(command.ROOT / "tests/data/saved_by_0_1_0/language/run", self.folder / "run")
        (self.folder / "texts").mkdir()
        for name, lines, first in (("train.txt", 60, 0), ("valid.txt", 12, 5), ("test.txt", 12, 9)):
            (self.folder / "texts" / name).write_text(text(lines, first))

    def evaluations(self):
        lines = map(json.loads, (self.folder / "run/metrics.jsonl").read_text().splitlines())
        return [line["metrics"] for line in lines if line["kind"] == "evaluation"]

    def test_it_keeps_its_rule_and_evaluations_have_todays(self):
        before = self.evaluations()
        said = self.cachet("train", "run", "--resume", "--set", "train.limit=9 steps", "--progress", "none").stderr
        self.assertEqual(said.count("keeps the earlier rule, task.evaluation.bits_of"), 1, said)
        after = self.evaluations()
        self.assertEqual(after[:2], before)
        size = len((self.folder / "texts/valid.txt").read_bytes())
        for metrics in after:
            self.assertAlmostEqual(metrics["bits_per_byte"], metrics["loss"] / math.log(2) * (size - 1) / size, places=12)
        self.assertAlmostEqual(after[2]["bits_per_coded_byte"], after[2]["loss"] / math.log(2), places=12)
        metrics = self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"]
        self.assertAlmostEqual(metrics["bits_per_byte"], metrics["loss"] / math.log(2), places=12)
        self.assertNotIn("bits_per_coded_byte", metrics)
        self.assertEqual(metrics["uncoded"], 0)
        said = self.cachet("train", "run", "--resume", "--set", "train.limit=12 steps", "--progress", "none").stderr
        self.assertNotIn("bits_of", said, "it was said once")


if __name__ == "__main__":
    command.main()
