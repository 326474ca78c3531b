"""tools/check-words: what it takes for a text, which words it finds there, and that a count cannot rise."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check-words"
sys.path.insert(0, str(ROOT / "tools"))

from word_check import allowed, areas, counts, cpp, markdown, scripts, toml
from word_check.table import read_table
from word_check.text import Text

TABLE = """# Words

| our term | the field's term | decided | checked |
|---|---|---|---|
| behind | after | prose | tool: `behind` |
| go on with | resume | prose | tool: `go/goes on with` |
| place(s) | index | by hand | tool: `place/places`; not `in place`, `take/takes place`; outside `cachet/kernels` |
| stream | session | rename | tool: `stream` |
| is no X | is not an X | prose | tool: `is no X`; not `there is no X`, `is no longer` |
| set | data set | prose | reader |

| another | table |
|---|---|
| beside | tool: `beside` |
"""
WORDS = read_table(TABLE)


def hits(text, path="cachet/a.h"):
    whole = Text("headers", path, [(1, text)])
    return [text[start:end] for word in WORDS for start, end in word.hits(whole)]


def cpp_pieces(source):
    return [(kind, "".join(piece for _, piece in pieces)) for kind, pieces in cpp.comments_and_strings(source)]


class Lexer(unittest.TestCase):
    def test_comments_on_lines_of_their_own_are_one(self):
        self.assertEqual(cpp_pieces("/// One idea\n/// in two lines.\nint a;\n// Another.\n"),
                         [("comment", " One idea\n in two lines."), ("comment", " Another.")])

    def test_comments_after_code_are_apart_and_continue_in_their_column(self):
        source = "int a;  // the first\nint b;  // the second,\n        // which goes on\n"
        self.assertEqual(cpp_pieces(source), [("comment", " the first"), ("comment", " the second,\n which goes on")])

    def test_comments_of_other_lines_are_apart(self):
        self.assertEqual(len(cpp_pieces("// a\n\n// b\nint x;\n// c\n")), 3)

    def test_a_slash_in_a_string_begins_no_comment(self):
        self.assertCountEqual(cpp_pieces('f("http://a // b", "/* c");  // d\n'),
                              [("string", "http://a // b"), ("string", "/* c"), ("comment", " d")])

    def test_a_quotation_mark_in_a_comment_begins_no_string(self):
        self.assertCountEqual(cpp_pieces('// one "\nf("x");  /* " */\n'),
                              [("comment", ' one "'), ("string", "x"), ("comment", '   "   ')])

    def test_characters_and_digit_separators(self):
        self.assertEqual(cpp_pieces("""char q = '"', e = '\\'', s = u8'/'; int n = 1'000'000; f("x");"""), [("string", "x")])

    def test_raw_strings(self):
        self.assertEqual(cpp_pieces('f(R"(a "b" // c\n\\d)", LR"x(e)" )x", FOOR "g");'),
                         [("string", 'a "b" // c\n\\d'), ("string", 'e)" '), ("string", "g")])

    def test_adjacent_strings_are_one(self):
        self.assertEqual(cpp_pieces('f("go on "\n  "with", "it");'), [("string", "go on with"), ("string", "it")])

    def test_escapes(self):
        [(_, text)] = cpp_pieces(r'f("a\nb \"c\" \x41 \\ d");')
        self.assertEqual(text.replace("\u200b", "").split(), ["a", "b", '"c"', "d"])
        self.assertEqual(len(text), len(r'a\nb \"c\" \x41 \\ d'))

    def test_continued_lines(self):
        self.assertEqual(cpp_pieces('// a \\\nstill "a"\nf("b\\\nc");\n'), [("comment", ' a \\\nstill "a"'), ("string", "b \nc")])

    def test_lines(self):
        source = 'int a;\n\n// b\n// c\nf("d"\n  "e", R"(\nf)");\n'
        found = {}
        for _, pieces in cpp.comments_and_strings(source):
            text = Text("headers", "a.h", pieces)
            found.update({letter: text.line(text.text.index(letter)) for letter in "bcdef" if letter in text.text})
        self.assertEqual(found, {"b": 3, "c": 4, "d": 5, "e": 6, "f": 7})

    def test_programs_in_raw_strings(self):
        source = 'auto a = R"js(\n// behind\nconst behind = "x"; /* y */ f(`of ${behind} z`);\n)js";\n'
        [(kind, pieces)] = cpp.comments_and_strings(source)
        self.assertEqual(kind, "embedded")
        found = [(kind, found[0][0], found[0][1]) for kind, found in cpp.embedded(pieces)]
        self.assertEqual(found, [("comment", 2, "// behind"), ("string", 3, "x"), ("comment", 3, "/* y */"),
                                 ("string", 3, "of \x01\x01\x01\x01\x01\x01\x01\x01\x01 z")])

    def test_names_and_schemas_are_no_texts(self):
        for string in ("behind", "a/b.h", "mix(Tensor a, float share) -> Tensor", "  ", "%5d "):
            self.assertFalse(cpp.is_text(string), string)
        for string in (" behind ", "go on", "a number\n"):
            self.assertTrue(cpp.is_text(string), string)


