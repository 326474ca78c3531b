"""An export that was changed is refused, or answers as before: each byte of its manifest, and files of another export in its place."""
import json
import os
import random
import shutil

import command
import runs

FULL = os.environ.get("CACHET_ROBUSTNESS") == "full"
OLD = command.ROOT / "tests/data/saved_by_0_1_0/idx/export"


class Tampered(runs.RunTest):
    def setUp(self):
        super().setUp()
        runs.write_png(self.folder / "0.png", 8, 8, runs.pixels(0))
        self.train("run", "--set", "train.limit='2 steps'")
        self.cachet("export", "run", "-o", "out", "--engine", "torch")
        self.expected = self.answer("out").stdout

    def answer(self, export):
        return command.run("predict", export, "0.png", "--logits", cwd=self.folder)

    def hold(self, where):
        """Refused in a line, or the same answer."""
        done = self.answer("out")
        if done.returncode == 0:
            self.assertEqual(done.stdout, self.expected, where)
            return False
        self.assertEqual(done.returncode, 1, (where, done.stderr))
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 2, (where, done.stderr))
        return True

    def test_each_byte_of_the_manifest(self):
        manifest = self.folder / "out/export.json"
        whole = manifest.read_bytes()
        draw = random.Random(7)
        places = range(len(whole)) if FULL else sorted(draw.sample(range(len(whole)), 24))
        refused = 0
        for place in places:
            changed = bytearray(whole)
            changed[place] ^= 1 << draw.randrange(8)
            manifest.write_bytes(bytes(changed))
            refused += self.hold((place, whole[max(0, place - 20):place + 20]))
        self.assertGreater(refused, len(places) / 2)

    def test_values_of_the_manifest(self):
        manifest = self.folder / "out/export.json"
        whole = json.loads(manifest.read_text())
        self.assertEqual((whole["version"], len(whole["digest"]), len(whole["source"]["weights"])), (3, 64, 64))
        checkpoint = next(self.folder.glob("run/checkpoints/step-*/manifest.json"))
        self.assertIn(whole["source"]["weights"], checkpoint.read_text())

        def refusal(change):
            content = json.loads(json.dumps(whole))
            change(content)
            manifest.write_text(json.dumps(content))
            return self.refused("predict", "out", "0.png", cwd=self.folder, code=1)

        self.assertIn("digest: is not that", refusal(lambda content: content["image"].update(mean=[0.3])))
        self.assertIn("digest: is not that", refusal(lambda content: content["classes"].reverse()))
        self.assertIn("has no 'digest'", refusal(lambda content: content.pop("digest")))
        for version in (1, 2):
            self.assertIn("has the key 'digest'", refusal(lambda content: content.update(version=version)))
            self.assertNotEqual(refusal(lambda content: (content.update(version=version), content.pop("digest"))), "")
        self.assertIn("newer version", refusal(lambda content: content.update(version=4)))

    def test_files_of_another_export(self):
        self.train("other", "--set", "train.limit='2 steps'", "--set", "train.seed=5")
        self.cachet("export", "other", "-o", "other-out", "--engine", "torch")
        shutil.copytree(self.folder / "out", self.folder / "kept")
        for name in ("export.json", "model.safetensors", "recipe.toml"):
            shutil.copy2(self.folder / "other-out" / name, self.folder / "out" / name)
            self.hold(name)
            shutil.copy2(self.folder / "kept" / name, self.folder / "out" / name)
        for one, two in (("model.safetensors", "recipe.toml"), ("export.json", "recipe.toml")):
            (self.folder / "out" / one).rename(self.folder / "out/third")
            (self.folder / "out" / two).rename(self.folder / "out" / one)
            (self.folder / "out/third").rename(self.folder / "out" / two)
            self.assertTrue(self.hold((one, two)))
            for name in (one, two):
                shutil.copy2(self.folder / "kept" / name, self.folder / "out" / name)

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
            self.assertIn("export the model again", self.refused("predict", "old", "0.png", cwd=self.folder, code=1))


if __name__ == "__main__":
    command.main()
