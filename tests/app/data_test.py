"""Data sets of long sequences: what the makers write, what they refuse."""
import gzip
import hashlib
import lzma
import os
import pathlib
import tempfile
from unittest import mock

import command
from runs import write_reviews

FEW = ["--train", "200", "--validation", "20", "--test", "10", "--longer-than", "20", "--shorter-than", "100"]


class ListOps(command.CommandTest):
    def test_files_depend_on_the_seed_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.json_of("data", "listops", "-o", "a", *FEW, "--threads", "1", "--json", cwd=folder)
            self.assertEqual(list(said), ["schema", "folder", "train", "validation", "test", "draws", "values",
                                          "operators", "lengths"])
            self.assertEqual(sum(said["values"]), 230)
            self.assertEqual(list(said["operators"]), ["MIN", "MAX", "MED", "SM"])
            self.assertEqual(sum(said["lengths"]["counts"]), 230)
            self.succeed("data", "listops", "-o", "b", *FEW, "--threads", "2", cwd=folder)
            self.succeed("data", "listops", "-o", "c", *FEW, "--seed", "1", cwd=folder)
            root = pathlib.Path(folder)
            for name, rows in (("basic_train.tsv", 200), ("basic_val.tsv", 20), ("basic_test.tsv", 10)):
                text = (root / "a" / name).read_text()
                self.assertEqual(len(text.splitlines()), rows + 1)
                self.assertTrue(text.startswith("Source\tTarget\n( ( ("))
                self.assertEqual(text, (root / "b" / name).read_text())
                self.assertNotEqual(text, (root / "c" / name).read_text())

    def test_a_table_and_the_folder_without_json(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.succeed("data", "listops", "-o", "a", *FEW, "--progress", "none", cwd=folder)
            self.assertTrue(done.stdout.endswith("\na\n"))
            self.assertIn("operator", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_refusals(self):
        with tempfile.TemporaryDirectory() as folder:
            self.succeed("data", "listops", "-o", "a", *FEW, cwd=folder)
            self.assertIn("a: exists already", self.refused("data", "listops", "-o", "a", *FEW, code=1, cwd=folder))
            self.assertIn("--arguments must be from 2 to 1000",
                          self.refused("data", "listops", "-o", "b", "--arguments", "1", cwd=folder))
            self.assertIn("--output is required", self.refused("data", "listops", cwd=folder))
            self.assertIn("did you mean '--depth'?", self.refused("data", "listops", "-o", "b", "--dpth", "3", cwd=folder))
            self.assertIn("choose fewer expressions", self.refused("data", "listops", "-o", "b", "--depth", "2", "--arguments", "2",
                                                        "--longer-than", "3", "--shorter-than", "5", code=1, lines=12,
                                                        cwd=folder))
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["a"])


class Matching(command.CommandTest):
    def test_pairs_of_reviews(self):
        with tempfile.TemporaryDirectory() as folder:
            write_reviews(pathlib.Path(folder) / "imdb")
            said = self.json_of("data", "matching", "--imdb", "imdb", "-o", "pairs", "--json", cwd=folder)
            self.assertEqual(said, {"schema": 1, "folder": "pairs", "train": 72, "evaluation": 8, "test": 20,
                                    "reviews_left_out": 0, "reviews_repeated": 0, "notes": []})
            rows = (pathlib.Path(folder) / "pairs/imdb_pairs.test.tsv").read_text().splitlines()
            self.assertEqual(len(rows), 20)
            for row in rows:
                label, first, second, text1, text2 = row.split("\t")
                self.assertEqual(label == "1", first.split("#")[0] == second.split("#")[0])
                self.assertTrue(text1.startswith("film test") and text2.endswith("shown"))
            done = self.succeed("data", "matching", "--imdb", "imdb", "-o", "more", "--seed", "2", cwd=folder)
            self.assertEqual(done.stdout, "72 pairs to train with, 8 to evaluate with, 20 to test with\nmore\n")

    def test_refusals(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "imdb").mkdir()
            self.assertIn("imdb/train/neg", self.refused("data", "matching", "--imdb", "imdb", "-o", "a", code=1,
                                                         cwd=folder))
            self.assertIn("--evaluation", self.refused("data", "matching", "--imdb", "imdb", "-o", "a", "--evaluation",
                                                       "1", cwd=folder))
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["imdb"])


