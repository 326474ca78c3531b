"""The tools that make the site: links, pages of reference, the reference of C++, tutorials."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from docs_pages import commands, cpp, keys, links, program, reference, staging  # noqa: E402

HELP = """Look inside trained models.
Usage: cachet look [OPTIONS] RUN...

Positionals:
  RUN ... ... REQUIRED        Folders of runs

Options:
  -h,--help                   Print this and leave
  -o,--output FOLDER REQUIRED The folder to write
  --least-score X             At least so sure (<0.3|1>)
  --overwrite Needs: --output Replace the output
  --progress HOW:{auto,none}
                              auto or none (auto)

Examples:
  cachet look my-run  -o look
"""


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Staging(Folder):
    def staged(self, text):
        self.write("docs/site/conf.py", "")
        self.write("docs/site/toc.yml", "root: page\n")
        self.write("docs/site/static/cachet.css", "")
        self.write("docs/other.md", "# Other\n")
        self.write("docs/data/runs.csv", "a\n")
        self.write("examples/main.cpp", "int main() {}\n")
        self.write("docs/page.md", text)
        staging.stage(self.root / "docs", self.root / "source")
        return (self.root / "source/page.md").read_text(encoding="utf-8")

    def test_links_to_what_is_not_part_of_the_site_become_its_name(self):
        self.assertEqual(self.staged("See [the program](../examples/main.cpp) and [data](data).\n"),
                         "See the program (`examples/main.cpp`) and data (`docs/data/`).\n")
        self.assertEqual(self.staged("[examples/main.cpp](../examples/main.cpp)\n"), "`examples/main.cpp`\n")

    def test_other_links_stay(self):
        for text in ("[a](other.md#b)\n", "[a](#b)\n", "[a](https://example.org/x.md)\n", "[a](data/runs.csv)\n", "[a](missing.md)\n",
                     "```\n[a](../examples/main.cpp)\n```\n"):
            self.assertEqual(self.staged(text), text)

    def test_files_of_an_earlier_build_go(self):
        self.write("source/old.md", "# Old\n")
        self.staged("# Page\n")
        self.assertFalse((self.root / "source/old.md").exists())
        self.assertFalse((self.root / "source/site").exists())
        self.assertTrue((self.root / "source/data/runs.csv").exists())


class Links(Folder):
    def faults(self, body):
        self.write("index.html", f"<html><body>{body}</body></html>")
        self.write("part/page.html", '<h1 id="top">Top</h1>')
        return links.check(self.root)

    def test_links_that_lead_somewhere_are_no_fault(self):
        faults, external = self.faults('<a id="here" href="#here">a</a> <a href="part/page.html#top">b</a> <a href="https://example.org/">c</a>')
        self.assertEqual(faults, [])
        self.assertEqual(external, {"https://example.org/": ["index.html"]})

    def test_missing_pages_elements_and_images_are_named(self):
        faults, _ = self.faults('<a href="none.html">a</a> <a href="part/page.html#none">b</a> <a href="#none">c</a> <img src="none.png">')
        self.assertEqual(faults, ["index.html: links to none.html, which is not a file of the site",
                                  "index.html: links to part/page.html#none, but page.html has no element #none",
                                  "index.html: links to #none, but index.html has no element #none",
                                  "index.html: links to none.png, which is not a file of the site"])

    def test_nothing_is_loaded_from_another_machine(self):
        faults, _ = self.faults('<script src="https://example.org/x.js"></script>')
        self.assertEqual(faults, ["index.html: loads https://example.org/x.js from another machine"])


class Commands(unittest.TestCase):
    def test_a_help_text_is_read_by_its_columns(self):
        parsed = commands.parse(HELP)
        self.assertEqual((parsed.summary, parsed.usage), ("Look inside trained models.", "cachet look [OPTIONS] RUN..."))
        self.assertEqual(parsed.sections["Options"][1:], [
            ("-o,--output FOLDER REQUIRED", "The folder to write"), ("--least-score X", "At least so sure (<0.3|1>)"),
            ("--overwrite Needs: --output", "Replace the output"), ("--progress HOW:{auto,none}", "auto or none (auto)")])

    def test_rules_become_sentences_and_signs_of_markdown_are_escaped(self):
        page = "\n".join(commands.section(["look"], commands.parse(HELP), 2))
        for line in ("## cachet look", "| `RUN ...` | Folders of runs. Required. |", "| `-o,--output FOLDER` | The folder to write. Required. |",
                     "| `--overwrite` | Replace the output. Needs `--output`. |", "| `--least-score X` | At least so sure (&lt;0.3\\|1&gt;) |"):
            self.assertIn(line, page.splitlines())
        self.assertNotIn("--help", page)


class FakeProgram:
    """Answers as `cachet train RECIPE --print` does."""

    def run(self, *arguments):
        settings = dict(each.split("=", 1) for each in arguments[arguments.index("--print") + 1:] if each != "--set")
        if faults := [line for key, said in (("cache.kind", 'must be "none" or "grc"'), ("size", "must be an integer"),
                                             ("cache.ratio", "must be a number"))
                      if settings.get(f"model.{key}") == keys.NOT_A_VALUE for line in [f"--set: model.{key}: {said}, not a list"]]:
            return 1, "", "\n".join(faults)
        lines = ["[model]", "size = 4  # default", "[model.cache]", f"kind = {settings.get('model.cache.kind', chr(34) + 'none' + chr(34))}  # default"]
        if settings.get("model.cache.kind") == '"grc"':
            lines.append("ratio = 0.5  # default")
        return 0, "\n".join(lines), ""


class Keys(unittest.TestCase):
    def found(self):
        return keys.merged([keys.of_family(FakeProgram(), "vision/demo_plain")])

    def test_keys_types_defaults_and_words_are_found(self):
        found = self.found()
        self.assertEqual({path: (key.type, key.default, key.words, key.contexts) for path, key in found.items()}, {
            "model.size": ("integer", "4", [], []), "model.cache.kind": ("one of", '"none"', ["none", "grc"], []),
            "model.cache.ratio": ("number", "0.5", [], ['model.cache.kind = "grc"'])})

    def test_a_meaning_is_that_of_the_longest_name(self):
        meanings = {"model.size": {"meaning": "a"}, "*.ratio": {"meaning": "b"}, "*.cache.ratio": {"meaning": "c"}}
        self.assertEqual([(reference.meaning_of(path, meanings) or {}).get("meaning") for path in
                          ("model.size", "model.cache.ratio", "model.x.ratio", "model.depth")], ["a", "c", "b", None])

    def test_the_page_has_a_row_for_each_key(self):
        page = reference.keys_page(self.found(), {"model.size": {"meaning": "Tokens | channels.", "change": "Raise it."}})
        self.assertIn("| `size`<br>integer<br>default: `4` | Tokens \\| channels. *Raise it.* For: ViT. |", page)
        self.assertIn('| `ratio`<br>number<br>default: `0.5` | Read with `kind = "grc"`. |', page)
        self.assertIn("## `[model.cache]`\n\nFor: ViT.\n\n| key,", page)  # the families of all keys of a table stand above it

    def test_the_file_of_keys_has_an_entry_for_each_key(self):
        meanings = {"model.size": {"meaning": "The size: [what it is](../plug-ins.md#size).", "change": "Raise it."}}
        entries = json.loads(reference.keys_file(self.found(), meanings, {"ViT": "image_classification"}))["keys"]
        self.assertEqual([each["key"] for each in entries], ["model.size", "model.cache.kind", "model.cache.ratio"])
        self.assertEqual(entries[0], {"key": "model.size", "type": "integer", "values": [], "default": "4", "read_with": [],
                                      "tasks": ["image_classification"], "meaning": "The size: see docs/plug-ins.md.", "change": "Raise it."})
        self.assertEqual((entries[1]["values"], entries[2]["read_with"]), (["none", "grc"], ['model.cache.kind = "grc"']))

    def test_a_meaning_of_no_key_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "has keys that no recipe has: model.sise"):
            reference.keys_page(self.found(), {"model.sise": {"meaning": "a"}})

    def test_each_key_of_the_page_has_a_meaning(self):
        for line in (ROOT / "docs/reference/keys.md").read_text(encoding="utf-8").splitlines():
            if line.startswith("| `"):
                self.assertNotRegex(line, r"^\| `\w+`<br>[^|]*\| (Read with|For:|\|)", line)


class Cpp(Folder):
    def test_public_headers_are_those_that_are_named_and_what_they_include(self):
        self.write("cachet/cachet.h", '#include "cachet/a/first.h"\n')
        self.write("cachet/a/first.h", '#include "cachet/a/second.h"\n')
        self.write("cachet/a/second.h", '#include "cachet/a/third.h"\n')
        self.write("cachet/b/task.h", "")
        self.write("examples/own/main.cpp", "#include <cachet/b/task.h>\n")
        self.assertEqual(cpp.public_headers(self.root), ["cachet/a/first.h", "cachet/a/second.h", "cachet/b/task.h"])

    @unittest.skipUnless(shutil.which("doxygen"), "needs doxygen")
    def test_classes_functions_and_their_comments_become_pages(self):
        self.write("cachet/cachet.h", '#include "cachet/a/first.h"\n')
        self.write("examples/main.cpp", "")
        self.write("cachet/a/first.h", "namespace cachet::a {\n/// A layer of `n` channels.\nclass Layer {\n public:\n"
                   "  int steps() const;  // so far\n  int first;\n  int second;\n private:\n  int hidden_;\n};\n/// Makes one.\nLayer make(int channels = 4);\n}\n")
        cpp.write(self.root, self.root / "pages", self.root / "doxygen")
        page = (self.root / "pages/a.md").read_text(encoding="utf-8")
        for text in ("### a::Layer", "class Layer;", "A layer of `n` channels.", "int steps() const;", "so far", "Makes one.",
                     "```cpp\nint first;\nint second;\n```", "Layer make(int channels = 4);"):
            self.assertIn(text, page)
        self.assertNotIn("hidden_", page)
        self.assertIn("[cachet/a](a.md)", (self.root / "pages/index.md").read_text(encoding="utf-8"))


class Tutorials(Folder):
    def run_page(self, text):
        page, command = self.write("page.md", text), self.write("bin/cachet", "#!/bin/sh\necho \"cachet $*\"\n")
        command.chmod(0o755)
        return subprocess.run([sys.executable, ROOT / "tools/run-tutorial", "--command", command, page], capture_output=True, text=True,
                              check=False)

    def test_commands_files_and_output(self):
        done = self.run_page("Save **a.toml**:\n\n```toml\nx = 1\n```\n\n```sh\ncat a.toml\ncachet train a.toml\n```\n\n"
                             "It prints:\n\n```text\nx = 1\ncachet … a.toml\n```\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_file_is_named_anywhere_in_the_paragraph_before_it(self):
        done = self.run_page("Not **b.toml**.\n\nSave this file as **a.toml**. It has\none line:\n\n```toml\nx = 1\n```\n\n"
                             "```sh\ncat a.toml\nls\n```\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("b.toml", done.stdout)

    def test_commands_of_a_comment_are_run(self):
        done = self.run_page("Download it.\n\n<!-- instead: a file of the same form\necho a >file\n-->\n\n```sh\ncat file\n```\n\n```text\na\n```\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_command_that_fails_ends_the_page(self):
        done = self.run_page("```sh\nfalse\necho after\n```\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("these commands failed (1)", done.stderr)
        self.assertNotIn("after", done.stdout)

    def test_a_line_that_is_not_printed_is_named(self):
        done = self.run_page("```sh\necho b; echo a\n```\n\n```text\na\nb\n```\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did not print this line: b", done.stderr)

    def test_every_tutorial_says_at_its_begin_what_the_reader_will_have(self):
        pages = [ROOT / "docs" / name for name in ("importing.md", "deploying.md", "analysis.md")]
        for folder in ("tutorials", "how-to", "start", "explanation"):
            pages += sorted((ROOT / "docs" / folder).glob("*.md"))
        for page in pages:
            first = page.read_text(encoding="utf-8").split("\n\n")[1]
            self.assertRegex(first, r"^(At the end of|After) this page", page.name)


class Navigation(unittest.TestCase):
    def test_every_page_is_in_the_navigation_once(self):
        listed = [line.split("file: ")[1] for line in (ROOT / "docs/site/toc.yml").read_text().splitlines() if "file: " in line] + ["index"]
        pages = [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")]
        self.assertEqual(sorted(listed), sorted(pages + ["reference/cpp/index"]))


class Charts(Folder):
    def charts(self, *arguments):
        return subprocess.run([sys.executable, self.root / "tools/charts", *arguments], capture_output=True, text=True, check=False)

    def test_a_chart_follows_its_file(self):
        (self.root / "tools").mkdir()
        shutil.copy(ROOT / "tools/charts", self.root / "tools/charts")
        for folder in ("docs/performance", "docs/images"):
            shutil.copytree(ROOT / folder, self.root / folder)
        self.assertEqual(self.charts("--check").stderr, "")
        lengths = self.root / "docs/performance/lengths.csv"
        lengths.write_text(lengths.read_text().replace("softmax,bidirectional,16384,2,", "softmax,bidirectional,16384,2,1"))
        self.assertIn("docs/images/lengths.svg: not what docs/performance says", self.charts("--check").stderr)
        self.charts()
        self.assertEqual(self.charts("--check").returncode, 0)


class MissingParts(Folder):
    def built(self):
        for name in ("docs", "docs_pages"):
            source = ROOT / "tools" / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, self.root / "tools" / name)
        shutil.copytree(ROOT / "tests/app", self.root / "tests/app", ignore=shutil.ignore_patterns("*_test.py"))
        return subprocess.run([sys.executable, self.root / "tools/docs"], capture_output=True, text=True, check=False)

    def test_a_missing_page_of_reference_is_one_line_with_what_to_do(self):
        self.write("docs/reference/commands.md", "# Commands\n")
        self.write("tools/x", "")
        done = self.built()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "docs: docs/reference lacks keys.json, keys.md, recipes.md: run `make build && tools/docs-reference`, "
                                      "then `make docs` again\n")

    def test_a_missing_builder_is_one_line_with_what_to_do(self):
        for name in reference.PAGES:
            self.write(f"docs/reference/{name}", "# Page\n")
        self.write("tools/x", "")
        self.assertEqual(self.built().stderr, "docs: build/docs-tools is missing: run tools/setup --docs\n")


class PagesOfTheProgram(unittest.TestCase):
    def test_a_command_that_is_not_there_is_one_line(self):
        done = subprocess.run([sys.executable, ROOT / "tools/docs-reference", "--command", "/none"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("run `make build`", done.stderr)

    def test_the_program_does_not_depend_on_the_terminal(self):
        with tempfile.TemporaryDirectory() as scratch:
            command = pathlib.Path(scratch, "cachet")
            command.write_text('#!/bin/sh\necho "$COLUMNS $CACHET_DATA"\n')
            command.chmod(0o755)
            self.assertEqual(program.Program(command).text().split(), ["200", str(ROOT)])


if __name__ == "__main__":
    unittest.main()
