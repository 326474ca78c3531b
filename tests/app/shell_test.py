"""Help by name, and scripts with which shells complete commands."""
import functools
import re
import shutil
import subprocess

import command


@functools.cache
def commands(*names):
    """The commands that the help of these names lists."""
    text = command.run(*names, "--help").stdout
    return re.findall(r"^  ([a-z]+)  +\S", text, re.MULTILINE)


@functools.cache
def options(*names):
    text = command.run(*names, "--help").stdout.partition("Examples:")[0]
    return set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", text))


class Help(command.CommandTest):
    def test_it_is_that_of_the_command(self):
        self.assertEqual(self.succeed("help").stdout, self.succeed("--help").stdout)
        for name in commands():
            self.assertEqual(self.succeed("help", name).stdout, self.succeed(name, "--help").stdout)
        for kind in commands("data"):
            self.assertEqual(self.succeed("help", "data", kind).stdout, self.succeed("data", kind, "--help").stdout)

    def test_a_name_that_is_none(self):
        self.assertIn("there is no command 'trian' (did you mean 'train'", self.refused("help", "trian"))
        self.assertIn("there is no command 'wrods' (did you mean 'words'", self.refused("help", "data", "wrods"))
        self.assertIn("has no subcommands", self.refused("help", "train", "words"))

    def test_descriptions_fit_a_terminal(self):
        for names in [(), *((name,) for name in commands()), *(("data", kind) for kind in commands("data"))]:
            code, text = command.on_terminal(*names, "--help", LANG="C.UTF-8")
            self.assertEqual(code, 0)
            for line in text.partition("\nExamples:")[0].splitlines():
                self.assertLessEqual(len(line), 80, line)


# What zsh offers, a line each: the functions stand for its builtins, which exist only while a user edits a line.
ZSH = """
compdef() { : }
compadd() { [[ $1 == -- ]] && shift; print -rl -- "$@" }
_describe() { print -rl -- "${(@)${(@P)2}%%:*}" }
_files() { print -r -- FILES }
source $1; shift
words=("$@") CURRENT=$#
_cachet
"""


