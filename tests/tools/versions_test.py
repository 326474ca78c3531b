"""tools/versions: files that repeat one of its versions have the same."""

import pathlib
import re
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


if __name__ == "__main__":
    unittest.main()
