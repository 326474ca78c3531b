"""Runs the cells of examples/python/*.ipynb, each notebook as one program. Skipped if timm is not installed.

  PYTHONPATH=build/release/python python tests/python/python_notebook_test.py
"""
import importlib.util
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "python").glob("*.ipynb"))
# Lets timm be imported where the compiled operators of torchvision do not fit the build of PyTorch.
sys.path.insert(0, str(ROOT / "tests" / "peers"))
HAS_TIMM = bool(importlib.util.find_spec("timm") and importlib.util.find_spec("torchvision"))
if HAS_TIMM:
    import torchvision_here  # noqa: F401


class Notebooks(unittest.TestCase):
    def test_no_output_is_stored(self):
        self.assertTrue(NOTEBOOKS)
        for notebook in NOTEBOOKS:
            for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), notebook.name)

    @unittest.skipUnless(HAS_TIMM, "timm is not installed: pip install timm torchvision")
    def test_all_cells_run(self):
        for notebook in NOTEBOOKS:
            names = {"__name__": "__main__"}
            cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
            code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
            self.assertGreater(len(code), 5)
            for number, cell in enumerate(code, 1):
                with self.subTest(notebook=notebook.name, cell=number):
                    exec(compile(cell, f"{notebook.name}, cell {number}", "exec"), names)


if __name__ == "__main__":
    unittest.main()
