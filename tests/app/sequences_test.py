"""Runs of texts, pairs, expressions and pixels: what a user gives them, and what they need of the machine they are on."""
import json
import shutil
import subprocess

import command
from runs import SMALL_ENCODER, pixels, write_png, write_reviews


class SequenceTest(command.FolderTest):
    def train(self, recipe, run, *words, limit="2 steps"):
        return self.cachet("train", recipe, "--run", run, *SMALL_ENCODER, "--set", f"train.limit={limit}", "--progress",
                           "none", *words)

    def predict(self, *words, **options):
        return [json.loads(line) for line in self.cachet("predict", *words, **options).stdout.splitlines()]

    def refusal(self, *words, code=1, **options):
        return self.refused(*words, cwd=self.folder, code=code, **options)


class Texts(SequenceTest):
    def setUp(self):
        super().setUp()
        write_reviews(self.folder / "aclImdb")
        self.train("lra_text", "run")

    def test_an_evaluation_leaves_a_line(self):
        self.assertRegex((self.folder / "run/log.txt").read_text(),
                         r"Z (step|epoch) [0-9/]+  loss [0-9.]+  train [0-9.]+ %  \|  (validation|test) [0-9.]+ .*\(best .*\)  [0-9.]+[kM]? tokens/s")

    def test_own_texts_are_classified_without_the_data(self):
        tested = self.predict("run")
        self.assertEqual(len(tested), 10)
        reviews = [f"film test {label} {number} was\tshown" for label in ("neg", "pos") for number in range(5)]
        shutil.rmtree(self.folder / "aclImdb")
        given = self.predict("run", *reviews)
        for own, of_data in zip(given, tested):
            self.assertEqual([guess["class"] for guess in own["top"]], [guess["class"] for guess in of_data["top"]])
            # A batch of one and a batch of four may add in another order.
            self.assertAlmostEqual(own["top"][0]["probability"], of_data["top"][0]["probability"], places=5)
        self.assertEqual(given[0]["text"], "film test neg 0 was\tshown")
        self.assertNotIn("label", given[0])
        self.assertEqual({guess["class"] for guess in given[0]["top"]}, {"negative", "positive"})

        (self.folder / "mine.txt").write_text("\r\n".join(reviews))
        self.assertEqual(self.predict("run", "--lines", "mine.txt"), given)
        self.assertEqual(self.predict("run", "--lines", "-", stdin="\n".join(reviews) + "\n"), given)
        self.predict("run", "--lines", "mine.txt", "-o", "out.jsonl")
        out = self.folder / "out.jsonl"
        lines = out.read_text().splitlines()
        out.write_text("\n".join(lines[:3]) + "\n" + lines[3][:9])
        self.assertIn("out.jsonl holds 3 predictions; resuming",
                      self.cachet("predict", "run", "--lines", "mine.txt", "-o", "out.jsonl").stderr)
        self.assertEqual(out.read_text().splitlines(), lines)

    def test_long_texts_are_cut_and_strange_bytes_are_bytes(self):
        done = self.cachet("predict", "run", "x" * 200, "y" * 64)
        self.assertEqual(done.stderr, "1 sequence was longer than data.max_length and was truncated\n")
        first = json.loads(done.stdout.splitlines()[0])
        self.assertEqual(first["text"], "x" * 59 + "…")
        self.assertEqual(first["top"], self.predict("run", "x" * 64)[0]["top"])
        (self.folder / "strange.txt").write_bytes(b"\xff\x00\xc3(\n")
        self.assertEqual(len(self.predict("run", "--lines", "strange.txt")), 1)

    def test_a_line_is_answered_before_the_next_one_is_there(self):
        with subprocess.Popen([command.COMMAND, "predict", "run", "--lines", "-"], cwd=self.folder, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for text in ("one", "two"):
                process.stdin.write(text + "\n")
                process.stdin.flush()
                self.assertEqual(json.loads(process.stdout.readline())["text"], text)
            process.stdin.close()
        self.assertEqual(process.returncode, 0)

    def test_refusals_name_the_place(self):
        (self.folder / "mine.txt").write_text("good\n\nbad\n")
        done = command.run("predict", "run", "--lines", "mine.txt", cwd=self.folder)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (1, 1), "what was said before stays")
        self.assertIn("mine.txt:2: the text is empty", done.stderr)
        self.assertIn("'': the text is empty", self.refusal("predict", "run", ""))
        self.assertIn("'xxxx", self.refusal("predict", "run", "x" * 70, "--set", "data.too_long=refuse"))
        self.assertIn("nowhere.txt: opening failed", self.refusal("predict", "run", "--lines", "nowhere.txt"))
        self.assertIn("aclImdb: reading failed: Is a directory", self.refusal("predict", "run", "--lines", "aclImdb"))
        self.assertIn("not in both", self.refusal("predict", "run", "a text", "--lines", "mine.txt", code=2))
        self.assertIn("to classify the lines of the file, use --lines mine.txt", self.cachet("predict", "run", "mine.txt").stderr)
        (self.folder / "mine.txt").rename(self.folder / "my own.txt")
        self.assertIn("--lines 'my own.txt'\n", self.cachet("predict", "run", "my own.txt").stderr)

    def test_an_evaluation_goes_on_from_its_records(self):
        records = self.assert_evaluation_goes_on("run")
        self.assertEqual(sorted(record["sample"] for record in records), list(range(10)))

    def test_evaluation_on_other_reviews(self):
        write_reviews(self.folder / "others", train=1, test=3)
        said = self.json_of("eval", "run", "--data", "others", "--json", cwd=self.folder)
        self.assertEqual(said["sequences"], 6)
        self.assertIn("the reviews must be in the folders train and test",
                      self.refusal("eval", "run", "--data", "others/test"))


