"""Numbers on the command line: every option that takes one takes it word for word, or refuses it with these words."""
import re

import command

# What --help calls a number, and options with several.
NUMBERS = {"N", "K", "P", "X", "A", "B", "S", "SHARE"}
LISTS = {("bench", "--batch"), ("bench", "--threads")}
TOO_LARGE = "99999999999999999999999"
NO_NUMBERS = ("", "0x10")
MORE_OF_THEM = (" ", "x", "5x", " 5", "1_000", "1'000", "--", "nan", "inf", "1e999", TOO_LARGE)


class Numbers(command.FolderTest):
    def options(self, *words):
        """(command, option, type) of a command and its subcommands."""
        text = self.cachet(*words, "--help").stdout.split("\nExamples:")[0]
        for line in text.splitlines():
            if found := re.match(r"\s+(?:-\w,)?(--[\w-]+) ([A-Z]+)\b", line):
                yield words, found[1], found[2]
            elif found := re.match(r"  ([a-z]+)  ", line):
                yield from self.options(*words, found[1])

    def test_every_number_is_taken_word_for_word(self):
        numbers = [(words, option) for words, option, kind in self.options()
                   if option != "--seeds" and (kind in NUMBERS or (*words, option) in LISTS)]
        self.assertGreater(len(numbers), 45, numbers)
        self.assertIn((("data", "pairs"), "--held-out"), numbers)
        for words, option in numbers:
            # Each of them for a whole number, a real one and a list.
            for value in (*NO_NUMBERS, *(MORE_OF_THEM if option in ("--seconds", "--last", "--batch") else ())):
                with self.subTest(command=words, option=option, value=value):
                    given = [f"{option}={value}"] if value else [option, ""]
                    said = self.refused(*words, *given, cwd=self.folder, lines=4)
                    self.assertIn(option, said)
                    if value.strip():
                        self.assertIn(f"not '{value}'", said)

    def test_seeds(self):
        for value in (TOO_LARGE, "-1", "9223372036854775808"):
            said = self.refused("train", "demo_plain", f"--seed={value}", cwd=self.folder)
            self.assertIn(f"must be a whole number from 0 to 9223372036854775807, not '{value}'", said)
        for value in ("", TOO_LARGE):
            for verb, recipe in (("train", "demo_plain"), ("sweep", "sweeps/cache_ratio")):
                self.assertIn("--seeds", self.refused(verb, recipe, "--seeds", value, cwd=self.folder))
        # Zeros before a number do not make it one of another base, nor does a sign make it a text.
        made = [self.json_of("data", "listops", "-o", f"made-{seed}", "--train", "4", "--validation", "1", "--test", "1",
                             "--threads", "1", "--seed", seed, "--progress", "none", "--json", cwd=self.folder)
                for seed in ("010", "10", "+10")]
        rows = [(self.folder / f"made-{seed}/basic_train.tsv").read_text() for seed in ("010", "10", "+10")]
        self.assertEqual((rows[0], rows[2]), (rows[1], rows[1]), made)

    def test_empty_values_are_refused(self):
        for words in (["train", "demo_plain", "--run"], ["eval", "run", "--data"], ["eval", "run", "-o"],
                      ["predict", "run", "--lines"], ["sweep", "x", "--seeds"], ["data", "words", "x", "-o"]):
            words.append("")
            self.assertIn("must not be empty", self.refused(*words, cwd=self.folder))

    def test_settings_say_the_number(self):
        for setting, said in (("train.seed=" + TOO_LARGE, "must be an integer from -2^63 to 2^63 - 1, not " + TOO_LARGE),
                              ("optimizer.lr=1e999", "must be a finite number, not 1e999"),
                              ("train.batch_size=1.5", "must be an integer"), ("train.batch_size=", "the value is missing"),
                              ("train.seed=-1", "not -1")):
            self.assertIn(said, self.refused("train", "demo_plain", "--print", "--set", setting, cwd=self.folder))


if __name__ == "__main__":
    command.main()
