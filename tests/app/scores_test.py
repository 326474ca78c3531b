"""Scores and weights that are NaN or infinite: no command makes an answer of them. A sentence and exit code 1, for every kind of task and decoder."""
import shutil

import checkpoints
import command
import detection_test
from language_test import text
from runs import RECIPE, SMALL_ENCODER, write_images, write_reviews
from text_models_test import LANGUAGE
from translate_test import RECIPE as TRANSLATION
from translate_test import write_pairs

SCORES = "the model's scores are NaN or infinite"
WEIGHTS = "has values that are NaN or infinite"
# Of single precision, so that sums of its products are infinite.
HUGE = 3e38


class Scores(command.FolderTest):
    def refuses(self, *words, said):
        # Before the sentence `predict` prints the folder of the data, and `analyze` its progress.
        lines = self.refused(*words, cwd=self.folder, code=1, lines=4).splitlines()
        self.assertIn(said, lines[-1])
        self.assertEqual(sum("cachet " in line for line in lines), 1, lines)

    def hold(self, run, head, answering, reading):
        """Commands that answer meet finite weights of the head `head` that give no finite scores; these and the ones that only read, a NaN."""
        checkpoint = checkpoints.only_checkpoint(self.folder / run)
        kept = self.folder / "kept"
        shutil.copytree(checkpoint, kept)
        checkpoints.fill(checkpoint, head, HUGE)
        for words in answering:
            with self.subTest(words, weights="huge"):
                self.refuses(*words, said=SCORES)
        shutil.rmtree(checkpoint)
        shutil.copytree(kept, checkpoint)
        names = checkpoints.fill(checkpoint, head, float("nan"), count=1)
        for words in [*answering, *reading]:
            with self.subTest(words, weights="NaN"):
                self.refuses(*words, said=WEIGHTS)
                self.refuses(*words, said=f"model.safetensors: '{names[0]}'")
        done = command.run("bench", run, "--mode", "infer", "--seconds", "0.001", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"'{names[0]}' {WEIGHTS}", done.stderr)
        for path in ("out.safetensors", "cleaned", "exported", "out.jsonl"):
            self.assertFalse((self.folder / path).exists(), path)

    def reading(self, run):
        return [["clean", run, "-o", "out.safetensors"], ["clean", run, "-o", "cleaned"],
                ["average", run, "--last", "1"], ["average", run, "--last", "1", "-o", "out.safetensors"],
                ["export", run, "-o", "exported", "--engine", "torch"], ["export", run, "-o", "out.safetensors"],
                ["analyze", run, "--what", "similarity"]]

    def test_images(self):
        write_images(self.folder / "images")
        (self.folder / "tiny.toml").write_text(RECIPE)
        self.cachet("train", "tiny.toml", "--run", "run", "--progress", "none", "--set", "train.limit=4 steps")
        (self.folder / "one.png").write_bytes(b"")
        self.hold("run", lambda name: name in ("head.weight", "patch_embed.proj.weight"),
                  [["eval", "run"], ["eval", "run", "-o", "records"], ["predict", "run"], ["predict", "run", "--logits"]],
                  [*self.reading("run"), ["analyze", "run", "--what", "maps"],
                   ["export", "run", "-o", "exported", "--engine", "onnx"]])

    def test_sequences(self):
        write_reviews(self.folder / "aclImdb")
        self.cachet("train", "lra_text", "--run", "run", *SMALL_ENCODER, "--set", "train.limit=2 steps", "--progress", "none")
        self.hold("run", lambda name: "head" in name and name.endswith("weight"),
                  [["eval", "run"], ["predict", "run"], ["predict", "run", "a text"]], self.reading("run"))

    def test_detection(self):
        self.cachet("data", "shapes", "-o", "shapes", "--train", "8", "--validation", "4", "--height", "64", "--width", "64")
        (self.folder / "mask.toml").write_text(detection_test.RECIPE)
        tables = [table for table in detection_test.RECIPE.split("\n[")
                  if not table.startswith(("model.rpn_head", "model.roi_head"))]
        (self.folder / "retina.toml").write_text("\n[".join(tables).replace("mask_rcnn", "retinanet"))
        image = "shapes/images/val/" + sorted(path.name for path in (self.folder / "shapes/images/val").iterdir())[0]
        for recipe, heads in (("mask", ("roi_head.bbox_head.fc_cls.weight", "roi_head.bbox_head.fc_reg.weight",
                                        "rpn_head.rpn_cls.weight")),
                              ("retina", ("bbox_head.retina_cls.weight", "bbox_head.retina_reg.weight"))):
            for number, head in enumerate(heads):
                run = f"{recipe}-{number}"
                self.cachet("train", f"{recipe}.toml", "--run", run, "--progress", "none", "--set", "train.limit=2 steps")
                self.hold(run, lambda name: name == head,
                          [["eval", run], ["predict", run], ["predict", run, image], ["eval", run, "-o", f"records-{run}"]],
                          self.reading(run) if number == 0 else [])
                shutil.rmtree(self.folder / "kept")

    def write_texts(self):
        (self.folder / "corpus").mkdir()
        for name, lines, first in (("train", 120, 0), ("valid", 20, 5), ("test", 21, 9)):
            (self.folder / f"corpus/{name}.txt").write_text(text(lines, first))
        write_pairs(self.folder / "pairs", range(120), range(5, 25), range(9, 30))
        (self.folder / "translation.toml").write_text(TRANSLATION)
        (self.folder / "language.toml").write_text(LANGUAGE)
        self.cachet("data", "words", "corpus", "-o", "corpus/words.txt")

    def test_texts(self):
        self.write_texts()
        train = lambda recipe, run: self.cachet("train", recipe, "--run", run, "--progress", "none", "--set", "train.limit=3 steps")
        train("language.toml", "writer")
        (self.folder / "mine.txt").write_text("word1 word2\n")
        # Equal rows of an output give equal scores, which a softmax takes: what stands before it is to overflow, too.
        output = lambda name: (name.startswith("output") or "norm" in name) and name.endswith("weight")
        self.hold("writer", output,
                  [["eval", "writer"], ["eval", "writer", "--text", "mine.txt"], ["eval", "writer", "-o", "records"],
                   ["generate", "writer", "--prompt", "word1", "--json"], ["generate", "writer", "--temperature", "0", "--json"]],
                  self.reading("writer"))
        shutil.rmtree(self.folder / "kept")
        train("translation.toml", "translator")
        self.hold("translator", output,
                  [["eval", "translator"], ["translate", "translator", "pairs/test.de"],
                   ["translate", "translator", "pairs/test.de", "--beam", "1"],
                   ["translate", "translator", "pairs/test.de", "--sample"],
                   ["translate", "translator", "pairs/test.de", "--sample", "--temperature", "0"]],
                  self.reading("translator"))


if __name__ == "__main__":
    command.main()
