"""data.normalize: composed and decomposed spellings of one text, through every command that reads text."""
import json
import unicodedata

import command
from language_test import SMALL
from translate_test import RECIPE, WORDS, pair

TONES = ["\u1ec7", "\u1eb9", "\u1ed1", "\u01b0\u01a1", "\u1eed", "\xe0", "\u1ea5"]
NORMALIZED = ["--set", "data.normalize=nfc"]


def decomposed(text):
    return unicodedata.normalize("NFD", text)


class TextForms(command.FolderTest):
    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def test_language_models_read_both_alike(self):
        text = "".join(" ".join("v" + TONES[(line + place * place) % 7] for place in range(1 + line % 9)) + "\n" for line in range(120))
        for name in ("train", "valid"):
            self.write(f"text/{name}.txt", text)
        self.write("text/test.txt", decomposed(text))
        self.write("given/train.txt", decomposed(text))
        self.cachet("data", "words", "given", "-o", "words.txt", "--normalize", "nfc")
        self.cachet("data", "words", "given", "-o", "decomposed.txt")
        self.assertEqual((self.folder / "words.txt").read_text(), unicodedata.normalize("NFC", (self.folder / "decomposed.txt").read_text()))
        recipe = ["wikitext2_plain", *SMALL, "--set", "data.vocabulary=9", "--set", "model.cutoffs=[4]", "--set", "data.root=text",
                  "--set", "train.limit=8 steps", "--set", "task.held_out=test", "--progress", "none"]
        self.cachet("train", *recipe, "--run", "run", *NORMALIZED)
        self.cachet("train", *recipe, "--run", "plain")
        loss = {}
        for name, spelling in (("composed", text), ("decomposed", decomposed(text))):
            self.write(name, spelling)
            for run in ("run", "plain"):
                said = self.cachet("eval", run, "--text", name, "--json").stdout.splitlines()
                loss[run, name] = [json.loads(line)["loss"] for line in said]
        self.assertEqual(loss["run", "composed"], loss["run", "decomposed"])
        self.assertNotEqual(loss["plain", "composed"], loss["plain", "decomposed"])
        generate = ["generate", "run", "--tokens", "20", "--seed", "1", "--json"]
        written = [json.loads(self.cachet(*generate, "--prompt", prompt).stdout)["text"] for prompt in ("v\u1ec7 v\u1eb9", decomposed("v\u1ec7 v\u1eb9"))]
        self.assertEqual(*written)
        said = self.refused("train", *recipe, "--run", "other", *NORMALIZED, "--set", "data.vocabulary_file=decomposed.txt",
                            cwd=self.folder, code=1)
        self.assertIn("is not in the form of data.normalize, nfc; make the vocabulary with --normalize nfc", said)
        self.cachet("data", "tokens", "text", "-o", "tokens", "--vocabulary-file", "words.txt", "--normalize", "nfc")
        self.cachet("train", *recipe, "--run", "tokens-run", *NORMALIZED, "--set", "data.root=tokens")
        weights = [(self.folder / run / "checkpoints/step-00000008/model.safetensors").read_bytes() for run in ("run", "tokens-run")]
        self.assertEqual(*weights)
        said = self.refused("train", *recipe, "--run", "other", "--set", "data.root=tokens", cwd=self.folder, code=1)
        self.assertIn('was made with --normalize nfc, but the recipe has data.normalize = "none"', said)
        # A run is not resumed with another form, whose words may be the same.
        said = self.refused("train", "plain", "--resume", *NORMALIZED, "--set", "train.limit=9 steps", cwd=self.folder, code=1, lines=5)
        self.assertIn('data.normalize: "none" -> "nfc"', said)

    def test_translation_reads_and_writes_one_form(self):
        odd = lambda text: text.replace("a", "\u1eb9").replace("b", "\u1ed1")
        for stem, numbers in (("train", range(150)), ("valid", range(150, 180)), ("test", range(180, 200))):
            for side, language in enumerate(("de", "en")):
                text = odd("".join(pair(n)[side] + "\n" for n in numbers))
                self.write(f"pairs/{stem}.{language}", text if stem == "train" else decomposed(text))
        self.write("pairs/words.txt", odd("<eos>\t9\n" + "".join(f"{language}{word}\t5\n" for language in "ab" for word in range(WORDS)) +
                                          "<unk>\t0\n"))
        self.write("tiny.toml", RECIPE)
        self.cachet("train", "tiny.toml", "--run", "run", "--progress", "none", *NORMALIZED)
        self.assertGreater(self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"]["bleu"], 60,
                           "references are in the form, too")
        composed = odd("".join(pair(n)[0] + "\n" for n in range(180, 200)))
        translated = self.cachet("translate", "run", stdin=composed).stdout
        self.assertEqual(translated, self.cachet("translate", "run", "pairs/test.de").stdout)
        self.assertEqual(translated, unicodedata.normalize("NFC", translated))
        self.assertNotEqual(translated, self.cachet("translate", "run", "pairs/test.de", "--set", "data.normalize=none").stdout)
        self.assertIn("data.normalize", self.refused("train", "tiny.toml", "--run", "x", "--set", "data.normalize=nfd", cwd=self.folder))


if __name__ == "__main__":
    command.main()
