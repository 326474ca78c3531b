"""The journeys of docs/start/first-hour.md, each from an empty folder with the installed command: data that the test makes, the commands of
the page as they are written there, the printed numbers, the page in a browser, an export, a prediction.

usage: first_hour_test.py PREFIX [JOURNEY ...]     PREFIX: where Cachet was installed

Training is made short: `cachet train` gets the options of SHORT, which make models small and runs of a few steps."""
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import made_data
import published_vit

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/start/first-hour.md"
sys.path.append(str(ROOT / "tests/app"))
from hub_server import Server  # noqa: E402

try:
    import browser  # noqa: E402
except ImportError:
    browser = None

PREFIX = None  # set by main()


def settings(*assignments):
    return [word for each in assignments for word in ("--set", each)]


VIT = ["--image-size", "32", "--epochs", "4", *settings("model.patch_size=8", "model.embed_dim=32", "model.depth=2", "model.num_heads=2")]
SHORT = {  # by model
    "vit_tiny_patch16_224": VIT,
    # The whole model, whose weights are published.
    "hf:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k": ["--image-size", "32", "--epochs", "2"],
    "transformer_xl_small": ["--epochs", "3", *settings("model.embed_dim=32", "model.depth=2", "model.num_heads=2", "model.mlp_dim=64")],
    "transformer_translation_small": [
        "--epochs", "3", *settings("model.embed_dim=32", "model.encoder_depth=1", "model.decoder_depth=1", "model.encoder_heads=2",
                                   "model.decoder_heads=2", "model.encoder_mlp_dim=64", "model.decoder_mlp_dim=64")],
    "retinanet_pvt_tiny_fpn": [
        "--epochs", "2", *settings("model.embed_dims=[8, 16, 16, 32]", "model.depths=[1, 1, 1, 1]", "model.num_heads=[1, 2, 2, 4]",
                                   "model.mlp_ratios=[1, 1, 1, 1]", "model.neck.out_channels=16")],
    "lra_small": ["--epochs", "4", *settings("model.embed_dim=16", "model.depth=1", "model.num_heads=2", "model.mlp_dim=32")],
}
MOST_COMMANDS = 3  # to a trained model


@dataclasses.dataclass
class Journey:
    name: str
    start: str
    goal: str
    to_model: list
    using: list


