"""tools/check-test-names: which names of tests it refuses."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-test-names"


class CheckTestNames(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "CTestTestfile.cmake").write_text("")

    def check(self, *names):
        program = self.build / "nn_tests"
        program.write_text("#!/bin/sh\ncat <<'END'\nSuite.\n" + "".join(f"  {name}\n" for name in names) + "END\n")
        program.chmod(0o755)
        return subprocess.run([sys.executable, SCRIPT, "--build", self.build], capture_output=True, text=True)

    def test_names_that_can_be_read(self):
        done = self.check("Test/masks  # GetParam() = masks", "PassesOverTokens<float>", "Ratio/0  # GetParam() = 50 %")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_bytes_addresses_and_long_names_are_faults(self):
        for name, said in (("Test/0  # GetParam() = 4-byte object <00-00 00-00>", "write PrintTo() for its type"),
                           ("Test/0  # GetParam() = 0x7ffd1234abcd", "has an address"),
                           ("Test/0  # GetParam() = a\tb", "cannot be printed"), ("Long" * 200, "has 802 characters")):
            done = self.check("Good", name)
            self.assertEqual(done.returncode, 1, name)
            self.assertIn(said, done.stdout)
            self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)

    def test_tests_of_ctest_are_asked_for(self):
        (self.build / "CTestTestfile.cmake").write_text('add_test([=[Test/4-byte object <00-00 00-00>]=] "true")\n')
        done = self.check("Good")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith("ctest: "), done.stdout)

    def test_a_folder_without_programs_is_refused(self):
        done = subprocess.run([sys.executable, SCRIPT, "--build", self.build], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("build them first", done.stderr)


if __name__ == "__main__":
    unittest.main()