class OtherTexts(unittest.TestCase):
    def test_markdown(self):
        source = ("# Title behind\n\n<!-- numbers\nbehind\n-->\nText `behind` of a\nparagraph, [behind](behind.md).\n- item\n"
                  "- another\n\n| head | place |\n|---|---|\n| 1 | 2 |\n\n```sh\nbehind\n```\n\nEnd\n")
        found = []
        for pieces in markdown.blocks(source):
            text = Text("documents", "a.md", pieces, markdown.HIDE)
            found += [(text.line(start), text.text[start:end]) for word in WORDS for start, end in word.hits(text)]
        self.assertEqual(found, [(1, "behind"), (7, "behind"), (11, "place")])
        last = list(markdown.blocks(source))[-1][0]
        self.assertEqual(last[0] + last[1].count("\n", 0, last[1].index("End")), 19)

    def test_recipes(self):
        source = '# A recipe,\n# two lines.\n\n[paper]\nrow = "Table # 3"\n[model]\nname = "behind #"  # a comment\n'
        found = [(pieces[0][0], "".join(text for _, text in pieces)) for pieces in toml.texts(source)]
        self.assertEqual(found, [(5, "Table # 3"), (1, " A recipe,\n two lines."), (7, " a comment")])

    def test_python(self):
        source = '"""Of a\nmodule."""\nx = "behind"  # one\n# two\ny = """# no comment"""\n'
        found = [(pieces[0][0], "".join(text for _, text in pieces)) for pieces in scripts.python(source)]
        self.assertEqual(found, [(1, '"""Of a\nmodule."""'), (3, " one\n two")])

    def test_shell(self):
        found = [(pieces[0][0], pieces[0][1]) for pieces in scripts.shell("#!/bin/sh\n# one\necho a#b\ny=1  # two\n")]
        self.assertEqual(found, [(2, " one"), (4, " two")])


