"""What stands on a terminal: within its width, in the signs that it knows."""
import pty
import unittest

import command
from command import on_terminal
from runs import RunTest, write_png

UTF8 = {"LANG": "C.UTF-8"}
TABLES = [["recipes"], ["keys", "model.cache"], ["models", "deit*"], ["data", "ls"], ["summary", "vit_tiny_patch16_224", "--depth", "2"]]
LONGEST_WORD = 24  # a longer one of a sentence may be broken


def has_terminals():
    try:
        pty.openpty()
        return True
    except OSError:
        return False


@unittest.skipUnless(has_terminals(), "no pseudo-terminals")
class Terminal(RunTest):
    def shown(self, *words, **options):
        code, text = on_terminal(*words, cwd=self.folder, **options)
        self.assertEqual(code, 0, text)
        return text

    def assert_fits(self, text, columns):
        for line in text.splitlines():
            self.assertLessEqual(len(line), columns, text)

    def test_tables_keep_to_the_width(self):
        for words in TABLES:
            whole = {word for word in self.succeed(*words, cwd=self.folder).stdout.split()
                     if len(word) <= LONGEST_WORD and "/" not in word and "─" not in word}
            for columns in (60, 80, 120):
                with self.subTest(" ".join(words), columns=columns):
                    text = self.shown(*words, columns=columns, **UTF8)
                    self.assert_fits(text, columns)
                    if "There is no room here" not in text:
                        self.assertEqual(whole - set(text.split()), set(), text)

    def test_help_keeps_to_the_width(self):
        for words in (["--help"], ["predict", "--help"], ["summary", "--help"]):
            text = self.shown(*words, **UTF8)
            options = text[:text.find("\nExamples:")]  # those are lines to type
            self.assert_fits(options, 80)
            self.assertEqual(text.split(), self.succeed(*words).stdout.split())

    def test_texts_are_wrapped_and_not_cut(self):
        lines = self.shown("recipes", "imagenet_swin_tiny", **UTF8).splitlines()[2:]
        start = lines[0].index("Swin-T")
        self.assertGreater(len(lines), 1)
        wrapped = " ".join(line[start:] for line in lines)
        self.assertIn(wrapped, self.succeed("recipes", "imagenet_swin_tiny").stdout)
        self.assertTrue(wrapped.endswith("95.5 % top-5"), wrapped)

    def test_what_is_left_out_is_named_and_can_be_seen(self):
        text = self.shown("bench", "vit_tiny_patch16_224", "--mode", "infer", "--seconds", "0.001", "--progress", "none", "--set",
                          "model.depth=1", "--batch", "1,2,3,4,5,6,7,8,9,10", columns=60, **UTF8)
        self.assert_fits(text, 60)
        self.assertRegex(text.replace("\n", " "), r"There is no room here for: .*quartiles.*; --wide shows all")
        self.assertIn("samples/s", text)

    def test_wide_is_what_a_pipe_gets(self):
        for words in TABLES:
            with self.subTest(" ".join(words)):
                self.assertEqual(self.shown(*words, "--wide", **UTF8), self.succeed(*words, cwd=self.folder).stdout)

    def test_columns_of_the_environment_count(self):
        narrow = self.shown("recipes", columns=200, COLUMNS="70", **UTF8)
        self.assertEqual(narrow, self.shown("recipes", columns=70, **UTF8))
        self.assertEqual(self.shown("recipes", columns=70, COLUMNS="many", **UTF8), narrow)

    def test_without_utf8_all_is_ascii(self):
        self.train("run")
        self.train("other", "--set", "model.cache.kind=none", "--seed", "3")
        for words in (*TABLES, ["summary", "--table", "paper"], ["compare", "run", "other"], ["eval", "run"], ["--help"], ["predict", "--help"],
                      ["train", "tiny.toml", "--run", "third", "--set", "train.limit=4 steps"]):
            with self.subTest(" ".join(words)):
                text = self.shown(*words, LANG="C")
                self.assertTrue(text.isascii(), text)
        comparison = ["compare", "many", "run"]
        self.train("many", "--seeds", "2", "--set", "model.cache.kind=none")
        self.assertIn("+-", self.shown(*comparison, LANG="C"))
        self.assertIn("±", self.shown(*comparison, **UTF8))
        code, said = on_terminal("train", "tiny.toml", "--run", "short", "--set", "train.max_hours=1e-9",
                                 cwd=self.folder, LANG="C")
        self.assertTrue(said.isascii(), said)
        self.assertIn("--set train.max_hours=...", said)

    def test_comparisons_keep_to_the_width(self):
        self.train("run")
        self.train("a run of a longer name", "--set", "model.cache.kind=none", "--seed", "3")
        for columns in (60, 80, 120):
            text = self.shown("compare", "run", "a run of a longer name", columns=columns, **UTF8)
            self.assert_fits(text, columns)
            self.assertIn("top-1", text)
            self.assertIn("model.cache.kind", text)

    def test_predictions_are_a_table_on_a_terminal(self):
        self.train("run")
        lines = self.succeed("predict", "run", cwd=self.folder).stdout.splitlines()
        self.assertEqual(len(lines), 33)
        for columns in (24, 60, 120):
            rows = self.shown("predict", "run", "--progress", "none", columns=columns, **UTF8).splitlines()
            rows = [row for row in rows if not row.startswith("answering")]
            self.assertRegex(rows[0], r"^sample +class +prediction$")
            self.assertEqual(len(rows), 34)
            self.assertRegex(rows[1], r"^0 +0 +\d \d+\.\d %")
            if columns >= 60:
                self.assert_fits("\n".join(rows), columns)
        self.assertGreater(rows[1].count("%"), 2, "more of them where there is room")
        for words in (["--json"], ["--logits"]):
            self.assertIn('{"index":0,', self.shown("predict", "run", *words, **UTF8))
        write_png(self.folder / "Bäume.png", 8, 8, bytes(64))
        shown = self.shown("predict", "run", "Bäume.png", **UTF8).splitlines()
        self.assertRegex(shown[0], r"^sample +prediction$")
        self.assertRegex(shown[1], r"^Bäume.png +\d \d+\.\d %")

    def test_names_of_a_user_stay(self):
        (self.folder / "Bäume").mkdir()
        code, said = on_terminal("eval", "Bäume", cwd=self.folder, LANG="C")
        self.assertEqual(code, 1)
        self.assertIn("Bäume: ", said)


if __name__ == "__main__":
    command.main()
