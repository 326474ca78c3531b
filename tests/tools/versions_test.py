"""tools/versions: files that repeat one of its versions have the same. The wheel requires the packages that it imports."""

import ast
import pathlib
import re
import runpy
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


VERSIONS = dict(re.findall(r"^([A-Z_0-9]+)=(\S+)$", read("tools/versions"), re.MULTILINE))


class Versions(unittest.TestCase):
    def test_the_extra_of_the_wheel_has_the_version_of_openvino(self):
        self.assertEqual(re.findall(r'"openvino==([^"]+)"', read("pyproject.toml")), [VERSIONS["OPENVINO"]])

    def test_pages_that_install_openvino_name_its_version(self):
        pages = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "openvino==" in path.read_text(encoding="utf-8")]
        self.assertTrue(pages)
        for page in pages:
            for version in re.findall(r"openvino==([\d.*]+)", page.read_text(encoding="utf-8")):
                self.assertEqual(version, VERSIONS["OPENVINO"], page)


class Requirements(unittest.TestCase):
    EXTRAS = ("timm.py", "transformers.py")  # modules that `import cachet` does not load

    def imported(self):
        """The packages of others that a module of the package imports when it is imported itself."""
        names = set()
        for path in sorted((ROOT / "python/cachet").rglob("*.py")):
            if path.name in self.EXTRAS:
                continue
            for statement in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(statement, ast.Import):
                    names |= {alias.name.split(".")[0] for alias in statement.names}
                elif isinstance(statement, ast.ImportFrom) and not statement.level:
                    names.add(statement.module.split(".")[0])
        return names - set(sys.stdlib_module_names) - {"cachet", "_cachet_command"}

    def test_the_wheel_requires_what_the_package_imports(self):
        metadata = runpy.run_path(str(ROOT / "python/build_metadata/requirements.py"))
        required = {re.match(r"[\w-]+", entry)[0] for entry in metadata["dynamic_metadata"]("dependencies", {})}
        self.assertEqual(required, {"torch", "numpy"})
        self.assertEqual(self.imported(), required)


if __name__ == "__main__":
    unittest.main()
