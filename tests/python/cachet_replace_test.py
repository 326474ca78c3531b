"""cachet.replace_norms: which norms it replaces, what it takes over, and what it names.

  PYTHONPATH=build/release/python python tests/python/cachet_replace_test.py
"""
import unittest
import warnings

import torch

import cachet
from cachet import ops

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


class LayerNorm2d(torch.nn.LayerNorm):
    """A norm over channels of maps, as timm has it."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(8), torch.nn.LayerNorm(8)
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.norm2(x + self.linear(self.norm1(x)))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(2))
        self.bare = torch.nn.LayerNorm(8, elementwise_affine=False)
        self.map_norm = LayerNorm2d(8)
        self.batch_norm = torch.nn.BatchNorm1d(8)
        self.wide = torch.nn.LayerNorm((5, 8))
        self.encoder = torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


REPLACED = [f"blocks.{i}.norm{j}" for i in (0, 1) for j in (1, 2)]


class ReplaceNorms(unittest.TestCase):
    def test_layer_norms_of_tokens_are_replaced_and_the_others_named(self):
        kinds = {"un": cachet.nn.UnifiedNorm, "mabn": cachet.nn.MABN, "pn": cachet.nn.PowerNorm, "pn_star": cachet.nn.PowerNorm}
        for kind, expected in kinds.items():
            model = Model()
            result = cachet.replace_norms(model, kind)
            self.assertEqual(result.replaced, REPLACED)
            self.assertEqual(set(result.left), {"bare", "map_norm", "batch_norm", "wide", "encoder.norm1", "encoder.norm2"})
            self.assertIn("LayerNorm2d", result.left["map_norm"])
            self.assertIn("BatchNorm1d", result.left["batch_norm"])
            self.assertIn("TransformerEncoderLayer", result.left["encoder.norm1"])
            for name in REPLACED:
                norm = model.get_submodule(name)
                self.assertIs(type(norm), expected)
                if expected is cachet.nn.PowerNorm:
                    self.assertEqual(norm.group_scaling, kind == "pn")

    def test_weights_types_mode_and_gradients_are_taken_over(self):
        model = Model().double().eval()
        with torch.no_grad():
            model.blocks[0].norm1.weight.uniform_(1, 2)
            model.blocks[0].norm1.bias.uniform_(1, 2)
        model.blocks[1].requires_grad_(False)
        before = model.state_dict()
        cachet.replace_norms(model)
        for name in REPLACED:
            norm = model.get_submodule(name)
            self.assertEqual(norm.weight.dtype, torch.float64)
            self.assertFalse(norm.training)
            self.assertEqual(norm.weight.requires_grad, name.startswith("blocks.0"))
            for part in ("weight", "bias"):
                self.assertTrue(torch.equal(getattr(norm, part), before[f"{name}.{part}"]))

    def test_the_model_trains_and_evaluates(self):
        torch.manual_seed(0)
        model = Model()
        cachet.replace_norms(model, settings=ops.UnifiedNormSettings(warmup=1))
        for _ in range(3):
            model(torch.randn(4, 5, 8)).square().mean().backward()
        norm = model.blocks[0].norm1
        self.assertEqual(norm.counters[0].item(), 3)
        self.assertEqual(norm.settings.warmup, 1)
        model.eval()
        x = torch.randn(2, 5, 8)
        torch.testing.assert_close(model(x)[:1], model(x[:1]))

    def test_a_pattern_of_names(self):
        model = Model()
        result = cachet.replace_norms(model, only="blocks.1.*")
        self.assertEqual(result.replaced, REPLACED[2:])
        self.assertEqual(result.left, {})
        self.assertIs(type(model.blocks[0].norm1), torch.nn.LayerNorm)

    def test_a_norm_under_two_names_stays_one(self):
        model = Model()
        model.blocks[1].norm1 = model.blocks[0].norm1
        cachet.replace_norms(model)
        self.assertIs(model.blocks[1].norm1, model.blocks[0].norm1)

    def test_bad_calls_are_value_errors_of_one_line(self):
        calls = {
            'kind: "batch" is not one of "un", "mabn", "pn", "pn_star"': lambda: cachet.replace_norms(Model(), "batch"),
            '"un" takes UnifiedNormSettings, got PowerNormSettings':
                lambda: cachet.replace_norms(Model(), settings=ops.PowerNormSettings()),
            '"mabn" takes no settings': lambda: cachet.replace_norms(Model(), "mabn", settings=ops.UnifiedNormSettings()),
            'no LayerNorm whose name matches "heads.*" can be replaced (none found)':
                lambda: cachet.replace_norms(Model(), only="heads.*"),
            "map_norm: it is a LayerNorm2d": lambda: cachet.replace_norms(Model(), only="map_norm"),
        }
        for words, call in calls.items():
            with self.subTest(words), self.assertRaises(ValueError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