class Subwords(command.CommandTest):
    def test_a_model_of_the_training_reviews(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write_reviews(root / "imdb")
            words = ["data", "subwords", "--train", "imdb/train", "--vocabulary", "40"]
            said = self.json_of(*words, "-o", "a.model", "--json", cwd=folder)
            self.assertEqual(list(said), ["schema", "file", "texts", "bytes_replaced", "notes", "vocabulary", "hash"])
            self.assertEqual((said["texts"], said["vocabulary"]), (40, 40))
            self.assertEqual(said["hash"], hashlib.sha256((root / "a.model").read_bytes()).hexdigest())
            done = self.succeed(*words, "-o", "b.model", cwd=folder)
            self.assertEqual(done.stdout, f"40 pieces of 40 texts, hash {said['hash']}\nb.model\n")
            self.assertEqual(done.stderr, "")
            self.succeed(*words[:-1], "28", "-o", "c.model", "--type", "unigram", cwd=folder)
            self.assertIn("--overwrite", self.refused(*words, "-o", "a.model", cwd=folder))
            self.assertIn(f"name {folder}/imdb/train", self.refused("data", "subwords", "--train", "imdb", "-o", "d.model", code=1,
                                                          cwd=folder))
            self.assertIn("use a --vocabulary of at most ", self.refused("data", "subwords", "--train", "imdb/train", "-o", "d.model",
                                                         code=1, cwd=folder))
            self.assertIn("--type", self.refused(*words, "-o", "d.model", "--type", "words", cwd=folder))
            self.assertFalse((root / "d.model").exists())


class List(command.CommandTest):
    def test_what_recipes_read(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "aclImdb").mkdir()
            listed = self.json_of("data", "ls", "--json", cwd=folder)
            self.assertEqual(list(listed), ["schema", "data"])
            for data in listed["data"]:
                not_compared = ["not_compared"] if "not_compared" in data else []
                looked_into = [] if data["found"] is None else ["overlaps", *not_compared, "passed_over"]
                self.assertEqual(list(data), ["kind", "root", "found", "files", "recipes", *looked_into])
            self.assertLessEqual({"cifar10", "class_folders", "imdb", "listops"}, {data["kind"] for data in listed["data"]})
            recipes = self.json_of("recipes", "--json")["recipes"]
            self.assertEqual(sorted(name for data in listed["data"] for name in data["recipes"]),
                             [recipe["name"] for recipe in recipes])
            imdb, = (data for data in listed["data"] if data["kind"] == "imdb")
            self.assertEqual((imdb["root"], imdb["found"]), ("aclImdb", str(root / "aclImdb")))
            self.assertIn("neg and pos", imdb["files"])
            self.assertTrue(all(data["found"] is None for data in listed["data"] if data["kind"] == "listops"))

            table = self.succeed("data", "ls", "[il]*", cwd=folder).stdout
            self.assertIn(str(root / "aclImdb"), table, "which of those by that name is found is said whole")
            self.assertIn("CACHET_DATA", table)
            self.assertNotIn("cifar", table)
            self.assertNotIn("CACHET_DATA", self.succeed("data", "ls", "imdb", cwd=folder).stdout)
        self.assertIn("did you mean 'listops' or 'listops-short'?", self.refused("data", "ls", "listop"))

    def test_a_broken_recipe_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine.toml").write_text("[data]\nkind = 'imdb'\n")
            os.environ["CACHET_RECIPES"] = folder
            self.addCleanup(os.environ.pop, "CACHET_RECIPES")
            done = self.succeed("data", "ls", "imdb")
            self.assertIn("mine is left out", done.stderr)
            self.assertIn("aclImdb", done.stdout)


class Pairs(command.CommandTest):
    def test_a_table_becomes_splits(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            rows = "".join(f"sentence {i}\tSatz {i}{'ab'[j]}\tCC\n" for i in range(50) for j in range(2))
            with lzma.open(root / "all.tsv.xz", "wt") as out:
                out.write(rows + "alone\t\tCC\nsentence 3\tSatz 3a\tCC\n")
            words = ["data", "pairs", "all.tsv.xz", "--columns", "en,de,-", "--held-out", "5"]
            said = self.json_of(*words, "-o", "out", "--json", cwd=folder)
            self.assertEqual(said, {"schema": 1, "folder": "out", "train": 80, "validation": 10, "test": 10, "sentences": 50,
                                    "groups": 50, "largest_group": 2, "left_out_empty": 1, "left_out_repeated": 1, "left_out_byte_order_mark": False})
            read = lambda name: (root / "out" / name).read_text().splitlines()
            self.assertEqual(sorted(path.name for path in (root / "out").iterdir()),
                             ["test.de", "test.en", "train.de", "train.en", "valid.de", "valid.en"])
            for split in ("train", "valid", "test"):
                for english, german in zip(read(split + ".en"), read(split + ".de"), strict=True):
                    self.assertEqual(english.split()[1], german.split()[1][:-1])
            self.assertFalse(set(read("train.en")) & set(read("valid.en") + read("test.en")))
            self.assertIn("--overwrite", self.refused(*words, "-o", "out", cwd=folder))
            done = self.succeed(*words, "-o", "out", "--overwrite", "--seed", "4", cwd=folder)
            self.assertEqual(done.stdout, "80 pairs to train with, 10 to validate with, 10 to test with\npairs that share a sentence form "
                                          "a group, which stays in one split: 50 groups; the largest has 2 pairs\nleft out: 1 row with an "
                                          "empty side\nleft out: 1 row that repeats another row\nout\n")
            (root / "out/mine").write_text("")
            self.assertIn("its contents are not an output of this command", self.refused(*words, "-o", "out", "--overwrite", cwd=folder))
            self.assertIn("--columns", self.refused("data", "pairs", "all.tsv.xz", "--columns", "en,fr", "--by", "de", "-o", "b", cwd=folder))
            self.assertIn("all.tsv.xz:1: 3 columns", self.refused("data", "pairs", "all.tsv.xz", "--columns", "en,de", "-o", "b", code=1,
                                                                  cwd=folder))
            self.assertFalse((root / "b").exists())

    def test_subwords_and_tokens_of_both_sides(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            with gzip.open(root / "train.de.gz", "wt") as out:
                out.write("".join(f"der kleine Satz {i}\n" for i in range(30)))
            (root / "train.en").write_text("".join(f"the small sentence {i}\n" for i in range(30)))
            said = self.json_of("data", "subwords", "--train", "train.de.gz", "--train", "train.en", "--vocabulary", "40",
                                "--line-ends", "-o", "subwords.model", "--json", cwd=folder)
            self.assertEqual((said["texts"], said["vocabulary"]), (60, 40))
            some = self.json_of("data", "subwords", "--train", "train.de.gz", "--train", "train.en", "--vocabulary", "34",
                                "--most", "20", "-o", "some.model", "--json", cwd=folder)
            self.assertEqual(some["texts"], 20)
            words = ["data", "tokens", ".", "-o", ".", "--source", "de", "--target", "en"]
            made = self.json_of(*words, "--json", cwd=folder)
            self.assertEqual([pathlib.Path(file["file"]).name for file in made["files"]],
                             ["train.de.tokens-cachet", "train.en.tokens-cachet"])
            self.assertEqual({file["hash"] for file in made["files"]}, {said["hash"]})
            self.assertIn("--overwrite", self.refused(*words, cwd=folder))
            self.assertIn("both languages", self.refused("data", "tokens", ".", "-o", ".", "--source", "de", cwd=folder))
            self.assertIn("words or subwords", self.refused(*words, "--tokens", "bytes", cwd=folder))
            self.assertIn("for translation", self.refused("data", "tokens", ".", "-o", ".", "--files", "news", cwd=folder))
            self.assertIn("--line-ends", self.refused(*words, "--vocabulary-file", "some.model", "--overwrite", code=1, cwd=folder))
            (root / "train.en").write_text("one\n")
            self.assertIn("its line 2 has no translation", self.refused(*words, "--overwrite", code=1, cwd=folder))


class TextsGiven(command.FolderTest):
    """Texts are looked for here, then below CACHET_DATA, as the data of recipes are."""

    def setUp(self):
        super().setUp()
        self.data, self.here = self.folder / "data", self.folder / "here"
        for folder in (self.data / "corpus", self.here):
            folder.mkdir(parents=True)
        write_reviews(self.data / "imdb")
        for name in ("train.txt", "train.de", "train.en"):
            (self.data / "corpus" / name).write_text("".join(f"the small sentence {i}\n" for i in range(30)))
        (self.data / "pairs.tsv").write_text("".join(f"sentence {i}\tSatz {i}\n" for i in range(9)))

    def commands(self):
        yield ["words", "corpus", "-o", "words.txt"]
        yield ["subwords", "--train", "corpus/train.txt", "--vocabulary", "40", "--line-ends", "-o", "subwords.model"]
        yield ["tokens", "corpus", "-o", "tokens"]
        yield ["tokens", "corpus", "--source", "de", "--target", "en", "-o", "tokens"]
        yield ["pairs", "pairs.tsv", "--columns", "en,de", "--held-out", "2", "-o", "split"]
        yield ["matching", "--imdb", "imdb", "-o", "matching"]

    def test_they_are_found_below_the_folder_of_data(self):
        with mock.patch.dict(os.environ, CACHET_DATA=str(self.data)):
            for words in self.commands():
                with self.subTest(words):
                    self.succeed("data", *words, cwd=self.here)

    def test_a_text_without_a_word_makes_no_vocabulary(self):
        (self.here / "train.txt").write_text("")
        self.assertIn("train.txt: holds no text", self.refused("data", "words", "train.txt", "-o", "words.txt", code=1, cwd=self.here))
        self.assertFalse((self.here / "words.txt").exists())

    def test_what_is_nowhere_is_said_with_the_places_looked_at(self):
        with mock.patch.dict(os.environ, CACHET_DATA="/none"):
            for words in self.commands():
                with self.subTest(words):
                    said = self.refused("data", *words, code=1, cwd=self.here)
                    self.assertRegex(said, r"there is no (file|folder|file or folder) /\S+ or /none/")


class Words(command.CommandTest):
    def test_a_subcommand_is_needed(self):
        self.assertIn("See `cachet data --help`", self.refused("data"))
        self.assertIn("cachet data: there is no command 'listop' (did you mean 'listops'?)",
                      self.refused("data", "listop", "-o", "a"))


if __name__ == "__main__":
    command.main()
