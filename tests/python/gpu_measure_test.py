"""benchmarks/gpu: the comparisons with PyTorch on a GPU run through on the CPU, their checks refuse wrong results and steps that were
not replayed, and everything that travels is counted."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU = ROOT / "benchmarks/gpu"
sys.path[:0] = [str(GPU), str(ROOT / "benchmarks")]
BUILD = None  # set below

import measure
import pack
import peers
from safetensors_files import read_safetensors, write_safetensors


class Trial(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def measured(self, *words, code=0, **variables):
        output = self.folder / "rows.jsonl"
        done = subprocess.run([sys.executable, GPU / "measure.py", *words, "--trial", "--programs", BUILD, "-o", output, "--rounds", "2",
                               "--compile", "none"], capture_output=True, text=True, env={**os.environ, **variables})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else [], done.stdout

    def test_rows_run_through_on_the_cpu(self):
        rows, _ = self.measured("models_128", "cache", "--models", "small*")
        self.assertEqual([(row["row"], row["mode"], row["other"]) for row in rows],
                         [("models_128", "train", "PyTorch, eager"), ("models_128", "infer", "PyTorch, eager"),
                          ("cache", "train", "without a cache"), ("cache", "infer", "without a cache"),
                          ("cache", "folded", "without a cache")])
        for row in rows:
            self.assertNotIn("void", row)
            self.assertIn("no graph", row["trial"])
            self.assertEqual((row["batch"], row["rounds"], row["torch"]), (2, 2, torch.__version__))
            for name in ("date", "card", "cachet", "commit", "libtorch"):
                self.assertTrue(row[name], name)
            self.assertGreater(row["ours_ms"], 0)
            self.assertLessEqual(float(row["lower"]), float(row["ratio"]))
            self.assertLessEqual(float(row["ratio"]), float(row["upper"]))
            self.assertGreater(row["distances"]["ours"]["logits"], 0)  # bfloat16 rounds

    def test_a_peer_that_is_missing_makes_its_rows_void(self):
        rows, _ = self.measured("published_cache", "--models", "ViT*", code=1, GRC_SRC="")
        self.assertEqual([row["void"] for row in rows], ["published code is not here"] * 2)
        self.assertNotIn("ratio", rows[0])

    def test_the_limit_leaves_out_what_has_no_time(self):
        rows, said = self.measured("un_training", "--models", "small*", "--limit", "0")
        self.assertEqual(rows, [])
        self.assertIn("un_training, small ViT, train, batch 2, bf16: left out, because the time is over", said)

    def test_a_model_that_cannot_be_built_makes_its_row_void(self):
        setting = self.setting()
        measure.compare_with_own(setting, "cache", "small ViT", measure.SMALL_VIT + " no_such_key=1", "plain", measure.SMALL_VIT,
                                 ("train", "train"), "fp32", 2, 1.0)
        row, = (json.loads(line) for line in setting.options.output.read_text().splitlines())
        self.assertRegex(row["void"], "no_such_key: unknown key")

    def setting(self):
        options = argparse.Namespace(programs=BUILD, output=self.folder / "rows.jsonl", trial=True, limit=100, models="*", rounds=1,
                                     compile="none")
        os.environ["LD_LIBRARY_PATH"] = measure.library_path(BUILD)
        return measure.Setting(options, self.folder)

    def test_weights_that_differ_make_the_row_void(self):
        """The peer computes the reference with one weight changed after ours have loaded it."""
        changed = peers.pytorch_vit(small=True)
        made = []

        def make():
            module = changed.make()
            if made:
                load = module.load_state_dict
                module.load_state_dict = lambda state: load({**state, "norm.weight": 1.1 * state["norm.weight"]})
            made.append(module)
            return module

        setting = self.setting()
        measure.compare_with_peer(setting, "models_128", "small ViT", measure.SMALL_VIT, changed._replace(make=make), "train", "fp32", 2,
                                  (1.0, 1.0))
        row, = (json.loads(line) for line in setting.options.output.read_text().splitlines())
        self.assertRegex(row["void"], r"the logits differ by 0\.\d+, which is above 0\.002")
        self.assertNotIn("ratio", row)

    def test_a_wrong_gradient_is_found(self):
        setting = self.setting()
        ours = measure.Ours(setting, measure.SMALL_VIT, "train", "fp32", 2)
        reference = self.folder / "reference.safetensors"
        ours.ask(f"write 3 {reference}")
        self.assertLess(ours.fields(f"compare 3 cachet {reference}")["gradients"], 1e-6)
        tensors = read_safetensors(reference)
        norm = sum(tensor.double().square().sum().item() for name, tensor in tensors.items() if name != "logits") ** 0.5
        tensors["head.weight"][0, 0] += 0.01 * norm
        write_safetensors(reference, tensors)
        found = ours.fields(f"compare 3 cachet {reference}")
        ours.close()
        self.assertAlmostEqual(found["gradients"], 0.01, delta=1e-3)
        self.assertLess(found["logits"], 1e-6)
        self.assertEqual(found["tensors"], len(tensors) - 1)


class Checks(unittest.TestCase):
    def test_distances_above_the_bound_void_a_row(self):
        for ours, other, void in ((1e-3, 0.0, False), (2.1e-3, 0.0, True), (0.029, 0.01, False), (0.031, 0.01, True),
                                  (float("nan"), 0.01, True), (float("inf"), 0.01, True)):
            for what in ("logits", "gradients"):
                zero = {"logits": 0.0, "gradients": 0.0}
                call = lambda: measure.check_results({}, {**zero, what: ours}, {**zero, what: other})
                if void:
                    with self.assertRaisesRegex(measure.Void, f"the {what} differ"):
                        call()
                else:
                    call()

    def test_a_step_is_one_graph_launch(self):
        setting = types.SimpleNamespace(options=types.SimpleNamespace(trial=False))

        def ours(graphs, kernels):
            return types.SimpleNamespace(fields=lambda line: {"graphs": graphs, "kernels": kernels, "busy": 0.97},
                                         ask=lambda line: "the steps run without CUDA graphs, because of a reason")
        row = {}
        measure.check_graph(setting, row, ours(1, 0))
        self.assertEqual(row["busy"], 0.97)
        for graphs, kernels in ((0, 900), (1, 9), (0.9, 0), (2, 0)):
            with self.assertRaisesRegex(measure.Void, f"{graphs:g} graph launches and {kernels:g} kernel launches"):
                measure.check_graph(setting, {}, ours(graphs, kernels))
        with self.assertRaisesRegex(measure.Void, "because of a reason"):
            measure.check_graph(setting, {}, ours(0, 900))

    def test_names_of_the_peer_are_timms(self):
        for own, timms in (("embed.weight", "patch_embed.proj.weight"), ("blocks.1.mlp.0.bias", "blocks.1.mlp.fc1.bias"),
                           ("blocks.1.mlp.2.bias", "blocks.1.mlp.fc2.bias"), ("pos_embed", "pos_embed"),
                           ("blocks.0.attn.qkv.weight", "blocks.0.attn.qkv.weight")):
            self.assertEqual(peers.vit_name(own), timms)


class Pack(unittest.TestCase):
    def pack(self, folder, *words, code=0):
        done = subprocess.run([sys.executable, GPU / "pack.py", BUILD, folder, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_what_travels_is_counted_and_runs(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder, wheels = pathlib.Path(scratch) / "packed", pathlib.Path(scratch) / "wheels"
            wheels.mkdir()
            (wheels / "some.whl").write_bytes(bytes(3 << 20))
            code = pathlib.Path(scratch) / "code"
            (code / "core").mkdir(parents=True)
            (code / "core/layer.py").write_text("x = 1\n")
            said = self.pack(folder, "--wheels", wheels, "--grc", code, "--limit", "1000")
            self.assertIn(f"export GRC_SRC=$PWD/{folder}/grc && python3", said)
            self.assertTrue((folder / "grc/core/layer.py").exists())
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / (1 << 20)
            self.assertIn(f"{folder}: {size:.1f} MiB", said)
            for row in measure.ROWS:
                self.assertIn(f"measure.py {row} --programs {folder}", said)
            done = subprocess.run([folder / "cachet", "--version"], capture_output=True, text=True,
                                  env={**os.environ, "LD_LIBRARY_PATH": f"{folder}/lib:{pathlib.Path(torch.__file__).parent / 'lib'}"})
            self.assertRegex(done.stdout, r"cachet \d")
            self.assertIn("is there", self.pack(folder, code=1))
            self.assertIn("MiB travel, but at most 4 MiB may", self.pack(pathlib.Path(scratch) / "other", "--limit", "4", code=1))

    def test_programs_that_are_not_built_are_named(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([sys.executable, GPU / "pack.py", scratch, f"{scratch}/packed"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("has no cachet; build the target cachet_command", done.stderr)


class Rows(unittest.TestCase):
    def test_the_commands_name_all_rows(self):
        self.assertEqual(tuple(measure.ROWS), pack.ROWS)
        self.assertEqual(measure.FIRST, pack.ROWS[:4])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
