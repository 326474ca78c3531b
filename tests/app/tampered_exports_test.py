"""An export that was changed is refused, or answers as before: each byte of its manifest (where CACHET_ROBUSTNESS is "full"; a sample
else), and files of another export instead."""
import itertools
import json
import os
import random
import shutil

import command
import runs
from export_test import engines

FULL = os.environ.get("CACHET_ROBUSTNESS") == "full"
OLD = command.ROOT / "tests/data/saved_by_0_1_0/idx/export"


class Tampered(runs.RunTest):
    def setUp(self):
        super().setUp()
        runs.write_png(self.folder / "0.png", 8, 8, runs.pixels(0))
        self.train("run", "--set", "train.limit='2 steps'")
        self.cachet("export", "run", "-o", "out", "--engine", "torch")
        self.expected = self.answer("out").stdout

    def answer(self, export, given="0.png"):
        return command.run("predict", export, given, "--logits", cwd=self.folder)

    def hold(self, where, export="out", given="0.png", expected=None):
        """Refused in a line, or the same answer."""
        done = self.answer(export, given)
        if done.returncode == 0:
            self.assertEqual(done.stdout, expected or self.expected, where)
            return False
        self.assertEqual((done.returncode, done.stdout), (1, ""), (where, done.stderr))
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 2, (where, done.stderr))
        return True

    def hold_each_byte(self, export, given, sampled):
        """With each byte of the manifest changed, one after the other."""
        expected = self.answer(export, given)
        self.assertEqual(expected.returncode, 0, expected.stderr)
        manifest = self.folder / export / "export.json"
        whole = manifest.read_bytes()
        draw = random.Random(7)
        places = range(len(whole)) if FULL else sorted(draw.sample(range(len(whole)), sampled))
        refused = 0
        for place in places:
            changed = bytearray(whole)
            changed[place] ^= 1 << draw.randrange(8)
            manifest.write_bytes(bytes(changed))
            refused += self.hold((export, place, whole[max(0, place - 20):place + 20]), export, given, expected.stdout)
        manifest.write_bytes(whole)
        self.assertGreater(refused, len(places) / 2)

    def test_each_byte_of_the_manifest(self):
        self.hold_each_byte("out", "0.png", 24)

    def test_each_byte_of_the_manifest_of_other_engines_and_tasks(self):
        runs.write_reviews(self.folder / "reviews")
        self.cachet("train", "lra_small_text", "--run", "texts", "--progress", "none", "--set", "train.limit='2 steps'", "--set",
                    "data.root=reviews", *runs.SMALL_ENCODER)
        for engine in engines():
            with self.subTest(engine):
                self.cachet("export", "texts", "-o", "texts-out", "--engine", engine, "--overwrite")
                self.hold_each_byte("texts-out", "a film", 8)

    def test_values_of_the_manifest(self):
        manifest = self.folder / "out/export.json"
        whole = json.loads(manifest.read_text())
        self.assertEqual((whole["version"], len(whole["digest"]), len(whole["source"]["weights"])), (4, 64, 64))
        checkpoint = next(self.folder.glob("run/checkpoints/step-*/manifest.json"))
        self.assertIn(whole["source"]["weights"], checkpoint.read_text())

        def refusal(change):
            content = json.loads(json.dumps(whole))
            change(content)
            manifest.write_text(json.dumps(content))
            return self.refused("predict", "out", "0.png", cwd=self.folder, code=1)

        self.assertIn("digest: does not match the other keys of the file", refusal(lambda content: content["image"].update(mean=[0.3])))
        self.assertIn("digest: does not match the other keys of the file", refusal(lambda content: content["classes"].reverse()))
        self.assertIn("has no 'digest'", refusal(lambda content: content.pop("digest")))
        for version in (1, 2):
            self.assertIn("has the key 'digest'", refusal(lambda content: content.update(version=version)))
            self.assertNotEqual(refusal(lambda content: (content.update(version=version), content.pop("digest"))), "")
        self.assertIn("newer version", refusal(lambda content: content.update(version=5)))

    def test_files_of_another_export(self):
        self.train("other", "--set", "train.limit='2 steps'", "--set", "train.seed=5")
        for engine in engines():
            with self.subTest(engine):
                for run, export in (("run", "out"), ("other", "other-out")):
                    self.cachet("export", run, "-o", export, "--engine", engine, "--overwrite")
                shutil.copytree(self.folder / "out", self.folder / "kept", dirs_exist_ok=True)
                expected, other = self.answer("out").stdout, self.answer("other-out").stdout
                self.assertNotEqual(expected, other)
                names = sorted(path.name for path in (self.folder / "out").iterdir() if path.name != "report.html")
                self.assertIn("export.json", names)
                self.assertGreaterEqual(len(names), 3)
                # Each file and each group of files of the other export (all but one in a sample). All of them are the other export.
                for count in range(1, len(names)) if FULL else (1, len(names) - 1):
                    for group in itertools.combinations(names, count):
                        for name in group:
                            shutil.copy2(self.folder / "other-out" / name, self.folder / "out" / name)
                        self.assertTrue(self.hold((engine, group), expected=expected))
                        for name in group:
                            shutil.copy2(self.folder / "kept" / name, self.folder / "out" / name)
                # Two files of the export swapped.
                for one, two in itertools.combinations(names, 2):
                    shutil.copy2(self.folder / "kept" / one, self.folder / "out" / two)
                    shutil.copy2(self.folder / "kept" / two, self.folder / "out" / one)
                    self.assertTrue(self.hold((engine, one, two), expected=expected))
                    for name in (one, two):
                        shutil.copy2(self.folder / "kept" / name, self.folder / "out" / name)
                # A file that is absent.
                for name in names:
                    (self.folder / "out" / name).unlink()
                    self.assertTrue(self.hold((engine, name), expected=expected))
                    shutil.copy2(self.folder / "kept" / name, self.folder / "out" / name)
                self.assertFalse(self.hold(engine, expected=expected))
                shutil.rmtree(self.folder / "kept")

    def test_a_manifest_of_0_1_0_has_no_other_keys(self):
        shutil.copytree(OLD, self.folder / "old")
        manifest = self.folder / "old/export.json"
        whole = json.loads(manifest.read_text())
        self.assertIn("is an export of an earlier version", self.answer("old").stderr)
        for change in (lambda content: content.update(digest="0" * 64), lambda content: content.update(mean=[0.5]),
                       lambda content: content["image"].update(orientation="apply"),
                       lambda content: content["image"].update(orientatiom="apply"),
                       lambda content: content["inputs"][0].update(longest=5), lambda content: content.update(version=2),
                       lambda content: content.update(version=3)):
            content = json.loads(json.dumps(whole))
            change(content)
            manifest.write_text(json.dumps(content))
            said = self.refused("predict", "old", "0.png", cwd=self.folder, code=1)
            self.assertIn("export the model again", said)
            if content["version"] == 2:
                self.assertIn("version: is 2, but image.orientation, which a file of version 2 must have, is missing", said)


if __name__ == "__main__":
    command.main()
