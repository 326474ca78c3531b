"""The command of a wheel, with and without the package openvino: PYTHON wheel_openvino_test.py CACHET

tools/check-wheel runs it in an environment that has the wheel, before and after it installs openvino there.
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "app"))
import command  # noqa: E402
from runs import RunTest, pixels, write_png  # noqa: E402

HAS_OPENVINO = importlib.util.find_spec("openvino") is not None
VERSION = re.search(r"^OPENVINO=(\S+)$", (ROOT / "tools" / "versions").read_text(encoding="utf-8"), re.MULTILINE)[1]


class Wheel(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run")
        write_png(self.folder / "image.png", 8, 8, pixels(0))

    def openvino(self):
        return self.json_of("env", "--json")["openvino"]

    @unittest.skipIf(HAS_OPENVINO, "openvino is installed")
    def test_without_the_package(self):
        problem = f"; run: pip install 'openvino=={VERSION}'"
        self.assertRegex(self.openvino(), rf"^OpenVINO cannot be loaded \(libopenvino\.so\.\d+: .*\){re.escape(problem)}$")
        for engine in ("openvino", "onnx"):
            with self.subTest(engine):
                line = self.refused("export", "run", "-o", "other", "--engine", engine, cwd=self.folder, code=1, lines=1)
                self.assertTrue(line.strip().endswith(problem), line)
        self.assertEqual(self.json_of("export", "run", "-o", "usual", "--json", cwd=self.folder)["engine"], "torch")
        self.cachet("predict", "usual", "image.png")
        done = subprocess.run([sys.executable, "-c", "import cachet"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(HAS_OPENVINO, "openvino is not installed")
    def test_with_the_package(self):
        self.assertEqual(self.openvino(), VERSION)
        best = json.loads(self.cachet("predict", "run", "image.png").stdout)["top"][0]
        for engine in ("openvino", "onnx"):
            with self.subTest(engine):
                report = self.json_of("export", "run", "-o", engine, "--engine", engine, "--check", "--json", cwd=self.folder)
                self.assertLess(report["largest_difference"], 1e-4)
                answer = json.loads(self.cachet("predict", engine, "image.png").stdout)["top"][0]
                self.assertEqual(answer["class"], best["class"])
                self.assertAlmostEqual(answer["probability"], best["probability"], delta=1e-4)
        self.assertEqual(self.json_of("export", "run", "-o", "usual", "--json", cwd=self.folder)["engine"], "openvino")
        report = self.json_of("export", "run", "-o", "small", "--engine", "openvino", "--precision", "int8", "--json", cwd=self.folder)
        self.assertEqual(report["precision"], "int8")


if __name__ == "__main__":
    command.main()
