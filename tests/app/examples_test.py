"""Every subcommand's --help has examples, and each of them runs."""
import re
import shlex
import tempfile

import command

# What keeps an example small. Commands whose examples read data or runs have tests of their own, with such data.
QUICK = {"summary": [], "models": [], "keys": [], "env": [], "bench": ["--seconds", "0.001", "--set", "model.depth=2", "--progress", "none"]}


def subcommands(*names):
    text = command.run(*names, "--help").stdout
    return re.findall(r"^  ([a-z]+)  +\S", text, re.MULTILINE)


def examples(*names):
    text = command.run(*names, "--help").stdout
    return [line.strip() for line in text.partition("Examples:")[2].splitlines() if line.strip()]


class Examples(command.CommandTest):
    def test_every_subcommand_has_two_or_three(self):
        names = subcommands()
        self.assertLessEqual(set(QUICK), set(names))
        for name in names:
            with self.subTest(name):
                lines = examples(name)
                self.assertIn(len(lines), (2, 3, 4))
                for line in lines:
                    self.assertEqual(shlex.split(line)[:2], ["cachet", name])

    def test_each_kind_of_data_has_its_own(self):
        for kind in subcommands("data"):
            with self.subTest(kind):
                lines = examples("data", kind)
                self.assertIn(len(lines), (1, 2))
                for line in lines:
                    self.assertEqual(shlex.split(line)[:3], ["cachet", "data", kind])
                    self.assert_options_exist(line, "data", kind)

    def test_each_runs(self):
        for name, quick in QUICK.items():
            for line in examples(name):
                with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                    done = self.succeed(*shlex.split(line)[1:], *quick, cwd=folder)
                    self.assertNotEqual(done.stdout, "")
                    notes = [line for line in done.stderr.splitlines() if not line.startswith("bfloat16 is slower")]
                    self.assertEqual(notes, [])

    def test_no_example_has_an_option_that_is_not_there(self):
        for name in subcommands():
            for line in examples(name):
                if name != "data":  # whose kinds have options of their own
                    with self.subTest(line):
                        self.assert_options_exist(line, name)

    def assert_options_exist(self, line, *names):
        known = re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", command.run(*names, "--help").stdout.partition("Examples:")[0])
        for word in shlex.split(line):
            if word.startswith("-") and len(word) > 1:
                self.assertIn(word.partition("=")[0], known)


if __name__ == "__main__":
    command.main()
