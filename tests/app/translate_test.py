"""Translation from a folder of text: training that continues bit by bit, evaluation, lines of every kind, bad input."""
import json
import shutil

import command

WORDS = 10
RECIPE = """[task]
kind = "translation"
[task.evaluation]
beam = 3
[data]
source = "de"
target = "en"
tokens = "words"
vocabulary = 22
vocabulary_file = "words.txt"
max_length = 8
max_tokens = 200
workers = 0
root = "pairs"
[model]
name = "transformer_translation_small"
embed_dim = 32
encoder_depth = 1
decoder_depth = 1
encoder_heads = 2
decoder_heads = 2
encoder_mlp_dim = 64
decoder_mlp_dim = 64
dropout = 0.0
[train]
epochs = 40
threads = 1
log_every = "20 steps"
seed = 1
[optimizer]
lr = 0.01
[schedule]
kind = "inverse_sqrt"
warmup = "20 steps"
"""


def pair(number):
    words = [(number * 7 + place * (1 + number % 3)) % WORDS for place in range(1 + number % 5)]
    return " ".join(f"a{word}" for word in words), " ".join(f"b{word}" for word in words)


def write_pairs(folder, train=range(150), valid=range(150, 180), test=range(180, 200)):
    """The pairs of these numbers, and the vocabulary of both languages."""
    folder.mkdir(exist_ok=True)
    for stem, numbers in (("train", train), ("valid", valid), ("test", test)):
        for side, language in enumerate(("de", "en")):
            (folder / f"{stem}.{language}").write_text("".join(pair(number)[side] + "\n" for number in numbers))
    (folder / "words.txt").write_text(
        "<eos>\t9\n" + "".join(f"{language}{word}\t5\n" for language in "ab" for word in range(WORDS)) + "<unk>\t0\n")


