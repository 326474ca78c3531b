"""OpenVINO is loaded at the first use: what commands do where its libraries or Cachet's modules are missing."""
import json
import os
import pathlib
import re
import subprocess

import command
from runs import RunTest, pixels, write_png

# Commands that need no OpenVINO, in the folder of a run and of its export for LibTorch.
WITHOUT = (["--version"], ["models"], ["export", "--help"], ["eval", "run"], ["predict", "torch", "image.png"], ["bench", "torch", "--seconds", "0.001"])


def libraries():
    """The folder of the libraries that the command loads."""
    mapped = subprocess.run(["ldd", command.COMMAND], capture_output=True, text=True, check=True).stdout
    return pathlib.Path(re.search(r"=> (\S*/libcachet\.so\S*)", mapped)[1]).parent


def modules():
    return sorted(libraries().glob("libcachet_*_openvino.so*"))


def needed(file):
    """The libraries that a file names as its own needs."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.run(["readelf", "--dynamic", file], capture_output=True, text=True, check=True).stdout)


class OpenVino(RunTest):
    def setUp(self):
        super().setUp()
        if not modules():
            self.skipTest("built without OpenVINO")
        # A folder that the loader searches first: links to the libraries of the build.
        self.links = self.folder / "libraries"
        self.links.mkdir()
        for library in libraries().glob("lib*.so*"):
            (self.links / library.name).symlink_to(library)
        self.variables = {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, [str(self.links), os.environ.get("LD_LIBRARY_PATH", "")]))}

    def break_openvino(self):
        """Hides OpenVINO's library by an empty file. Returns its name."""
        name, = (name for name in needed(modules()[-1]) if name.startswith("libopenvino.so"))
        (self.links / name).write_bytes(b"")
        return name

    def command(self, *words):
        return command.run(*words, cwd=self.folder, variables=self.variables)

    def env(self):
        return json.loads(self.command("env", "--json").stdout)["openvino"]

    def test_only_the_modules_need_openvino(self):
        for library in sorted(libraries().glob("libcachet*.so")) + [pathlib.Path(command.COMMAND)]:
            with self.subTest(library.name):
                uses = [name for name in needed(library) if "openvino" in name]
                self.assertEqual(bool(uses), library.name.endswith("_openvino.so"), uses)
        runtime, = libraries().glob("libcachet_runtime_openvino.so")
        self.assertEqual([name for name in needed(runtime) if re.match("libtorch|libc10|libcachet", name)], [])

    def test_a_command_runs_without_what_it_does_not_need(self):
        self.train("run")
        for engine in ("torch", "openvino"):
            self.cachet("export", "run", "-o", engine, "--engine", engine)
        report = self.json_of("export", "run", "-o", "usual", "--json", cwd=self.folder)
        self.assertEqual(report["engine"], "openvino")
        write_png(self.folder / "image.png", 8, 8, pixels(0))

        name = self.break_openvino()
        for words in WITHOUT:
            with self.subTest(words[0]):
                done = self.command(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.env(), rf"^OpenVINO cannot be loaded \(.*{re.escape(name)}: .*\); run tools/setup --openvino$")
        for words, beginning in (
            (["export", "run", "-o", "other", "--engine", "openvino"], "an export for the engine openvino needs OpenVINO, but "),
            (["export", "run", "-o", "other", "--engine", "onnx"], "OpenVINO is needed to compare an ONNX file with its model, but "),
            (["predict", "openvino", "image.png"], "openvino: this export needs OpenVINO, but "),
        ):
            with self.subTest(words):
                self.refused_by(words, beginning + "OpenVINO cannot be loaded (", "; run tools/setup --openvino")
                self.assertFalse((self.folder / "other").exists())
        report = json.loads(self.command("export", "run", "-o", "usual", "--overwrite", "--json").stdout)
        self.assertEqual(report["engine"], "torch")

        for module in self.links.glob("libcachet_*_openvino.so*"):
            module.unlink()
        self.assertEqual(self.env(), "not built in")
        self.refused_by(["predict", "openvino", "image.png"], "openvino: this export needs OpenVINO, but this Cachet was built without OpenVINO; ",
                        "; run tools/setup --openvino, then build again")

    def refused_by(self, words, beginning, end):
        """The command ends with one line, which has this text and this end."""
        line = self.refused(*words, code=1, lines=1, cwd=self.folder, variables=self.variables).strip()
        self.assertIn(beginning, line)
        self.assertTrue(line.endswith(end), line)


if __name__ == "__main__":
    command.main()