class OtherShells(command.FolderTest):
    def script(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        file = self.folder / f"cachet.{shell}"
        file.write_text(self.cachet("completion", shell).stdout)
        return file

    def zsh(self, script, *words):
        """What zsh chooses from to complete the last of these words."""
        (self.folder / "offer.zsh").write_text(ZSH)
        done = subprocess.run(["zsh", "-f", "offer.zsh", script, "cachet", *words], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_zsh(self):
        script = self.script("zsh")
        self.assertEqual(sorted(self.zsh(script, "")), sorted(commands()))
        self.assertEqual(sorted(self.zsh(script, "data", "")), sorted(commands("data")))
        for names in [*((name,) for name in commands()), *(("data", kind) for kind in commands("data"))]:
            with self.subTest(names):
                self.assertEqual({word for word in self.zsh(script, *names, "--") if word.startswith("--")}, options(*names))
        self.assertEqual(self.zsh(script, "train", "demo_plain", "--progress", ""), ["auto", "bar", "plain", "none"])
        self.assertEqual(self.zsh(script, "train", "--seed", ""), [], "the user knows the number")
        self.assertEqual(self.zsh(script, "eval", "my-run", "--output", ""), ["FILES"])
        for word, *names in (("fashion_mnist_plain", "train"), ("deit_tiny_patch16_224", "summary"), ("fish", "completion")):
            self.assertIn(word, self.zsh(script, *names, ""))

    def test_fish(self):
        script = self.script("fish")

        def completed(*lines):
            """What fish offers for each of these lines."""
            text = f"source {script}; " + "; ".join(f'echo "= {number}"; complete -C "cachet {line}"' for number, line in enumerate(lines))
            done = subprocess.run(["fish", "--no-config", "-c", text], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            offered = re.split(r"(?m)^= [0-9]+\n", done.stdout)[1:]
            return [[line.partition("\t")[0] for line in each.splitlines()] for each in offered]

        self.assertEqual([sorted(each) for each in completed("tra", "data ", "help tra", "train --pr", "data words --lea", "completion f")],
                         [["train", "translate"], sorted(commands("data")), ["train", "translate"], ["--print", "--processes", "--progress"],
                          ["--least"], ["fish"]])
        self.assertEqual(completed("train demo_plain --progress ", "train --seed "), [["auto", "bar", "none", "plain"], []])
        self.assertEqual(completed("train fashion_mnist_pl")[0], ["fashion_mnist_plain"])
        self.assertIn("deit_tiny_patch16_224", completed("summary deit_ti")[0])
        names = [*((name,) for name in commands()), *(("data", kind) for kind in commands("data"))]
        for name, offered in zip(names, completed(*(" ".join(name) + " --" for name in names))):
            with self.subTest(name):
                self.assertEqual(set(offered), options(*name))


class Completion(command.FolderTest):
    def setUp(self):
        super().setUp()
        self.script = self.folder / "cachet.bash"
        self.script.write_text(self.cachet("completion", "bash").stdout)

    def completed(self, *words):
        """What bash offers for the last of these words."""
        done = subprocess.run(
            ["bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cachet; printf "%s\\n" "${COMPREPLY[@]}"',
             str(self.script), "cachet", *words], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line for line in done.stdout.splitlines() if line]

    def test_commands_and_kinds(self):
        self.assertEqual(sorted(self.completed("")), sorted(commands()))
        self.assertEqual(sorted(self.completed("tra")), ["train", "translate"])
        self.assertEqual(sorted(self.completed("data", "")), sorted(commands("data")))
        self.assertEqual(sorted(self.completed("help", "tra")), ["train", "translate"])

    def test_every_option_of_every_command(self):
        for names in [*((name,) for name in commands()), *(("data", kind) for kind in commands("data"))]:
            with self.subTest(names):
                self.assertEqual({word for word in self.completed(*names, "--")}, options(*names))
        self.assertEqual(sorted(self.completed("train", "--pr")), ["--print", "--processes", "--progress"])
        self.assertEqual(self.completed("data", "words", "--lea"), ["--least"])

    def test_values_names_and_files(self):
        self.assertEqual(self.completed("train", "demo_plain", "--progress", ""), ["auto", "bar", "plain", "none"])
        self.assertEqual(self.completed("train", "--progress", "=", "b"), ["bar"])
        self.assertEqual(self.completed("train", "--progress", "="), ["auto", "bar", "plain", "none"])
        self.assertEqual(self.completed("train", "--seed", ""), [], "a number is the user's own")
        self.assertIn("fashion_mnist_plain", self.completed("train", "fashion_mnist_pl"))
        self.assertIn("deit_tiny_patch16_224", self.completed("summary", "deit_ti"))
        self.assertIn("vit_tiny_patch16_224", self.completed("train", "vit_ti"))
        self.assertIn("grc", self.completed("train", "vit_tiny_patch16_224", "--cache", ""))
        self.assertIn("un", self.completed("train", "vit_tiny_patch16_224", "--norm", ""))
        self.assertIn("softmax", self.completed("train", "vit_tiny_patch16_224", "--attention", "s"))
        self.assertEqual(self.completed("completion", "f"), ["fish"])
        self.assertEqual(self.completed("completion", ""), ["bash", "zsh", "fish"])
        (self.folder / "a text.txt").write_text("")
        (self.folder / "a folder").mkdir()
        self.assertEqual(sorted(self.completed("translate", "my-run", "a ")), ["a folder", "a text.txt"])
        self.assertEqual(sorted(self.completed("eval", "my-run", "--output", "a ")), ["a folder", "a text.txt"])

    def test_scripts_can_be_read_by_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.cachet("completion", shell).stdout
            for name in commands():
                self.assertIn(name, text)
            self.assertIn("progress", text)
            (self.folder / "script").write_text(text)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", "script"], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("did you mean", self.refused("completion", "bsh"))


if __name__ == "__main__":
    command.main()
