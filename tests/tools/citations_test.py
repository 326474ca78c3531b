"""tools/citations: which positions of which paper it finds, in text, comments and recipes."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "citations"

FILES = {
    "norm.h": "/// Unified normalization: a geometric mean\n/// (Algorithm 2, Eq. 16–17), and a filter.\nint algorithm;\n"
              "// Swin (arXiv 2103.14030, Eq. 4).\n",
    "row.toml": "# Swin-T (arXiv 2103.14030, Sec. A2.1): Cached Transformers (arXiv\n# 2312.12742), Table 1.\n\n"
                "[paper]\narxiv = \"2211.04076\"\nrow = \"Table 3, LN\"\n\n[train]\nrow = \"Table 4\"\n",
    "page.md": "| 2211.04076 | Table 1 |\n| another | Table 2 |\n\nNo paper has Table 3.\n",
    "image.png": "2312.12742, Table 1\n",
}


class Citations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(SCRIPT, self.root / "tools")
        for name, text in FILES.items():
            (self.root / name).write_text(text, encoding="utf-8")
        (self.root / "bytes.toml").write_bytes(b"# \x8b of Cached Transformers, Eq. 5\n")
        subprocess.run(["git", "init", "-q", self.root], check=True)
        subprocess.run(["git", "add", "."], cwd=self.root, check=True)

    def listed(self, *words, code=0):
        done = subprocess.run([sys.executable, self.root / "tools/citations", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.splitlines() if code == 0 else done.stderr

    def test_each_place_has_its_line_and_its_paper(self):
        self.assertEqual(self.listed(), [
            "bytes.toml:1: [Cached Transformers] \N{REPLACEMENT CHARACTER} of Cached Transformers, Eq. 5",
            "norm.h:2: [Unified Normalization] (Algorithm 2, Eq. 16–17), and a filter.",
            "page.md:1: [Trainable kernels] | 2211.04076 | Table 1 |",
            "row.toml:1: [Cached Transformers] Swin-T (arXiv 2103.14030, Sec. A2.1): Cached Transformers (arXiv",
            "row.toml:2: [Cached Transformers] 2312.12742), Table 1.",
            "row.toml:6: [Trainable kernels] row = \"Table 3, LN\""])

    def test_one_paper(self):
        for word in ("unified", "2208.01313"):
            self.assertEqual([line.split(":")[0] for line in self.listed(word)], ["norm.h"])
        self.assertIn("no paper is called 'nope'", self.listed("nope", code=2))


if __name__ == "__main__":
    unittest.main()