class Words(unittest.TestCase):
    def test_forms(self):
        self.assertEqual(hits("Behind it, he goes on\n with places"), ["Behind", "goes on\n with", "places"])

    def test_forms_that_pass(self):
        self.assertEqual(hits("in place; it takes place; there is no gap; it is no longer"), [])
        self.assertEqual(hits("a place in place; it is no gap"), ["place", "is no gap"])

    def test_a_name_is_any_word(self):
        self.assertEqual(hits("`a` is no `model`"), ["is no `model`"])

    def test_names_of_the_code_pass(self):
        self.assertEqual(hits("std::stream stream::x absorb_behind look-behind --behind a/place place.h `behind` 'behind' "
                              "place= place = 3 stream() places_of <b class=\"place\">"), [])
        self.assertEqual(hits("behind. (behind) “behind” behind; place's"), ["behind"] * 4 + ["place"])

    def test_folders_outside(self):
        self.assertEqual(hits("a place", "cachet/kernels/a.h"), [])
        self.assertEqual(hits("a place", "cachet/ops/a.h"), ["place"])

    def test_a_reader_judges(self):
        self.assertEqual(hits("a set beside it"), [])

    def test_rows_that_are_wrong(self):
        head = "| our term | the field's term | checked |\n|---|---|---|\n"
        for rows, message in (("| a | b | perhaps |\n", "docs/words.md:3: the last cell is 'perhaps'"),
                              ("| a | b | tool: a |\n", "docs/words.md:3: no form in backquotes"),
                              ("| a | b | reader |\n| a | c | reader |\n", "docs/words.md:4: 'a' has a row already"),
                              ("", "has no table")):
            with self.assertRaisesRegex(ValueError, message):
                read_table(head + rows)

    def test_the_table_of_the_checkout(self):
        words = {word.term: word for word in read_table((ROOT / "docs/words.md").read_text())}
        for plain, word in (("std::ostream", "stream of batches"), ("written in place", "place(s)"),
                            ("There is no cache", "is no X"), ("a SIMD lane", "lanes"), ("a shared library", "share (of a whole)")):
            self.assertEqual(words[word].hits(Text("headers", "a.h", [(1, plain)])), [], plain)
        for bad, word in (("behind", "behind"), ("a checkpoint is no model", "is no X"), ("a place", "place(s)"),
                          ("went on", "go on with"), ("his share of it", "share (of a whole)"), ("it said so", "tell, say, what is said")):
            self.assertTrue(words[word].hits(Text("headers", "a.h", [(1, bad)])), bad)

    def test_sentences(self):
        text = Text("headers", "a.h", [(1, "First one. What is behind\nit, e.g. that. Last.")])
        self.assertEqual(text.sentence(19, 25), "What is behind it, e.g. that.")


class Areas(unittest.TestCase):
    def test_installed_headers(self):
        installed = areas.is_installed(ROOT)
        for path in ("cachet/nn/cache/cache.h", "cachet/cachet.h"):
            self.assertTrue(installed(path), path)
        for path in ("cachet/kernels/dispatch.h", "cachet/ops/support/registration.h", "cachet/runtime/openvino/session.h", "app/output/output.h",
                     "cachet/nn/cache/cache.cpp", "tests/support/test_data.h"):
            self.assertFalse(installed(path), path)

    def test_areas(self):
        def of(path, source):
            return [text.area for text in areas.texts_of(path, source, lambda path: path == "cachet/a/public.h")]

        source = '// a comment\nf("a text", "name");\n'
        self.assertEqual(of("app/a.cpp", source), ["comments", "help"])
        self.assertEqual(of("cachet/a/a.cpp", source), ["comments", "messages"])
        self.assertEqual(of("cachet/report/a.cpp", source), ["comments", "pages"])
        self.assertEqual(of("cachet/a/public.h", source), ["headers", "messages"])
        self.assertEqual(of("tests/a.cpp", source), ["comments"])
        self.assertEqual(of("README.md", "a"), ["documents"])
        self.assertEqual(of("recipes/a.toml", "# a"), ["recipes"])
        self.assertEqual(of("tools/a", "#!/usr/bin/env python3\n# a"), ["comments"])
        self.assertEqual(of("CMakeLists.txt", "# a"), ["comments"])


class Allowed(unittest.TestCase):
    ENTRY = '[[allowed]]\nword = "{}"\nfile = "docs/*.md"\ntext = "a place"\nreason = "{}"\n'

    def test_entries_that_are_wrong(self):
        for source, message in ((self.ENTRY.format("place(s)", ""), "entry 1 needs the keys"),
                                (self.ENTRY.format("nothing", "why"), "no word 'nothing'"),
                                (self.ENTRY.format("place(s)", "why") * 41, "has 41 entries, and may have 40")):
            with self.assertRaisesRegex(ValueError, message):
                allowed.read_allowed(source, {"place(s)"})
        self.assertEqual(len(allowed.read_allowed(self.ENTRY.format("place(s)", "why") * 40, {"place(s)"})), 40)


