"""cachet.add_cache, cachet.fold and cachet.freeze on models that are made elsewhere.

  PYTHONPATH=build/release/python python tests/python/cachet_models_test.py
"""
import copy
import unittest
import warnings

import torch
from torch.nn import functional as F

import cachet
from cachet import nn, ops

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


class Attention(torch.nn.Module):
    """As timm's, by the names of its parts."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.proj = torch.nn.Linear(dim, 3 * dim), torch.nn.Linear(dim, dim)

    def forward(self, x, attn_mask=None):
        q, k, v = self.qkv(x).unflatten(2, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        return self.proj(F.scaled_dot_product_attention(q, k, v, attn_mask).transpose(1, 2).flatten(2))


class TupleAttention(Attention):
    """One that returns its weights too, as those of Transformers."""

    def forward(self, x, attn_mask=None):
        return super().forward(x, attn_mask), None


class OtherAttention(torch.nn.Module):
    def forward(self, x, attn_mask=None):
        return x


class Block(torch.nn.Module):
    def __init__(self, attention, norm=torch.nn.LayerNorm):
        super().__init__()
        self.norm1, self.norm2 = norm(8), norm(8)
        self.attn, self.fc1, self.fc2 = attention, torch.nn.Linear(8, 16), torch.nn.Linear(16, 8, bias=False)

    def forward(self, x):
        made = self.attn(self.norm1(x), attn_mask=None)
        x = x + (made[0] if isinstance(made, tuple) else made)
        return x + self.fc2(self.fc1(self.norm2(x)).relu())


class Model(torch.nn.Module):
    def __init__(self, *attentions, norm=torch.nn.LayerNorm):
        super().__init__()
        self.blocks = torch.nn.Sequential(*(Block(each, norm) for each in attentions))
        self.norm, self.head = norm(8), torch.nn.Linear(8, 3, bias=False)

    def forward(self, x):
        return self.head(self.norm(self.blocks(x)).mean(1))


def trained(model, steps=3):
    model.train()
    for step in range(steps):
        torch.manual_seed(step)
        model(torch.randn(4, 6, 8, dtype=next(model.parameters()).dtype)).square().sum().backward()
    return model.eval()


class AddCache(unittest.TestCase):
    def test_weights_stay_and_what_stays_without_is_named(self):
        torch.manual_seed(0)
        model = Model(Attention(8, 2), TupleAttention(8, 2), OtherAttention(), Attention(8, 8))
        before, x = copy.deepcopy(model), torch.randn(2, 6, 8)
        result = cachet.add_cache(model, 5, example=x)
        self.assertEqual(result.added, ["blocks.0.attn", "blocks.1.attn"])
        self.assertEqual(set(result.left), {"blocks.2.attn", "blocks.3.attn"})
        self.assertIn("OtherAttention", result.left["blocks.2.attn"])
        self.assertIn("num_heads must divide the number of memory channels, but 8 does not divide 4", result.left["blocks.3.attn"])
        self.assertTrue(model.training)
        kept = {name.replace("self_attention.", ""): p for name, p in model.named_parameters() if "memory" not in name}
        for name, p in before.named_parameters():
            self.assertTrue(torch.equal(p, kept[name]), name)
        y, z = before.eval()(x), model.eval()(x)
        self.assertAlmostEqual(result.change, ((z - y).norm() / y.norm()).item(), places=6)
        self.assertTrue(0 < result.change < 0.05, result.change)
        self.assertFalse(model.blocks[0].attn.cache.tokens.any())
        trained(model)
        self.assertTrue(model.blocks[1].attn.cache.tokens.any())
        self.assertTrue(model.blocks[0].attn.cache.update_gate.weight.grad.any())

    def test_it_is_cached_attention(self):
        torch.manual_seed(0)
        model = Model(Attention(8, 2), Attention(8, 2)).double()
        cachet.add_cache(model, 5, share_start=0.5, only="blocks.1.*")
        self.assertNotIsInstance(model.blocks[0].attn, nn.CachedAttention)
        layer = nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5)).double()
        layer.load_state_dict(model.blocks[1].attn.state_dict())
        for _ in range(2):
            x = torch.randn(3, 6, 8, dtype=torch.float64)
            torch.testing.assert_close(model.blocks[1].attn(x), layer(x))

    def test_own_caches_and_bad_options(self):
        model = Model(Attention(8, 2))
        cachet.add_cache(model, 5, cache=lambda dim: nn.FifoCache(dim, 7, ratio=1.0))
        self.assertEqual(model.blocks[0].attn.cache.tokens.shape, (1, 7, 8))
        for words, call in {
            'kind: "lru" is not one of': lambda: cachet.add_cache(model, 5, kind="lru"),
            "ratio must be above 0": lambda: cachet.add_cache(model, 5, ratio=2.0),
            "it already has a cache": lambda: cachet.add_cache(model, 5),
            'matches "layers.*" can have a cache (none found)': lambda: cachet.add_cache(model, 5, only="layers.*"),
        }.items():
            with self.subTest(words), self.assertRaises(ValueError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))


class Freeze(unittest.TestCase):
    def test_outputs_stay(self):
        torch.manual_seed(0)
        model = Model(Attention(8, 2), nn.MultiHeadAttention(8, 2)).double()
        model.blocks[1].attn.forward = lambda x, attn_mask: nn.MultiHeadAttention.forward(model.blocks[1].attn, x)
        model.blocks[1].attn.cache = nn.ConcatenatedCache(8, 6).double()
        result = cachet.add_cache(model, 5, share_start=0.0)
        self.assertEqual((result.added, list(result.left)), (["blocks.0.attn"], ["blocks.1.attn"]))
        trained(model)
        x = torch.randn(2, 6, 8, dtype=torch.float64)
        before = model(x)
        result = cachet.freeze(model)
        self.assertEqual(result.frozen, ["blocks.0.attn", "blocks.1.attn"])
        torch.testing.assert_close(model(x), before)
        names = model.state_dict()
        self.assertIn("blocks.0.attn.memory_attention.keys", names)
        self.assertIn("blocks.1.attn.memory_keys", names)
        self.assertFalse(any(".cache." in name for name in names))
        with self.assertRaisesRegex(RuntimeError, "a cache can be frozen only in evaluation"):
            model.train()(x)
        with self.assertRaisesRegex(ValueError, "no cache can be frozen"):
            cachet.freeze(model.eval())

    def test_memories_that_depend_on_the_input_stay(self):
        model = Model(Attention(8, 2), Attention(8, 2))
        kinds = iter([nn.GatedRecurrentCache(8, 5, inference="per_sample"), nn.GatedRecurrentCache(8, 5)])
        cachet.add_cache(model, 5, cache=lambda dim: next(kinds))
        with self.assertRaisesRegex(ValueError, "call eval"):
            cachet.freeze(model)
        result = cachet.freeze(model.eval())
        self.assertEqual((result.frozen, list(result.left)), (["blocks.1.attn"], ["blocks.0.attn"]))
        self.assertIn("depend on the input", result.left["blocks.0.attn"])

    def test_layers_on_grids(self):
        torch.manual_seed(0)
        reduced = lambda width, branch: nn.SpatialReductionAttention(width, 2, ratio=2)
        for layer in (nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, grid=(4, 4)), attention=reduced),
                      nn.CachedWindowAttention(8, 2, nn.GatedRecurrentCache(8, 4), (2, 2), shift=(1, 1)),
                      nn.WindowAttention(8, 2, (2, 2), cache=nn.ConcatenatedCache(8, 4))):
            x, layout = torch.randn(2, 16, 8, dtype=torch.float64), nn.Layout((4, 4))
            call = (lambda: layer(x, None, layout)) if isinstance(layer, nn.MultiHeadAttention) else lambda: layer(x, layout)
            layer.double()
            call()
            layer.eval()
            before = call()
            layer.freeze_cache()
            torch.testing.assert_close(call(), before)


class Fold(unittest.TestCase):
    def test_outputs_stay(self):
        torch.manual_seed(0)
        settings = ops.UnifiedNormSettings(warmup=0, forward_window=2, backward_window=2)
        model = Model(Attention(8, 2), Attention(8, 2), norm=lambda dim: nn.UnifiedNorm(dim, settings)).double()
        for name, p in model.named_parameters():
            if "norm" in name:
                torch.nn.init.uniform_(p, 0.5, 1.5)
        trained(model)
        x = torch.randn(2, 6, 8, dtype=torch.float64)
        before = model(x)
        result = cachet.fold(model, x)
        self.assertEqual(result.folded["blocks.0.norm1"], ["blocks.0.attn.qkv"])
        self.assertEqual(result.folded["norm"], ["head"])
        self.assertEqual((len(result.folded), result.left), (5, {}))
        torch.testing.assert_close(model(x), before)
        self.assertIsNotNone(model.head.bias)
        self.assertFalse([module for module in model.modules() if isinstance(module, nn.UnifiedNorm)])

    def test_what_cannot_be_folded_is_named(self):
        class Others(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.twice, self.residual, self.padded, self.mixed, self.unused, self.good, self.scaled = (
                    nn.MABN(8) if i != 6 else nn.PowerNorm(8) for i in range(7))
                self.shared, self.linear, self.other = (torch.nn.Linear(8, 8) for _ in range(3))

            def forward(self, x):
                x = self.shared(self.twice(x)) + self.shared(x)
                y = self.residual(x)
                x = y + self.linear(y)
                x = self.other(F.pad(self.padded(x), (0, 0, 0, 1)))
                x = self.final(self.good(x).flip(2).roll(1, 1))
                return self.last(self.mixed(x).transpose(1, 2)), self.last(self.scaled(x))

        torch.manual_seed(0)
        model = Others()
        model.final, model.last = torch.nn.Linear(8, 7), torch.nn.Linear(7, 2)
        model.mixed, model.scaled = nn.UnifiedNorm(7), nn.PowerNorm(7)
        for name, p in model.named_parameters():
            torch.nn.init.uniform_(p, 0.5, 1.5)
        model.eval().double()
        x = torch.randn(2, 6, 8, dtype=torch.float64)
        before = model(x)
        result = cachet.fold(model, x)
        torch.testing.assert_close(model(x), before)
        reasons = {"twice": "these layers also read other tokens: shared",
                   "residual": "the operation add also reads the norm",
                   "padded": "zeros are added to its output, or its channels are mixed",
                   "mixed": "zeros are added to its output, or its channels are mixed",
                   "unused": "the forward pass of the example does not use the norm",
                   "scaled": "with group scaling, the norm computes statistics of its input"}
        self.assertEqual(result.left | reasons, result.left)
        for words, call in {"call eval": lambda: cachet.fold(model.train(), x),
                            "no norm can be folded (none found)": lambda: cachet.fold(torch.nn.Linear(8, 8).eval(), x)}.items():
            with self.subTest(words), self.assertRaises(ValueError) as raised:
                call()
            self.assertIn(words, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
