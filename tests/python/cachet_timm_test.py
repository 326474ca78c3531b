"""cachet.timm: models of timm with caches, norms and kernels. Skipped if timm is not installed.

  PYTHONPATH=build/release/python python tests/python/cachet_timm_test.py
"""
import copy
import importlib.util
import pathlib
import sys
import unittest
import warnings

import torch

import cachet
from cachet import nn

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
# Lets timm be imported where the compiled operators of torchvision do not fit the build of PyTorch.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
if importlib.util.find_spec("timm") and importlib.util.find_spec("torchvision"):
    import torchvision_here  # noqa: F401, I001
    import timm

    import cachet.timm
else:
    timm = None

VIT = dict(img_size=32, embed_dim=16, depth=2, num_heads=2, num_classes=3)
SWIN = dict(img_size=32, patch_size=2, window_size=4, embed_dim=8, depths=(2, 2), num_heads=(2, 2), num_classes=3,
            drop_path_rate=0.0)
PVT = dict(depths=(1, 1, 1, 1), embed_dims=(8, 16, 16, 16), num_heads=(1, 2, 2, 2), num_classes=3, drop_path_rate=0.0)
MODELS = {"vit_tiny_patch16_224": (VIT, 32), "swin_tiny_patch4_window7_224": (SWIN, 32), "pvt_v2_b0": (PVT, 64)}


def trained(model, size, steps=3):
    model.train()
    for step in range(steps):
        torch.manual_seed(step)
        model(torch.randn(2, 3, size, size, dtype=next(model.parameters()).dtype)).square().sum().backward()
    return model.eval()


@unittest.skipUnless(timm, "timm is not installed: pip install timm torchvision")
class Timm(unittest.TestCase):
    def test_all_bases_are_registered(self):
        for base in cachet.timm.BASES:
            self.assertTrue(timm.is_model(base), base)
            self.assertTrue(timm.is_model(f"cachet_{base}"), base)

    def test_weights_of_timm_go_in(self):
        for base, (options, size) in MODELS.items():
            with self.subTest(base):
                plain = timm.create_model(base, **options)
                cached = timm.create_model(f"cachet_{base}", cache_length=5, **options)
                names = {name.replace(".self_attention.", "."): name for name in cached.state_dict()}
                weights = {names[name]: tensor for name, tensor in plain.state_dict().items()}
                missing, unexpected = cached.load_state_dict(weights, strict=False)
                self.assertFalse(unexpected)
                parts = {name.split(".attn.")[1].split(".")[0] for name in missing}
                self.assertEqual(parts, {"share", "memory_attention", "cache"})
                x = torch.randn(2, 3, size, size)
                plain.eval(), cached.eval()
                y = plain(x)
                self.assertLess(((cached(x) - y).norm() / y.norm()).item(), 0.2)
                trained(cached, size)
                self.assertTrue(all(m.cache.tokens.any() for m in cached.modules() if isinstance(m, nn.CachedAttention)))

    def test_names_are_those_of_the_cpp_layers(self):
        model = timm.create_model("cachet_vit_tiny_patch16_224", cache_length=5, norm="un", attention="glu", **VIT)
        own = [name.removeprefix("blocks.1.attn.") for name in model.state_dict() if name.startswith("blocks.1.attn.")]
        gates = [f"cache.{gate}.{kind}" for gate in ("reset_gate", "update_gate", "candidate") for kind in ("weight", "bias")]
        memory = [f"memory_attention.{part}.{kind}" for part in ("q", "kv", "proj") for kind in ("weight", "bias")]
        inside = [f"self_attention.{part}" for part in ("qkv.weight", "qkv.bias", "proj.weight", "proj.bias",
                                                        "function.features.0.weight", "function.features.0.gate")]
        self.assertEqual(sorted(own), sorted(["share", "cache.tokens", *gates, *memory, *inside]))
        self.assertIn("blocks.0.norm1.statistics", model.state_dict())

    def test_kernels_keep_the_projections(self):
        torch.manual_seed(0)
        for base in ("vit_tiny_patch16_224", "pvt_v2_b0"):
            options, size = MODELS[base]
            model = timm.create_model(base, **options)
            before = copy.deepcopy(model.state_dict())
            result = cachet.timm.replace_attention(model, "aoglu")
            self.assertFalse(result.left)
            after = model.state_dict()
            for name, tensor in before.items():
                self.assertTrue(torch.equal(tensor, after[name]), name)
            trained(model, size)
        attention = timm.create_model("vit_tiny_patch16_224", **VIT).blocks[0].attn
        layer = nn.MultiHeadAttention(16, 2, function=nn.KernelAttention(2, 8, "elu"))
        layer.load_state_dict(attention.state_dict())
        block = torch.nn.ModuleDict({"attn": attention})
        cachet.timm.replace_attention(block, "elu")
        x = torch.randn(2, 5, 16)
        self.assertTrue(torch.equal(block["attn"](x), layer(x)))

    def test_what_stays_is_named(self):
        with self.assertRaisesRegex(ValueError, "adds a bias or a rotation to pairs of tokens"):
            cachet.timm.replace_attention(timm.create_model("swin_tiny_patch4_window7_224", **SWIN))
        with self.assertRaisesRegex(ValueError, "no attention can be replaced \\(none found\\)"):
            cachet.timm.replace_attention(torch.nn.Linear(2, 2))
        with self.assertRaisesRegex(ValueError, "it has dropout"):
            cachet.timm.replace_attention(timm.create_model("vit_tiny_patch16_224", attn_drop_rate=0.1, **VIT))

    def test_folded_and_frozen_models_compute_the_same(self):
        """Also as an exported program."""
        for base, (options, size) in MODELS.items():
            with self.subTest(base):
                torch.manual_seed(0)
                model = timm.create_model(f"cachet_{base}", cache_length=5, norm="un", **options).double()
                trained(model, size)
                x = torch.randn(2, 3, size, size, dtype=torch.float64)
                before = model(x)
                frozen, folded = cachet.freeze(model), cachet.fold(model, x)
                self.assertFalse(frozen.left)
                torch.testing.assert_close(model(x), before)
                torch.testing.assert_close(torch.export.export(model, (x,)).module()(x), before)
                print(base, "folded", len(folded.folded), "left", folded.left)
                self.assertGreaterEqual(len(folded.folded), 4)

    def test_it_resumes_from_its_state_dict(self):
        models = [timm.create_model("cachet_vit_tiny_patch16_224", cache_length=5, norm="un", **VIT) for _ in range(2)]
        trained(models[0], 32)
        models[1].load_state_dict(models[0].state_dict())
        x = torch.randn(2, 3, 32, 32)
        self.assertTrue(torch.equal(models[0](x), models[1].eval()(x)))


if __name__ == "__main__":
    unittest.main()