class Subwords(SequenceTest):
    WORDS = ["--set", "data.subword_model=sub.model", "--set", "data.vocabulary=40"]

    def setUp(self):
        super().setUp()
        write_reviews(self.folder / "aclImdb")
        self.make_model("sub.model", "40")

    def make_model(self, name, vocabulary, kind="bpe"):
        self.cachet("data", "subwords", "--train", "aclImdb/train", "--vocabulary", vocabulary, "--type", kind, "-o", name)

    def test_a_run_goes_everywhere_with_its_own_model(self):
        self.train("lra_text_subwords", "run", *self.WORDS)
        self.assertEqual((self.folder / "run/subwords.model").read_bytes(), (self.folder / "sub.model").read_bytes())
        said = self.predict("run", "film never shown")
        evaluated = self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"]
        (self.folder / "sub.model").unlink()
        (self.folder / "elsewhere").mkdir()
        (self.folder / "run").rename(self.folder / "elsewhere/moved")
        self.assertEqual(self.predict("elsewhere/moved", "film never shown"), said)
        self.assertEqual(self.json_of("eval", "elsewhere/moved", "--json", cwd=self.folder)["metrics"], evaluated)
        self.train_on("elsewhere/moved")
        strange = self.folder / "strange.txt"
        strange.write_bytes(b"film \xff\xfe shown\n")
        self.assertIn("2 bytes that are not UTF-8 were read as U+FFFD. A subword model reads this character as a space",
                      self.cachet("predict", "elsewhere/moved", "--lines", "strange.txt").stderr)

    def train_on(self, run):
        self.cachet("train", run, "--resume", "--set", "train.limit=4 steps", "--progress", "none")

    def test_another_model_is_refused_wherever_it_comes_from(self):
        self.train("lra_text_subwords", "run", *self.WORDS)
        self.make_model("small.model", "35")
        self.cachet("data", "subwords", "--train", "aclImdb/train/neg", "--vocabulary", "40", "-o", "other.model")
        for verb in (["eval", "run"], ["predict", "run", "a film"]):
            self.assertIn("has a vocabulary of 35 tokens, but data.vocabulary is 40",
                          self.refusal(*verb, "--set", "data.subword_model=small.model"))
            self.assertIn("other.model: is not the subword model of the recipe: data.vocabulary_hash is ",
                          self.refusal(*verb, "--set", "data.subword_model=other.model"))
        resume = ["train", "run", "--resume", "--set", "train.limit=4 steps"]
        self.assertIn("data.subword_model", self.refusal(*resume, "--set", "data.subword_model=other.model", lines=5))
        shutil.copy(self.folder / "other.model", self.folder / "run/subwords.model")
        for verb in (["eval", "run"], ["predict", "run", "a film"], resume):
            self.assertIn("run/subwords.model: is not the subword model of the recipe: data.vocabulary_hash is ",
                          self.refusal(*verb))
        (self.folder / "run/subwords.model").write_bytes(b"hello")
        self.assertIn("run/subwords.model: is not a SentencePiece model", self.refusal("predict", "run", "a film"))

    def test_seeds_keep_it_too(self):
        words = ["train", "lra_text_subwords", "--seeds", "2", "--run", "seeds", *SMALL_ENCODER, *self.WORDS, "--progress",
                 "none", "--set"]
        self.cachet(*words, "train.limit=2 steps")
        model = (self.folder / "sub.model").read_bytes()
        (self.folder / "sub.model").unlink()
        for seed in ("seed-0", "seed-1"):
            self.assertEqual((self.folder / "seeds" / seed / "subwords.model").read_bytes(), model)
        self.cachet("train", "seeds", "--resume", "--set", "train.limit=3 steps", "--progress", "none")
        self.assertEqual(len(self.predict("seeds/seed-1", "a film")), 1)


