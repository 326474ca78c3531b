"""`import cachet`: what it loads, what it refuses in one line, and the console script.

  PYTHONPATH=build/release/python python tests/python/cachet_import_test.py
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import _cachet_command
import torch

import cachet
from cachet import _build

PACKAGE = pathlib.Path(cachet.__file__).parent


def python(code, *, path=PACKAGE.parent, **variables):
    """Runs code in a process of its own that finds the package at `path`."""
    environment = {**os.environ, "PYTHONPATH": str(path), **variables}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


class CopiedPackage(unittest.TestCase):
    """Tests that change a copy of the package: the sources, with links to the libraries and the command."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        shutil.copytree(PACKAGE, self.path / "cachet", ignore=shutil.ignore_patterns("lib", "bin", "__pycache__"))
        for name in ("lib", "bin"):
            (self.path / "cachet" / name).symlink_to(PACKAGE / name)
        shutil.copy(_cachet_command.__file__, self.path)

    def built_with(self, torch_version):
        file = self.path / "cachet" / "_build.py"
        file.write_text(file.read_text().replace(_build.TORCH_VERSION, torch_version))

    def refused(self, code="import cachet"):
        """The last line of the output of a process that fails; it is the only one after the traceback."""
        done = python(code, path=self.path)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr.strip().splitlines()[-1]


class Imports(CopiedPackage):
    def test_only_torch_and_what_torch_imports(self):
        code = ("import json, sys, torch; before = set(sys.modules); import cachet; "
                "print(json.dumps(sorted(name.split('.')[0] for name in set(sys.modules) - before)))")
        done = python(code)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(set(json.loads(done.stdout)), {"cachet", "_cachet_command"})

    def test_another_version_of_torch_is_one_line_before_anything_is_loaded(self):
        self.built_with("2.7.1")
        line = self.refused()
        self.assertEqual(line, f"ImportError: cachet-torch {_build.VERSION} was built with torch 2.7.1 and found torch "
                               f"{torch.__version__}. Run: pip install 'torch==2.7.*', or install a cachet-torch that was "
                               "built with your torch")

    def test_a_patch_release_of_torch_is_taken(self):
        major, minor = _build.TORCH_VERSION.split(".")[:2]
        self.built_with(f"{major}.{minor}.77")
        self.assertEqual(python("import cachet", path=self.path).returncode, 0)

    def test_two_in_one_process_are_refused_by_name(self):
        library = PACKAGE / "lib" / _build.OPERATORS
        line = self.refused(f"import torch; torch.ops.load_library({str(library)!r}); import cachet")
        self.assertIn("ImportError: this process has already loaded another build of Cachet, ", line)
        self.assertIn(str(library.resolve()), line)
        self.assertIn(str(self.path / "cachet" / "lib" / _build.OPERATORS), line)

    def test_the_other_project_of_this_name_is_reported(self):
        (self.path / "cachet-1.2.dist-info").mkdir()
        line = self.refused()
        self.assertIn("belongs to two distributions: cachet-torch and the unrelated cachet-1.2", line)
        self.assertIn("pip uninstall cachet cachet-torch", line)

    def test_a_library_that_is_missing_is_one_line(self):
        (self.path / "cachet" / "lib").unlink()
        line = self.refused()
        self.assertTrue(line.startswith(f"ImportError: cachet-torch {_build.VERSION} cannot load "), line)

    def test_cmake_finds_the_prefix(self):
        self.assertEqual(cachet.cmake_prefix_path, str(PACKAGE))


class ConsoleScript(CopiedPackage):
    def run_script(self, *arguments):
        code = f"import sys, _cachet_command; sys.argv[1:] = {list(arguments)!r}; _cachet_command.main()"
        return python(code, path=self.path)

    def test_it_is_the_command(self):
        done = self.run_script("env", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["cachet"], _build.VERSION)

    def test_it_does_not_import_torch(self):
        code = "import sys, _cachet_command; print('torch' in sys.modules)"
        self.assertEqual(python(code).stdout.strip(), "False")

    def test_another_version_of_torch_is_one_line(self):
        self.built_with("2.7.1")
        done = self.run_script("env")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(f"was built with torch 2.7.1 and found torch {torch.__version__}", done.stderr)

    def test_the_other_project_is_reported(self):
        (self.path / "cachet" / "_build.py").unlink()
        done = self.run_script("env")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("is not of cachet-torch", done.stderr)

    def test_the_command_finds_a_torch_and_an_openvino_elsewhere(self):
        torch, openvino = (pathlib.Path("/opt/site-packages", name) for name in ("torch", "openvino"))
        paths = _cachet_command.environment(torch, openvino)["LD_LIBRARY_PATH"]
        self.assertTrue(paths.startswith(f"{torch}/lib:{openvino}/libs"), paths)
        paths = _cachet_command.environment(torch, None)["LD_LIBRARY_PATH"]
        self.assertTrue(paths.startswith(f"{torch}/lib"), paths)
        self.assertNotIn("openvino", paths.split(":")[0])

    def test_the_command_finds_packages_next_to_it_by_itself(self):
        next_to = {name: PACKAGE.parent / name for name in ("torch", "openvino")}
        self.assertEqual(_cachet_command.environment(**next_to), dict(os.environ))


class Libraries(unittest.TestCase):
    def test_no_library_that_python_loads_needs_jemalloc_or_openvino(self):
        loaded = python("import cachet; print(open('/proc/self/maps').read())")
        self.assertEqual(loaded.returncode, 0, loaded.stderr)
        self.assertIn("libcachet_ops", loaded.stdout)
        for name in ("jemalloc", "openvino"):
            self.assertNotIn(name, loaded.stdout)

    def test_openvino_may_be_imported_before_or_after(self):
        module = PACKAGE / "lib" / ("libcachet_deploy_openvino" + _build.OPERATORS.removeprefix("libcachet_ops"))
        if importlib.util.find_spec("openvino") is None or not module.exists():
            self.skipTest("no OpenVINO")
        # The module of Cachet that uses OpenVINO is loaded, too.
        rest = ("import ctypes, numpy, openvino.opset13 as ops; "
                "x = ops.parameter([2], openvino.Type.f32); model = openvino.Model([ops.add(x, x)], [x]); "
                "assert openvino.compile_model(model, 'CPU')([numpy.array([1, 2], numpy.float32)])[0].tolist() == [2, 4]; "
                f"entry = ctypes.CDLL({str(module)!r}).cachet_deploy_openvino; entry.restype = ctypes.c_void_p; assert entry()")
        for first, second in (("openvino", "cachet"), ("cachet", "openvino")):
            with self.subTest(first):
                done = python(f"import {first}; import {second}; " + rest)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
