"""The messages of language and translation commands about input that is wrong, huge or odd, and the part of it that they use."""
import json
import unicodedata

import command
from language_test import text
from text_models_test import LANGUAGE
from translate_test import RECIPE, pair, write_pairs

MEGABYTES = 10_000_000
NFC, NFD = (lambda said: unicodedata.normalize("NFC", said)), (lambda said: unicodedata.normalize("NFD", said))
MARK = "\ufeff"


class TextMistakes(command.FolderTest):
    def refuses(self, *words, code=1, lines=2, **options):
        return self.refused(*words, cwd=self.folder, code=code, lines=lines, **options)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return name

    def train(self, recipe, run, *settings, limit="1 steps"):
        return self.cachet("train", recipe, "--run", run, "--progress", "none", "--set", f"train.limit={limit}",
                           *(word for setting in settings for word in ("--set", setting)))

    def scored(self, run, file):
        return [(line["line"], line["tokens"]) for line in
                map(json.loads, self.cachet("eval", run, "--text", file, "--json").stdout.splitlines())]

    def make_corpus(self, *more):
        for name, lines, first in (("train", 120, 0), ("valid", 20, 5), ("test", 21, 9)):
            self.write(f"corpus/{name}.txt", text(lines, first))
        self.write("language.toml", LANGUAGE)
        self.cachet("data", "words", "corpus", "-o", "corpus/words.txt")

    def make_pairs(self):
        write_pairs(self.folder / "pairs")
        self.write("translation.toml", RECIPE)

    def test_a_line_of_ten_megabytes_of_a_language_model(self):
        self.make_corpus()
        self.write("corpus/train.txt", text(60, 0) + "word1 word2 " * (MEGABYTES // 12) + "\n" + text(60, 0))
        said = self.train("language.toml", "run")
        events = (self.folder / "run/log.txt").read_text() + said.stdout + said.stderr
        self.assertIn("tokens of", events)
        # One word, blanks alone, and words: each line is one, and nothing is lost.
        self.write("mine.txt", "word1\n" + "x" * MEGABYTES + "\n" + " " * MEGABYTES + "\nword2 word3\n")
        self.assertEqual(self.scored("run", "mine.txt"), [(1, 2), (2, 2), (3, 1), (4, 3)])
        self.write("long.txt", "word1 " * 20000 + "\nword2\n")
        self.assertEqual(self.scored("run", "long.txt"), [(1, 20001), (2, 2)])
        self.write("longer.txt", "word1\n" + "x" * (1 << 24) + "y\n")
        self.assertIn("longer.txt:2: the line is longer than 16777216 bytes", self.refused_behind_a_line("eval", "run", "--text", "longer.txt"))

    def refused_behind_a_line(self, *words):
        done = command.run(*words, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_a_line_of_ten_megabytes_of_a_translation(self):
        self.make_pairs()
        for side, language in enumerate(("de", "en")):
            self.write(f"pairs/train.{language}", "".join(pair(n)[side] + "\n" for n in range(100)) +
                       f"{'ab'[side]}1 " * (MEGABYTES // 3) + "\n")
        said = self.train("translation.toml", "run")
        self.assertIn("1 longer than data.max_length", said.stdout + said.stderr + (self.folder / "run/log.txt").read_text())
        lines = "a1 a2\n" + "x" * MEGABYTES + "\n" + " " * MEGABYTES + "\na3\n"
        done = self.cachet("translate", "run", "--beam", "1", stdin=lines).stdout.split("\n")
        self.assertEqual((len(done), done[2], done[4]), (5, "", ""))
        self.write("longer.txt", "a1\n" + "x" * (1 << 24) + "y\n")
        self.assertIn("longer.txt:2: the line is longer than 16777216 bytes", self.refused_behind_a_line("translate", "run", "longer.txt"))

    def test_characters_are_kept_as_they_are_given(self):
        """Vietnamese composed and decomposed, a mark that stands alone, a byte-order mark: words like any other."""
        word = "\u0111\u01b0\u1eddng"
        forms = [NFC(word), NFD(word), MARK + NFC(word), "\u0323"]
        self.assertEqual(len(set(forms)), 4)
        self.make_corpus()
        self.write("corpus/words.txt", "<eos>\t9\n" + "".join(f"{form}\t5\n" for form in forms) + "<unk>\t0\n")
        body = MARK + (" ".join([NFC(word), NFD(word), "\u0323"]) + "\n") * 40
        for split in ("train", "valid", "test"):
            self.write(f"corpus/{split}.txt", body)
        said = self.train("language.toml", "run", "data.vocabulary=6", "model.cutoffs=[]", limit="2 steps")
        log = said.stdout + said.stderr + (self.folder / "run/log.txt").read_text()
        self.assertIn("begins with a byte-order mark, which is not removed", log)
        self.assertNotIn("of them unknown", log)
        self.write("mine.txt", "".join(form + "\n" for form in forms) + "e\u0323\n")
        self.assertEqual(self.scored("run", "mine.txt"), [(number, 2) for number in range(1, 6)])
        written = self.cachet("generate", "run", "--prompt", " ".join(forms), "--tokens", "3", "--seed", "1").stdout
        self.assertTrue(written.startswith(" ".join(forms)), written)

        # The same of translations: source and reference are the file's, in its own form.
        self.make_pairs()
        self.write("pairs/words.txt", "<eos>\t9\n" + "".join(f"{form}\t5\n" for form in forms) + "<unk>\t0\n")
        for split in ("train", "valid", "test"):
            self.write(f"pairs/{split}.de", MARK + f"{NFC(word)} \u0323\n" * 30)
            self.write(f"pairs/{split}.en", f"{NFD(word)} {NFD(word)} {NFD(word)} {NFD(word)}\n" * 30)
        said = self.train("translation.toml", "vi", "data.vocabulary=6", limit="120 steps")
        self.assertIn("de: the text begins with a byte-order mark, which is not removed", said.stdout + said.stderr + (self.folder / "vi/log.txt").read_text())
        lines = self.cachet("translate", "vi", stdin=f"{NFC(word)} \u0323\n{MARK}{NFC(word)}\n").stdout.splitlines()
        self.assertEqual(lines[0], " ".join([NFD(word)] * 4))
        self.assertAlmostEqual(self.json_of("eval", "vi", "--json", cwd=self.folder)["metrics"]["bleu"], 100)
        # The reference in the other form is another text.
        self.write("pairs/test.en", f"{NFC(word)} {NFC(word)} {NFC(word)} {NFC(word)}\n" * 30)
        self.assertEqual(self.json_of("eval", "vi", "--json", cwd=self.folder)["metrics"]["bleu"], 0)
        said = [json.loads(line) for line in self.cachet("translate", "vi", "--json", stdin=f"{MARK}{NFC(word)}\n").stdout.splitlines()]
        self.assertEqual(said[0]["source"], MARK + NFC(word))

    def test_prompts_longer_than_the_model_takes(self):
        self.make_corpus()
        prompt = "word1 word2 word3 " * 700
        for number, memory in enumerate(([], ["model.memory_length=0", "model.cache.kind=grc"], ["model.memory_length=0"],
                                         ["model.memory_length=0", "model.memory_tokens=2", "model.memory_tokens_recurrent=true"])):
            with self.subTest(memory):
                self.train("language.toml", f"run{number}", *memory)
                self.write("prompts.txt", prompt + "\nword1\n")
                said = [json.loads(line) for line in self.cachet("generate", f"run{number}", "--lines", "prompts.txt", "--tokens", "3",
                                                                 "--temperature", "0", "--json").stdout.splitlines()]
                self.assertEqual(len(said), 2)
                self.assertEqual(said[0]["prompt"], prompt)
                self.assertTrue(said[0]["text"])

    def test_empty_files_and_files_that_do_not_belong_together(self):
        self.make_corpus()
        self.train("language.toml", "run")
        self.write("empty.txt", "")
        self.assertIn("empty.txt: holds no text", self.refuses("eval", "run", "--text", "empty.txt"))
        self.assertEqual(self.cachet("eval", "run", "--text", "empty.txt", "--json").stdout, "")
        self.assertEqual(self.cachet("generate", "run", "--lines", "empty.txt", "--tokens", "2").stdout, "")
        (self.folder / "latin.txt").write_bytes(b"plain\nZ\xfcrich\nB\xfccher\n")
        done = self.cachet("generate", "run", "--lines", "latin.txt", "--tokens", "2")
        self.assertIn("note: line 2 and 1 other line are not UTF-8; the output has U+FFFD for each wrong byte\n", done.stderr)
        self.assertIn("Z\ufffdrich", done.stdout)
        self.write("corpus/valid.txt", "")
        again = ["train", "language.toml", "--run", "x"]
        self.assertIn("corpus/valid.txt: the number of tokens is 0", self.refuses(*again))
        self.write("corpus/valid.txt", "word1 word2\n")
        self.write("corpus/words.txt", "")
        self.assertIn("words.txt: contains no words", self.refuses(*again))
        self.write("corpus/words.txt", "word1\t3\n<unk>\t0\n")
        self.assertIn("words.txt:1: must be <eos>", self.refuses(*again))

        self.make_pairs()
        self.train("translation.toml", "pairs-run")
        self.assertEqual(self.cachet("translate", "pairs-run", "empty.txt").stdout, "")
        self.write("pairs/train.en", "b1\n")
        again = ["train", "translation.toml", "--run", "x"]
        self.assertIn("train.en: has 1 line, but", self.refuses(*again))
        for language in ("de", "en"):
            self.write(f"pairs/train.{language}", "")
        self.assertIn("train.de: is empty, and so is", self.refuses(*again))
        for language in ("de", "en"):
            self.write(f"pairs/train.{language}", "\n\n")
        self.assertIn("pairs", self.refuses(*again))

    def test_another_vocabulary_and_tokens_beyond_it(self):
        self.make_corpus()
        self.train("language.toml", "run")
        self.cachet("data", "tokens", "corpus", "-o", "corpus", "--vocabulary-file", "corpus/words.txt")
        file = self.folder / "corpus/train.tokens-cachet"
        whole = file.read_bytes()
        for place, said in ((40, "the checksum is wrong"), (-1, "its table of checksums is damaged"),
                            (162, "tokens 0 to")):
            content = bytearray(whole)
            content[place] ^= 1
            file.write_bytes(content)
            said_now = self.refuses("train", "language.toml", "--run", "x", lines=4)
            self.assertIn(said, said_now)
            self.assertIn("make the file again with `cachet data tokens`", said_now)
        # A file of the first version: no checksums, and a note.
        tokens = int.from_bytes(whole[24:32], "little")
        first = bytearray(b"CACHTOK1" + whole[8:12] + (128).to_bytes(4, "little") + whole[16:112] + bytes(16)
                          + whole[160:160 + 2 * tokens])
        file.write_bytes(first)
        self.assertIn("has no checksums", self.train("language.toml", "old").stderr)
        first[-2:] = b"\xff\xff"
        file.write_bytes(first)
        self.assertIn("is 65535, but the vocabulary has only 23", self.refuses("train", "language.toml", "--run", "beyond", lines=5))
        other = (self.folder / "corpus/words.txt").read_text().replace("word1\t", "other\t")
        self.write("others.txt", other)
        self.assertIn("is not the vocabulary of the recipe", self.refuses("eval", "run", "--set", "data.vocabulary_file=others.txt"))
        for stem in ("train", "validation", "test"):
            (self.folder / f"corpus/{stem}.tokens-cachet").unlink(missing_ok=True)
        # Subwords: one model instead of another of as many pieces.
        folder = self.folder / "corpus"
        make = ["data", "subwords", "--line-ends", "--vocabulary", "36"]
        self.cachet(*make, "--train", "corpus", "-o", "corpus/subwords.model")
        self.write("else/train.txt", text(80, 3).replace("word", "drow"))
        self.cachet(*make, "--train", "else", "-o", "other.model")
        subwords = ["data.tokens=subwords", "data.vocabulary=36", "data.vocabulary_file=subwords.model"]
        self.train("language.toml", "pieces", *subwords)
        for verb in (["eval", "pieces"], ["generate", "pieces", "--prompt", "word1"]):
            self.assertIn("is not the vocabulary of the recipe", self.refuses(*verb, "--set", "data.vocabulary_file=other.model"))
        (self.folder / "pieces/vocabulary").write_bytes((self.folder / "other.model").read_bytes())
        self.assertIn("pieces/vocabulary: is not the vocabulary of the recipe", self.refuses("eval", "pieces"))
        (folder / "subwords.model").write_bytes(b"no model")
        self.assertIn("is not a SentencePiece model", self.refuses("train", "language.toml", "--run", "x", *(word for each in subwords for word in ("--set", each))))


if __name__ == "__main__":
    command.main()