class Pairs(SequenceTest):
    def test_two_texts_with_a_tab_between_them(self):
        write_reviews(self.folder / "aclImdb")
        self.cachet("data", "matching", "--imdb", "aclImdb", "-o", "pairs")
        self.assertIn("there is no new_aan_pairs.eval.tsv in",
                      self.refusal("train", "lra_matching", "--set", "data.root=pairs"))
        self.assertIn('set data.files = "imdb_pairs"',
                      self.refusal("train", "lra_matching", "--set", "data.root=pairs"))
        self.train("lra_matching", "run", "--set", "data.root=pairs", "--set", "data.files=imdb_pairs")
        rows = [row.split("\t") for row in (self.folder / "pairs/imdb_pairs.test.tsv").read_text().splitlines()]
        tested = self.predict("run")
        self.assertEqual(len(tested), len(rows))
        given = self.predict("run", "--lines", "-", stdin="\n".join(f"{row[3]}\t{row[4]}" for row in rows))
        for own, of_data in zip(given, tested):
            self.assertAlmostEqual(own["top"][0]["probability"], of_data["top"][0]["probability"], places=5)
        self.assertEqual({guess["class"] for guess in given[0]["top"]}, {"different", "matching"})
        self.assertIn("'one text': a sample must be two texts with one tab between them",
                      self.refusal("predict", "run", "one text"))


class Expressions(SequenceTest):
    def test_an_expression_with_or_without_parentheses(self):
        self.cachet("data", "listops", "-o", "listops", "--train", "40", "--validation", "10", "--test", "10",
                    "--longer-than", "5", "--shorter-than", "40", "--progress", "none")
        self.train("lra_listops_bigbird_cached", "run")
        one, two, three = self.predict("run", "( ( ( [MIN 6 ) 7 ) ] )", "[MIN 6 7 ]", "7", "--top", "3")
        self.assertEqual(one["top"], two["top"])
        self.assertEqual((len(three["top"]), three["text"]), (3, "7"))
        self.assertIn("1 '[' is never closed", self.refusal("predict", "run", "[MIN 6 7"))
        self.assertIn("'[AVG' is not a digit", self.refusal("predict", "run", "[AVG 6 7 ]"))


class Pixels(SequenceTest):
    def test_images_of_any_size(self):
        folder = self.folder / "cifar-10-batches-bin"
        folder.mkdir()
        for name in [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]:
            records = b"".join(bytes([label]) + bytes((label * 20 + place) % 256 for place in range(3072))
                               for label in range(10))
            (folder / f"{name}.bin").write_bytes(records)
        self.train("lra_image", "run")
        write_png(self.folder / "small.png", 8, 8, pixels(1))
        prediction, = self.predict("run", "small.png")
        self.assertEqual((prediction["file"], len(prediction["top"])), ("small.png", 5))
        self.assertIn("frog", [guess["class"] for guess in self.predict("run", "small.png", "--top", "10")[0]["top"]])
        self.assertIn("run/recipe.toml", self.refusal("predict", "run", "run/recipe.toml"))


if __name__ == "__main__":
    command.main()
