"""The messages of commands about names and arguments that hold control characters, and of what libraries complain about."""
import os
import subprocess

import command
import runs

ESCAPE = "\x1b[31m\r\x07"  # red, back to the line's begin, and a bell
SHOWN = r"\x1b[31m\r\x07"


class ControlCharacters(runs.RunTest):
    def assert_shown(self, text):
        self.assertIn(SHOWN, text)
        for character in text:
            self.assertTrue(character in "\n\t" or " " <= character != "\x7f", repr(text))

    def test_of_arguments(self):
        for words in ((ESCAPE,), ("summary", ESCAPE), ("summary", "vit_tiny_patch16_224", "--" + ESCAPE),
                      ("train", ESCAPE), ("eval", ESCAPE), ("compare", ESCAPE),
                      ("data", ESCAPE), ("models", ESCAPE), ("predict", ESCAPE, "a.png"), ("recipes", ESCAPE),
                      ("bench", "--mode", ESCAPE)):
            done = command.run(*words, cwd=self.folder)
            self.assertNotEqual(done.returncode, 0, words)
            self.assert_shown(done.stderr)

    def test_a_line_end_of_an_argument_ends_no_line(self):
        for words in (("summary", "a\nb"), ("eval", "a\nb"), ("train", "a\nb"), ("a\nb",)):
            done = command.run(*words, cwd=self.folder)
            self.assertIn(r"a\nb", done.stderr, words)
            self.assertNotIn("a\nb", done.stderr, words)

    def test_a_line_that_ends_as_an_argument_does_ends(self):
        done = command.run("train", "n\n", "s\n", "--bogus", cwd=self.folder)
        self.assertIn("there is no option --bogus\nSee `cachet train --help`", done.stderr)

    def test_of_names_of_files(self):
        folder = self.folder / "classes"
        for split in ("train", "val"):
            for name in ("plain", ESCAPE):
                (folder / split / name).mkdir(parents=True)
                (folder / split / name / f"{ESCAPE}.png").write_bytes(b"nothing")
        recipe = runs.RECIPE.replace('kind = "idx"', 'kind = "class_folders"').replace("images", "classes").replace("classes = 4", "classes = 2")
        recipe = recipe.replace("batch_size = 8", "batch_size = 2").replace("[model]", "[data.resize]\nimage_size = 8\n[model]")
        (self.folder / "folders.toml").write_text(recipe)
        done = command.run("train", "folders.toml", "--run", "run", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assert_shown(done.stderr)

    def test_of_a_runs_name(self):
        run = "run" + ESCAPE
        done = self.train(run, "--set", "train.limit=4 steps")
        self.assert_shown(done.stderr)
        self.assertNotIn("\x1b", (self.folder / run / "log.txt").read_text())
        self.train("other", "--set", "train.limit=4 steps")
        self.assertIn(r"run\x1b[31m \x07", self.cachet("compare", run, "other").stdout)  # in a table, what ends a line is a blank

    def test_a_terminal_shows_none_of_results_either(self):
        name = f"named{ESCAPE}"
        (self.folder / name).mkdir()
        (self.folder / name / "train.txt").write_text("a b\n")
        code, said = command.on_terminal("data", "words", name, "-o", "words.txt", cwd=self.folder)
        self.assertEqual(code, 0, said)
        self.assert_shown(said)


class OfLibraries(runs.RunTest):
    def assert_plain(self, said, *wanted):
        for text in wanted:
            self.assertIn(text, said)
        for text in ("enforce fail", "filesystem error", "Resource temporarily unavailable", "GeneratorImpl", ".cc", ".cpp",
                     "frame #", "terminate"):
            self.assertNotIn(text, said)

    def test_of_the_file_system(self):
        (self.folder / "file").write_text("")
        self.assert_plain(self.refused("train", "tiny.toml", "--run", "file/run", cwd=self.folder, code=1), "file")
        self.assert_plain(self.refused("data", "shapes", "-o", "file/shapes", "--train", "1", "--validation", "1", cwd=self.folder,
                                       code=1), "file/", "cannot be made: Not a directory")
        (self.folder / "text").mkdir()
        (self.folder / "text/train.txt").write_text("a b\n")
        self.cachet("data", "words", "text", "-o", "text/words.txt")
        self.assert_plain(self.refused("data", "tokens", "text", "-o", "file/tokens", cwd=self.folder, code=1),
                          "file/tokens: cannot create directories: Not a directory")

    def test_of_memory(self):
        said = self.refused("train", "tiny.toml", "--run", "run", "--set", "model.embed_dim=16384", "--set", "model.depth=4",
                            cwd=self.folder, code=1, address_space=4 << 30)
        self.assert_plain(said, "out of memory")

    def test_of_threads(self):
        """Of a user who may have no more: another one than root, for whom there is no such limit."""
        if os.geteuid() != 0:
            self.skipTest("only root can become a user without other processes")
        done = subprocess.run([command.COMMAND, "train", "tiny.toml", "--run", "run", "--set", "train.threads=64"], cwd=self.folder,
                              capture_output=True, text=True, timeout=100, preexec_fn=lambda: limited_user(self.folder))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assert_plain(done.stderr, "threads", "ulimit -u")


def limited_user(folder):
    import resource
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, 12345, 12345)
    resource.setrlimit(resource.RLIMIT_NPROC, (20, 20))
    os.setgid(12345)
    os.setuid(12345)


if __name__ == "__main__":
    command.main()
