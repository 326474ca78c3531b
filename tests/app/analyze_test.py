"""Looking inside runs: the page, the numbers, resuming, and what cannot be looked at."""
import json
import shutil

import command
from runs import RunTest

SMALL = ["--samples", "16", "--steps", "8"]


class Analyze(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run", "--set", "train.epochs=1")

    def analyze(self, *words):
        return self.cachet("analyze", *words, *SMALL)

    def parts(self, folder):
        return {path.name: path.stat().st_mtime_ns for path in (self.folder / folder / "parts").iterdir()}

    def test_the_page_and_the_numbers(self):
        done = self.analyze("run", "-o", "seen")
        self.assertEqual(done.stdout, "seen/analysis.html\n")
        self.assertIn("the test of normality is inaccurate with only 8 steps; set --steps to at least 20", done.stderr)
        page = (self.folder / "seen/analysis.html").read_text()
        for part in ("Caches", "Gates and drift", "Maps of the branches", "Interventions on caches", "Norms",
                     "Similarity of layers", "Attention and kernels", "data:image/png;base64,", "zeroed"):
            self.assertIn(part, page)
        values = json.loads((self.folder / "seen/analysis.json").read_text())
        self.assertEqual(list(values), ["schema", "runs", "samples", "steps", "analyses", "left_out"])
        self.assertEqual(values["left_out"], [])
        self.assertEqual([run["samples"] for run in values["runs"]], [16])
        self.assertEqual([run["seed"] for run in values["runs"]], [0])
        for one in values["analyses"]["kernels"] + values["analyses"]["maps"]:
            self.assertEqual(one["seed"], 0)
        self.assertEqual(values["analyses"]["kernels"][0]["samples"], 16)
        of_samples = "16 evaluation samples of 33, drawn by seed 0"
        self.assertIn(f"({of_samples})", page)
        self.assertIn(f"Measured on {of_samples}, without padding.", page)
        self.assertIn("the samples are chosen at random with seed 0", page)
        text = self.cachet("analyze", "run", "--what", "kernels", *SMALL).stdout
        self.assertIn(f"run ({of_samples})", text)
        self.assertIn(f"Measured on {of_samples}, without padding.", " ".join(text.split()))
        self.assertEqual(list(values["analyses"]), ["caches", "gates", "maps", "interventions", "norms", "similarity",
                                                    "kernels"])
        for results in values["analyses"].values():
            self.assertEqual([result["run"] for result in results], ["run"])
        self.assertEqual(self.json_of("analyze", "run", "-o", "seen", "--json", *SMALL, cwd=self.folder), values)

    def test_what_is_there_is_not_done_again(self):
        self.analyze("run", "-o", "seen")
        whole, page = self.parts("seen"), (self.folder / "seen/analysis.html").read_text()
        self.assertEqual(len(whole), 7)
        gone = sorted(whole)[2]
        (self.folder / "seen/parts" / gone).unlink()  # as a call leaves it that was killed
        self.analyze("run", "-o", "seen")
        again = self.parts("seen")
        self.assertEqual(set(again), set(whole))
        self.assertEqual([name for name in whole if again[name] != whole[name]], [gone])
        self.assertEqual((self.folder / "seen/analysis.html").read_text(), page)
        for foreign in ('{"left_out":"","values":{}}', '{"left_out":"","values":{"layers":[],"gates":{"a":[]}}}', "[" * 100000):
            (self.folder / "seen/parts" / gone).write_text(foreign)
            self.analyze("run", "-o", "seen")
            self.assertEqual((self.folder / "seen/analysis.html").read_text(), page)
        # Other options are other measurements, of those that depend on them.
        self.cachet("analyze", "run", "-o", "seen", "--samples", "16", "--steps", "9")
        more = set(self.parts("seen")) - set(whole)
        self.assertEqual(sorted(name.partition("-")[0] for name in more), ["gates", "norms"])
        self.analyze("run", "-o", "seen", "--overwrite")
        self.assertEqual(set(self.parts("seen")), set(whole))
        self.assertIn("-o", self.refused("analyze", "../run", "--overwrite", cwd=self.folder / "seen"))
        self.assertEqual(set(self.parts("seen")), set(whole))
        self.assertTrue((self.folder / "seen/analysis.html").exists())

    def test_similarity_says_what_it_leaves_out(self):
        self.cachet("analyze", "run", "-o", "alike", "--what", "similarity", "--samples", "19")
        one, = json.loads((self.folder / "alike/analysis.json").read_text())["analyses"]["similarity"]
        self.assertEqual(one["samples"], 19)
        self.assertGreater(19 % one["examples"], 0)
        self.assertEqual(one["batches"], 19 // one["examples"])
        self.assertIn(f"The last {19 % one['examples']} of the 19 samples do not fill a batch and are left out.",
                      (self.folder / "alike/analysis.html").read_text())

    def test_runs_side_by_side(self):
        self.train("other", "--set", "train.epochs=1", "--set", "model.cache.kind=none")
        done = self.analyze("run", "other", "-o", "both")
        self.assertIn("left out: caches: other has no cache", done.stderr)
        values = json.loads((self.folder / "both/analysis.json").read_text())["analyses"]
        self.assertEqual([(one["run"], one.get("beside")) for one in values["similarity"]],
                         [("run", None), ("other", None), ("run", "other")])
        self.assertEqual([one["run"] for one in values["norms"]], ["run", "other"])
        self.assertEqual([one["run"] for one in values["caches"]], ["run"])
        text = self.cachet("analyze", "run", "other", "--what", "norms,interventions", *SMALL).stdout
        for part in ("Norms: other", "zeroed", "PNAC"):
            self.assertIn(part, text)

    def test_attention_on_a_concatenated_cache(self):
        self.train("joined", "--set", "train.epochs=1", "--set", "model.cache.kind=concatenated")
        done = self.analyze("joined", "-o", "seen")
        page = (self.folder / "seen/analysis.html").read_text()
        for part in ("Attention on the memory: joined", "Slots of", "Gates and drift", "zeroed"):
            self.assertIn(part, page)
        self.assertNotIn("σ(λ): joined", page)
        self.assertIn("left out: maps: joined has no separate memory attention", done.stderr)
        values = json.loads((self.folder / "seen/analysis.json").read_text())["analyses"]
        layers = values["caches"][0]["memory_attention"]
        self.assertEqual(len(layers), 1)
        for layer in layers:
            for fraction in layer["fractions"]:
                self.assertTrue(0 < fraction < 1, layers)

    def test_bad_inputs(self):
        self.assertIn("nowhere", self.refused("analyze", "nowhere", cwd=self.folder, code=1))
        self.assertIn("images", self.refused("analyze", "images", cwd=self.folder, code=1))
        bare = self.folder / "bare"
        shutil.copytree(self.folder / "run", bare, ignore=shutil.ignore_patterns("checkpoints"))
        self.assertIn("checkpoint", self.refused("analyze", "bare", cwd=self.folder, code=1))
        self.assertIn("8 steps", self.refused("analyze", "run", "--steps", "7", cwd=self.folder))
        self.assertIn("a whole number from 1", self.refused("analyze", "run", "--samples", "0", cwd=self.folder))
        self.assertIn("'caches'", self.refused("analyze", "run", "--what", "cachs", cwd=self.folder))
        self.assertIn("twice", self.refused("analyze", "run", "run", cwd=self.folder))
        self.assertIn("is an input of this command", self.refused("analyze", "run", "-o", "run", cwd=self.folder))
        self.assertIn("its contents are not an output of this command", self.refused("analyze", "run", "-o", "images", cwd=self.folder))
        self.cachet("export", "run", "-o", "exported", "--engine", "torch")
        self.assertIn("is an export", self.refused("analyze", "exported", "--data", "images", cwd=self.folder, code=1))
        self.train("plain", "--set", "train.epochs=1", "--set", "model.cache.kind=none", "--set", "model.norm.kind=layer")
        self.assertIn("has no cache", self.refused("analyze", "plain", "--what", "caches", *SMALL, cwd=self.folder))
        self.train("drawn", "--set", "train.epochs=1", "--set", "data.limit=90", "--set", "data.subset_seed=4")
        self.assertIn("are evaluated on different data", self.refused("analyze", "run", "drawn", "--what", "similarity", *SMALL,
                                                 "--progress", "none", cwd=self.folder))


if __name__ == "__main__":
    command.main()