class Translate(command.FolderTest):
    def setUp(self):
        super().setUp()
        write_pairs(self.folder / "pairs")
        (self.folder / "tiny.toml").write_text(RECIPE)

    def train(self, run, *settings, resume=False):
        settings = [word for setting in settings for word in ("--set", setting)]
        where = [run, "--resume"] if resume else ["tiny.toml", "--run", run]
        return self.cachet("train", *where, "--progress", "none", *settings)

    def test_it_learns_goes_on_and_translates_every_line(self):
        self.train("run")
        self.assertRegex((self.folder / "run/log.txt").read_text(),
                         r"Z (epoch|step) [0-9/]+  loss [0-9.]+  \|  (validation|test) BLEU [0-9.]+ ± [0-9.]+ \(best .*\)  "
                         r"perplexity [0-9.]+( ± [0-9.]+)?  [0-9.]+[kM]? target tokens/s")
        metrics = self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"]
        self.assertGreater(metrics["bleu"], 60)
        test = "".join(pair(n)[0] + "\n" for n in range(180, 200))
        translated = self.cachet("translate", "run", "pairs/test.de").stdout
        for name in ("bleu_stderr", "chrf_stderr"):
            self.assertIn(name, metrics)
        # `score` gives the numbers and signatures of `eval`.
        (self.folder / "hyp").write_text(translated)
        scored = self.json_of("score", "hyp", "pairs/test.en", "--json", cwd=self.folder)
        signatures = self.json_of("eval", "run", "--json", cwd=self.folder)["signatures"]
        for name in ("bleu", "chrf"):
            self.assertAlmostEqual(scored[name]["score"], metrics[name], places=9)
            self.assertAlmostEqual(scored[name]["stderr"], metrics[name + "_stderr"], places=9)
            self.assertEqual(scored[name]["signature"], signatures[name])
            self.assertIn(f"  {name}: {signatures[name]}\n", self.cachet("eval", "run").stdout)
        records = self.assert_evaluation_goes_on("run")
        texts = {record["sample"]: record["text"] for record in records if "text" in record}
        self.assertEqual((len(records), [texts[line] for line in range(20)]), (40, translated.splitlines()))
        self.assertEqual(translated, self.cachet("translate", "run", stdin=test).stdout)
        right = sum(line == pair(n)[1] for line, n in zip(translated.splitlines(), range(180, 200)))
        self.assertGreater(right, 10, translated)
        # A run has a copy of its vocabulary.
        shutil.rmtree(self.folder / "pairs")
        odd = "a1 a2\n\n   \n" + "a3 " * 10000 + "\n\x01\x1b[0m\na4\x00a5\nnobody said this\na6"
        done = self.cachet("translate", "run", stdin=odd)
        self.assertEqual(len(done.stdout.split("\n")), len(odd.split("\n")) + 1)
        self.assertEqual(done.stdout.split("\n")[1:3], ["", ""])
        self.assertIn("note: 1 line has more than 8 tokens, the maximum length of a sentence in training (line 4)", done.stderr)
        said = [json.loads(line) for line in
                self.cachet("translate", "run", "--json", "--n-best", "2", "--lines-at-once", "3", stdin=odd).stdout.splitlines()]
        self.assertEqual([each["line"] for each in said], list(range(1, 9)))
        self.assertEqual([len(each["translations"]) for each in said], [2, 0, 0, 2, 2, 2, 2, 2])
        self.assertEqual(said[0]["translations"][0]["text"], done.stdout.split("\n")[0])
        self.assertEqual(said[7]["source"], "a6")
        rows = [line.split("\t") for line in self.cachet("translate", "run", "--n-best", "2", stdin="a1 a2\n\na3\n").stdout.splitlines()]
        self.assertEqual([row[0] for row in rows], ["1", "1", "2", "3", "3"])
        self.assertEqual(rows[2], ["2", "", ""])
        draw = ["translate", "run", "--sample", "--temperature", "4", "--seed", "2"]
        drawn = self.cachet(*draw, stdin="a1 a2 a3\n" * 6).stdout
        self.assertEqual(drawn, self.cachet(*draw, stdin="a1 a2 a3\n" * 6).stdout)
        self.assertGreater(len(set(drawn.splitlines())), 2)
        bad = (self.folder / "bad.txt")
        bad.write_bytes(b"a1 \xff\xfe\na2\n")
        self.assertEqual(len(self.cachet("translate", "run", "bad.txt").stdout.splitlines()), 2)
        for words, text in ((["--beam", "2", "--n-best", "3"], "--n-best 3 is larger than the beam size of 2; give --beam 3, too"),
                            (["--sample", "--beam", "3"], "--beam and --sample cannot be combined"),
                            (["--temperature", "0.7"], "--temperature works only with --sample"),
                            (["--seed", "3"], "--seed works only with --sample"),
                            (["--sample", "--temperature", "-1"], "temperature")):
            self.assertIn(text, self.refused("translate", "run", *words, cwd=self.folder))
        self.assertIn("nowhere.txt", self.refused("translate", "run", "nowhere.txt", cwd=self.folder, code=1))

    def test_an_evaluation_looks_at_the_whole_split_unless_it_is_asked_for_less(self):
        self.train("run", "train.limit=20 steps", "task.evaluation.limit=3")
        page = (self.folder / "run/report.html").read_text()
        for part in ("of 3 of 30 validation sentences", "3, the first of 30"):
            self.assertIn(part, page)
        said = lambda *words: self.json_of("eval", "run", "--json", *words, cwd=self.folder)
        whole = said()
        self.assertEqual((whole["sentences"], whole["of"]), (20, 20))
        self.assertIn("20 test sentences", self.cachet("eval", "run").stdout)
        few = said("--limit", "3")
        self.assertEqual((few["sentences"], few["of"]), (3, 20))
        self.assertNotEqual(few["metrics"]["loss"], whole["metrics"]["loss"])
        for words in (["--set", "task.evaluation.limit=3"], ["--set", "data.limit=3"], ["--set", "data.limit=9", "--limit", "3"],
                      ["--set", "data={limit=3}"]):
            self.assertEqual(said(*words), few, words)
        self.assertIn("3 of 20 test sentences", self.cachet("eval", "run", "--limit", "3").stdout)
        # The file's first sentences, as an evaluation of a file that has no more.
        for language in ("de", "en"):
            lines = (self.folder / f"pairs/test.{language}").read_text().splitlines(True)
            (self.folder / f"pairs/test.{language}").write_text("".join(lines[:3]))
        self.assertEqual(said()["metrics"], few["metrics"])
        self.assertEqual(said("--limit", "7")["of"], 3)
        for words in (["--limit", "0"], ["--limit", "-1"], ["--limit", "x"]):
            self.assertIn("--limit", self.refused("eval", "run", *words, cwd=self.folder))

    def test_a_limit_of_the_data_defines_the_data_of_a_run(self):
        self.train("run", "train.limit=2 steps", "data.limit=7", "task.evaluation.limit=3")
        said = self.json_of("eval", "run", "--json", cwd=self.folder)
        self.assertEqual((said["sentences"], said["of"]), (7, 20))
        self.assertIn("7 of 20 test sentences", self.cachet("eval", "run").stdout)
        self.assertEqual(self.json_of("eval", "run", "--json", "--limit", "9", cwd=self.folder), said)
        self.assertEqual(self.json_of("eval", "run", "--json", "--set", "data.limit=0", cwd=self.folder)["sentences"], 20)
        self.assertIn("of 3 of 30 validation sentences", (self.folder / "run/report.html").read_text())

    def test_runs_go_on_bit_by_bit(self):
        weights = lambda run: (self.folder / run / "checkpoints/step-00000009/model.safetensors").read_bytes()
        accumulate, cache = "train.accumulate=3", "model.cache.kind=grc"
        self.train("whole", "train.limit=9 steps", accumulate, cache)
        self.train("half", "train.limit=4 steps", accumulate, cache)
        self.train("half", "train.limit=9 steps", resume=True)
        self.assertEqual(weights("whole"), weights("half"))

    def test_other_tasks_do_not_translate(self):
        said = self.refused("generate", self.made_run(), cwd=self.folder)
        self.assertIn("a task of kind 'translation' cannot generate text", said)

    def made_run(self):
        self.train("short", "train.limit=1 steps")
        return "short"


if __name__ == "__main__":
    command.main()