def journeys():
    """The rows of the page's table with the commands of their sections, by name. In a section's block, the commands to the model come before
    an empty line, and those that use the model after it."""
    text, found = PAGE.read_text(encoding="utf-8"), {}
    sections = {heading.lower(): block for heading, block in re.findall(r"^## ([^\n]+)\n\n```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)}
    for name, start, goal in re.findall(r"^\| \[([^\]]*)\]\(#[^)]*\) \| (.*) \| (.*) \|$", text, re.MULTILINE):
        to_model, _, using = sections[name.lower()].partition("\n\n")
        found[name] = Journey(name, start, goal, to_model.splitlines(), using.splitlines())
    return found


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


class FirstHour(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name, "work")
        self.folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CACHET_", "HF_")) and name != "RANK"}
        self.variables = {**kept, "HOME": scratch.name, "PATH": f"{PREFIX}/bin{os.pathsep}{os.environ['PATH']}",
                          "CMAKE_PREFIX_PATH": PREFIX, "OMP_WAIT_POLICY": "passive"}
        self.commands, self.seconds = 0, 0.0

    def words(self, line):
        words = shlex.split(line)
        if words[:2] == ["cachet", "train"] and words[2] in SHORT:
            words += SHORT[words[2]]
        return words

    def run_line(self, line):
        """Runs a command of the page; returns what it printed."""
        begin = time.monotonic()
        done = subprocess.run(self.words(line), cwd=self.folder, env=self.variables, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=600)  # a model of bytes may write bytes that are not UTF-8
        self.seconds += time.monotonic() - begin
        self.commands += 1
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        self.assertNotIn("Traceback", done.stderr)
        self.said = done.stderr
        return done.stdout

    def travel(self, name, page="my-run/report.html"):
        """Runs all commands of a journey; returns what each printed, by command."""
        journey = journeys()[name]
        self.assertLessEqual(len(journey.to_model), MOST_COMMANDS)
        printed, self.notes = {}, {}
        for line in [*journey.to_model, *journey.using]:
            printed[line] = self.run_line(line)
            self.notes[line] = self.said
        self.print_line(journey)
        for line, text in printed.items():
            if line.startswith("cachet train"):
                self.assertRegex(text, r"^step \d+, .*\n.*report\.html\n$")
                self.assertRegex(self.notes[line], r"(?m)^epoch \d+/\d+ .*\|", "each evaluation leaves a line with its numbers")
        if page:
            self.assert_page_fits(page)
        return list(printed.values())

    def print_line(self, journey):
        print(f"first hour: {journey.name}: {len(journey.to_model)} to a trained model, {self.commands} commands in all, {self.seconds:.0f} s",
              flush=True)

    def assert_page_fits(self, page):
        file = self.folder / page
        self.assertIn("</html>", file.read_text(encoding="utf-8"))
        if browser is None or browser.PROGRAM is None:
            print("first hour: the page was not opened: there is no Chromium (Debian: apt-get install chromium)", flush=True)
            return
        with browser.Browser() as opened:
            browser.assert_nothing_is_cut(self, opened, file)

    def assert_same_answer(self, of_run, of_export):
        """The same class from a run and from its export."""
        first, second = (json.loads(text.splitlines()[0]) for text in (of_run, of_export))
        self.assertEqual(first["top"][0]["class"], second["top"][0]["class"])

    # Images

    def test_own_images(self):
        made_data.photos(self.folder)
        trained, evaluated, predicted, exported, deployed = self.travel("own images")
        self.assertRegex(evaluated, r"top1 +\d")
        self.assertIn(json.loads(predicted)["top"][0]["class"], made_data.CLASSES)
        self.assert_same_answer(predicted, deployed)

    def test_cached_variant(self):
        made_data.photos(self.folder)
        *_, compared, evaluated, exported, deployed = self.travel("a cached variant, and a comparison", "comparison.html")
        self.assertRegex(evaluated, r"top1 +\d")
        self.assertIn("model.cache.kind", (self.folder / "comparison.html").read_text())
        self.assertIn(json.loads(deployed)["top"][0]["class"], made_data.CLASSES)

    def test_published_weights(self):
        made_data.photos(self.folder, count=8)
        store = Server()
        server = Server({published_vit.REPOSITORY: published_vit.files()}, store)
        for each in (server, store):
            self.addCleanup(each.close)
        self.variables["HF_ENDPOINT"] = server.address
        trained, evaluated, predicted, exported, deployed = self.travel("published weights")
        line = journeys()["published weights"].to_model[0]
        self.assertIn("mean 0.5 0.5 0.5", self.notes[line])
        self.assertRegex(self.notes[line], r"loaded 150 of 152 tensors from hf:timm/")
        self.assertRegex(self.notes[line], r"new, because .*head")
        self.assert_same_answer(predicted, deployed)

    def test_interrupted_and_resumed(self):
        made_data.photos(self.folder)
        journey = journeys()["interrupted and resumed"]
        first, second = journey.to_model
        begin = time.monotonic()
        process = subprocess.Popen([*self.words(first), *settings("train.epochs=400")], cwd=self.folder, env=self.variables,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = self.folder / "my-run/metrics.jsonl"
        while process.poll() is None and not (log.is_file() and log.read_text().count("\n") > 3):
            self.assertLess(time.monotonic() - begin, 120)
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=120)
        self.seconds += time.monotonic() - begin
        self.commands += 1
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("cachet train my-run --resume", said)
        before = len(log.read_text().splitlines())
        self.assertRegex(self.run_line(second + " --progress none --set train.epochs=8"), r"^step \d+, ")
        steps = [json.loads(line)["step"] for line in log.read_text().splitlines() if "step" in json.loads(line)]
        self.assertGreater(len(steps), before)
        self.assertEqual(steps, sorted(steps))
        evaluated, runs, exported, deployed = map(self.run_line, journey.using)
        self.assertRegex(evaluated, r"top1 +\d")
        self.assertIn("my-run", runs)
        self.assertIn(json.loads(deployed)["top"][0]["class"], made_data.CLASSES)
        self.print_line(journey)
        self.assert_page_fits("my-run/report.html")

    def test_used_without_libtorch(self):
        if not pathlib.Path(PREFIX, "lib/cmake/cachet_runtime").is_dir():
            self.skipTest("this build has no OpenVINO, whose engine the program uses")
        made_data.photos(self.folder)
        tutorial = "docs/tutorials/deploy-without-python.md"
        (self.folder / "main.cpp").write_text(blocks(tutorial, "cpp")[0])
        (self.folder / "CMakeLists.txt").write_text(blocks(tutorial, "cmake")[0])
        *_, answered = self.travel("used without LibTorch")
        self.assertRegex(answered, r"^new\.png (ant|bee|cat) [01]\.\d\d\n$")
        linked = subprocess.run(["ldd", "build/classify"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.assertNotIn("libtorch", linked)

    # Texts

    def test_own_text(self):
        made_data.notes(self.folder)
        trained, evaluated, generated, exported, deployed = self.travel("own text")
        self.assertRegex(evaluated, r"perplexity +\d")
        self.assertTrue(generated.startswith("The cat"), generated)
        self.assertTrue(deployed.startswith("The cat"), deployed)

    def test_own_language_pair(self):
        made_data.corpus(self.folder)
        trained, evaluated, translated, exported, deployed = self.travel("own language pair")
        self.assertRegex(evaluated, r"(?i)bleu +\d")
        self.assertEqual(len(translated.splitlines()), 2)
        self.assertEqual(len(deployed.splitlines()), 2)

    def test_labelled_texts(self):
        made_data.reviews(self.folder)
        trained, evaluated, predicted, exported, deployed = self.travel("labelled texts")
        self.assertRegex(evaluated, r"top1 +\d")
        self.assert_same_answer(predicted, deployed)

    # Scenes

    def test_own_coco_set(self):
        made_data.scenes(self.folder)
        trained, evaluated, predicted, exported, deployed = self.travel("own COCO set")
        self.assertRegex(evaluated, r"Average Precision .* = \d\.\d+")
        for text in (predicted, deployed):
            self.assertEqual(json.loads(text.splitlines()[0])["file"], "new.png")

    # C++

    def test_a_cpp_program(self):
        (self.folder / "main.cpp").write_text(blocks("README.md", "cpp")[0])
        (self.folder / "CMakeLists.txt").write_text((ROOT / "examples/cmake-project/CMakeLists.txt").read_text())
        *_, answered = self.travel("a C++ program", page=None)
        self.assertRegex(answered, r"^the cache is \[")


class Page(unittest.TestCase):
    def test_has_ten_journeys_with_a_test_each(self):
        found = journeys()
        self.assertEqual(len(found), 10)
        for journey in found.values():
            self.assertTrue(journey.start and journey.goal, journey)
            self.assertIn(len(journey.to_model), range(1, MOST_COMMANDS + 1), journey)
        text = pathlib.Path(__file__).read_text()
        for name in found:
            self.assertRegex(text, rf'(travel\(|journeys\(\)\[)"{re.escape(name)}"')


if __name__ == "__main__":
    PREFIX = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
