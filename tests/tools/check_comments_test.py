"""tools/check-comments: which names in comments it refuses."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-comments"


class CheckComments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def check(self, **files):
        for name, text in files.items():
            (self.root / name.replace("_h", ".h").replace("_py", ".py")).write_text(text)
        subprocess.run(["git", "add", "-A"], cwd=self.root, check=True)
        return subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True)

    def test_names_that_the_code_has(self):
        done = self.check(a_h="// At most kMaxRows; see Table::rows() and rows_of().\nconst int kMaxRows = 3;\nint rows_of();\n"
                              "struct Table { int rows() const; };\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_name_that_only_comments_have(self):
        done = self.check(a_h="const int kMaxRows = 3;\n\n// At most kMostRows,\n// as rows_of() says.\n")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "a.h:3: kMostRows is a name that the code does not have\n"
                                      "a.h:4: rows_of() is a name that the code does not have\n")

    def test_a_member_after_colons(self):
        done = self.check(a_h="// Throws what Table::lines throws.\nstruct Table {};\n/* and Table::rows */\n")
        self.assertEqual([line.split(" ")[0] + line.split(" ")[1] for line in done.stdout.splitlines()],
                         ["a.h:1:Table::lines", "a.h:3:Table::rows"])

    def test_slashes_in_a_string_begin_no_comment(self):
        done = self.check(a_h='const char* address = "https://host/kNowhere";\n')
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_names_of_scripts_and_of_strings_count(self):
        done = self.check(a_h='// Called by main_of(); the key is kept_rows().\nconst char* key = "kept_rows";\n', b_py="def main_of(): pass\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
