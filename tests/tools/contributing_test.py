"""tools/check-contributing: which commands, paths and filters it refuses."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-contributing"

GOOD = """
`make test`, `tools/format --check`, `cachet/kernels/mix_heads.{h,cpp}`, `ops/<name>.h`, `kernels/nms.*`
```sh
cmake --preset dev && ninja nn_tests && build/dev/nn_tests --gtest_filter='Known*'  # build/none_tests
```
"""


class Contributing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        program = self.root / "nn_tests"  # lists a test for one filter alone
        program.write_text("#!/bin/sh\ncase $2 in *Known*) printf 'Known.\\n  Test\\n' ;; esac\n")
        program.chmod(0o755)

    def faults(self, text, *words):
        page = self.root / "page.md"
        page.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, "--page", page, *words], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if "CONTRIBUTING.md:" in done.stdout else 0)
        return [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("CONTRIBUTING.md:")]

    def test_the_page_itself_is_right(self):
        done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_what_exists_is_no_fault(self):
        self.assertEqual(self.faults(GOOD, "--build", self.root), [])

    def test_each_fault_is_named(self):
        for text, fault in [
            ("`make tests`", "the Makefile has no target tests"),
            ("`cmake --preset quick`", "CMakePresets.json has no preset quick"),
            ("`none_tests`", "no program of tests is named none_tests"),
            ("`tools/reformat`", "tools/reformat does not exist"),
            ("`cachet/kernels/mix_heads.{h,cu}`", "cachet/kernels/mix_heads.cu does not exist"),
            ("`ops/nothing.h`", "ops/nothing.h does not exist"),
        ]:
            with self.subTest(text):
                self.assertEqual(self.faults(text), [fault])

    def test_a_filter_that_matches_no_test_is_a_fault(self):
        wrong = GOOD.replace("Known", "Forgotten")
        self.assertEqual(self.faults(wrong), [])
        self.assertEqual(self.faults(wrong, "--build", self.root), ["the filter Forgotten* matches no test of nn_tests"])

    def test_a_program_that_was_not_built_is_a_fault(self):
        (self.root / "nn_tests").unlink()
        self.assertEqual(len(self.faults(GOOD, "--build", self.root)), 1)


if __name__ == "__main__":
    unittest.main()
