"""`bench --profile`, and the profile of a run."""
import json

import command

SMALL = ("--set", "model.depth=1", "--steps", "2", "--threads", "1")


class Profile(command.FolderTest):
    def assert_sums(self, profile):
        self.assertAlmostEqual(sum(family["milliseconds"] for family in profile["families"]), profile["busy_milliseconds"], places=6)
        self.assertTrue(0 < profile["busy_milliseconds"] <= profile["milliseconds"])
        self.assertAlmostEqual(sum(family["fraction"] for family in profile["families"]), profile["in_operators"], places=9)
        memory = profile["memory"]
        self.assertEqual(sum(kind["bytes"] for name, kind in memory.items() if name != "total"), memory["total"]["bytes"])
        self.assertEqual({name: kind["source"] for name, kind in memory.items()},
                         {**dict.fromkeys(("weights", "states", "gradients", "optimizer", "total"), "computed"),
                          "activations": "measured"})

    def test_a_recipe_is_profiled_as_it_trains(self):
        profile = self.json_of("bench", "demo_cached", "--profile", "--json", "--batch", "4", *SMALL, cwd=self.folder)
        self.assert_sums(profile)
        self.assertEqual([profile[key] for key in ("schema", "model", "mode", "precision", "threads", "device", "recorded", "steps", "samples")],
                         [1, "demo_cached", "train", "fp32", 1, "cpu", "operators", 2, 4])
        self.assertIsNone(profile["device_busy"])
        self.assertIn("CPU", profile["why_device_busy_is_unknown"])
        families = [family["family"] for family in profile["families"]]
        for family in ("products", "cache", "norm", "optimizer"):
            self.assertIn(family, families)

    def test_the_tables_fit_a_terminal(self):
        code, text = command.on_terminal("bench", "demo_cached", "--profile", "--batch", "4", *SMALL, cwd=self.folder)
        self.assertEqual(code, 0, text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        for words in ("Operators by family", "Longest operators", "Peak memory", "outside of operators", "whole step"):
            self.assertIn(words, text)

    def test_standard_error_is_empty(self):
        done = self.cachet("bench", "demo_plain", "--profile", "--batch", "2", *SMALL)
        self.assertEqual(done.stderr, "")

    def test_a_model_is_profiled_in_inference(self):
        profile = self.json_of("bench", "vit_tiny_patch16_224", "--profile", "--mode", "infer", "--json", *SMALL, cwd=self.folder)
        self.assert_sums(profile)
        self.assertEqual([profile["mode"], profile["samples"], profile["memory"]["gradients"]["bytes"]], ["infer", 1, 0])

    def test_a_trace_has_the_steps(self):
        self.cachet("bench", "demo_plain", "--profile", "--trace", "trace.json", "--batch", "2", *SMALL)
        names = {event.get("name") for event in json.loads((self.folder / "trace.json").read_text())["traceEvents"]}
        self.assertIn("aten::_fused_adamw_", names)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["trace.json"])
        self.assertIn("missing/trace.json", self.refused("bench", "demo_plain", "--profile", "--trace", "missing/trace.json", "--batch", "2",
                                                         *SMALL, code=1, cwd=self.folder))

    def test_mistakes(self):
        self.assertIn("--profile", self.refused("bench", "demo_plain", "--trace", "trace.json"))
        self.assertIn("--profile", self.refused("bench", "demo_plain", "--steps", "2"))
        self.assertIn("leave one of them out", self.refused("bench", "demo_plain", "--profile", "--table"))
        self.assertIn("profiles one model", self.refused("bench", "demo_plain", "demo_cached", "--profile"))
        self.assertIn("only one precision", self.refused("bench", "demo_plain", "--profile", "--batch", "1,2"))


if __name__ == "__main__":
    command.main()