class Counts(unittest.TestCase):
    def test_they_only_fall(self):
        stored = counts.read_counts("area,word,count\nhelp,behind,3\npages,behind,2\n")
        found = counts.read_counts("area,word,count\nhelp,behind,4\npages,behind,1\nhelp,new,5\nmessages,behind,1\n")
        self.assertEqual(counts.risen(found, stored), {("help", "behind"): (4, 3), ("help", "new"): (5, 0), ("messages", "behind"): (1, 0)})
        lowered = counts.lowered(found, stored, {"behind", "new"})
        self.assertEqual(counts.written(lowered), "area,word,count\nhelp,behind,3\nhelp,new,5\npages,behind,1\n")


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/words.md", TABLE)
        self.write("cmake/Install.cmake", "install(DIRECTORY ${PROJECT_SOURCE_DIR}/cachet TYPE INCLUDE FILES_MATCHING PATTERN *.h\n"
                   "        PATTERN kernels EXCLUDE)\n")
        self.write("app/a.cpp", '// behind\nf("what is behind it");\n')
        (self.root / "tools/word_check").mkdir(parents=True)
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.root, check=True,
                       capture_output=True)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "-m", "a")

    def run_tool(self, *words, code=0):
        done = subprocess.run([sys.executable, TOOL, "--root", self.root, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_findings(self):
        self.assertEqual(self.run_tool(code=1), "app/a.cpp:2: “behind” → after: what is behind it\n")
        self.assertEqual(self.run_tool("--comments", code=1), "app/a.cpp:1: “behind” → after: behind\n")
        self.assertEqual(self.run_tool("docs"), "")
        self.assertRegex(self.run_tool("--count"), r"behind +1 +1\n")
        self.assertIn("reader  set → data set", self.run_tool("--list"))

    def test_a_count_may_only_fall(self):
        self.assertIn("help: 1 times “behind”, and at most 0 may be there; write: after", self.run_tool("--check", code=1))
        self.run_tool("--store")
        self.commit()
        self.assertIn("more frequent than before: 1 in texts for users, 1 in other comments", self.run_tool("--check"))
        # Of the two, the new one is named.
        self.write("app/b.cpp", 'f("this is behind, too");\n')
        self.git("add", ".")
        output = self.run_tool("--check", code=1)
        self.assertIn("app/b.cpp:1: “behind” → after: this is behind, too\nhelp: 2 times", output)
        self.assertNotIn("a.cpp", output)
        self.run_tool("--store")
        self.run_tool("--check", code=1)
        (self.root / "app/a.cpp").unlink()
        self.run_tool("--check")
        self.run_tool("--store")
        self.assertEqual((self.root / "tools/word_check/counts.csv").read_text(), "area,word,count\nhelp,behind,1\n")

    def test_what_the_allow_list_has(self):
        entry = '[[allowed]]\nword = "behind"\nfile = "app/*"\ntext = "what is behind it"\nreason = "an example"\n'
        self.write("tools/word_check/allowed.toml", entry)
        self.assertEqual(self.run_tool(), "")
        self.run_tool("--check", code=1)  # the comment
        self.write("app/a.cpp", 'f("what is behind it");\n')
        self.run_tool("--check")
        self.write("app/a.cpp", 'f("what is after it");\n')
        self.assertIn("remove the entry", self.run_tool("--check", code=1))

    def test_mistakes(self):
        self.write("docs/words.md", "# Words\n")
        self.assertIn("docs/words.md has no table", self.run_tool(code=1))
        self.assertIn("leave PATHs away", self.run_tool("--check", "docs", code=2))


if __name__ == "__main__":
    unittest.main()
