"""cachet.nn: spatial reduction, windows, concatenated caches and streams, against fixtures and definitions in float64.

  PYTHONPATH=build/release/python python tests/python/cachet_grids_test.py
"""
import copy
import math
import unittest
import warnings

import torch
from oracle_fixtures import Oracle
from torch.nn import functional as F

from cachet import nn

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
DOUBLES = {"dtype": torch.float64}


def load_part(module, oracle, prefix):
    tensors = oracle.below(prefix)
    module.double().load_state_dict({name: tensors[name] for name in module.state_dict()})
    return module


def feed_forward(oracle, prefix, x):
    part = oracle.below(prefix)
    hidden = F.gelu(F.linear(x, part["fc1.weight"], part["fc1.bias"]))
    return F.linear(hidden, part["fc2.weight"], part["fc2.bias"])


def normed(oracle, prefix, x, eps):
    part = oracle.below(prefix)
    return F.layer_norm(x, x.shape[-1:], part["weight"], part["bias"], eps)


class WindowFixtures(unittest.TestCase):
    def test_a_stage_of_swin(self):
        """Two blocks, the second shifted, on maps of which one needs padding."""
        oracle = Oracle("model_swin")
        heads = oracle.about["arguments"]["num_heads"][0]
        for image in range(3):
            x = oracle[f"eval{image}.feature.patch_embed"]
            grid, x = tuple(x.shape[1:3]), x.flatten(1, 2)
            for block, shift in ((0, 0), (1, 2)):
                prefix = f"param.layers.0.blocks.{block}."
                layer = nn.WindowAttention(x.shape[2], heads, (4, 4), shift=(shift, shift))
                load_part(layer, oracle, prefix + "attn.")
                x = x + layer(normed(oracle, prefix + "norm1.", x, 1e-5), None, nn.Layout(grid))
                x = x + feed_forward(oracle, prefix + "mlp.", normed(oracle, prefix + "norm2.", x, 1e-5))
            oracle.close(x.unflatten(1, grid), f"eval{image}.feature.layers.0", f"image {image}")

    def test_windows_of_every_size_and_shift_are_put_together_again(self):
        for order in ("shift_then_pad", "pad_then_shift"):
            for height in range(1, 8):
                for width in (1, 3, 4, 7):
                    for shift in range(3):
                        windows = nn._windows.make_windows((height, width), (3, 3), (shift, shift), order, torch.device("cpu"))
                        x = torch.randn(2, height * width, 4)
                        self.assertTrue(torch.equal(windows.merge(windows.partition(x)), x))

    def test_windows_are_roll_pad_and_cut(self):
        x = torch.randn(2, 35, 4)
        on_map = x.view(2, 5, 7, 4)
        cut = lambda padded: padded.view(2, 2, 3, 3, 3, 4).transpose(2, 3).reshape(12, 9, 4)
        rolled = F.pad(on_map.roll((-1, -1), (1, 2)), (0, 0, 0, 2, 0, 1))
        padded = F.pad(on_map, (0, 0, 0, 2, 0, 1)).roll((-1, -1), (1, 2))
        for order, expected in (("shift_then_pad", rolled), ("pad_then_shift", padded)):
            windows = nn._windows.make_windows((5, 7), (3, 3), (1, 1), order, torch.device("cpu"))
            self.assertTrue(torch.equal(windows.partition(x), cut(expected)))

    def test_a_cache_in_windows_is_the_cache_of_all_windows(self):
        torch.manual_seed(0)
        layer = nn.CachedWindowAttention(8, 2, nn.GatedRecurrentCache(8, grid=(2, 2)), (2, 2)).double()
        self.assertEqual(list(layer.state_dict())[:2],
                         ["share", "self_attention.relative_position_bias_table"])
        inside = nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, grid=(2, 2)), attention=lambda width, branch: (
            nn.MultiHeadAttention(width, 2, relative_window=(2, 2)) if branch == "self"
            else nn.MultiHeadAttention(width, 2, projection="separate"))).double()
        inside.load_state_dict(layer.state_dict())
        for _ in range(2):
            x = torch.randn(3, 16, 8, **DOUBLES)
            windows = x.view(3, 2, 2, 2, 2, 8).transpose(2, 3).reshape(12, 4, 8)
            y = layer(x, nn.Layout((4, 4))).view(3, 2, 2, 2, 2, 8).transpose(2, 3).reshape(12, 4, 8)
            torch.testing.assert_close(y, inside(windows, nn.Layout((2, 2))))
            torch.testing.assert_close(layer.cache.tokens, inside.cache.tokens)

    def test_compiled_on_another_map(self):
        torch.manual_seed(0)
        layer = nn.CachedWindowAttention(8, 2, nn.GatedRecurrentCache(8, 4), (2, 2), shift=(1, 1)).eval()
        compiled = torch.compile(copy.deepcopy(layer), fullgraph=True, backend="aot_eager")
        for grid in ((4, 4), (5, 3)):
            x = torch.randn(2, grid[0] * grid[1], 8)
            torch.testing.assert_close(compiled(x, nn.Layout(grid)), layer(x, nn.Layout(grid)))


class SpatialReduction(unittest.TestCase):
    def test_pyramids_of_published_models(self):
        """The first block of a stage of PVT and of PVT v2 with pooled keys, by the gradient-free outputs of the block."""
        oracle = Oracle("model_pvt_v1")
        for image in range(2):
            stage = 1
            prefix = f"param.block{stage}.0."
            grid = [side // 4 for side in oracle[f"eval{image}.x"].shape[2:]]
            x = oracle[f"eval{image}.x"]
            part = oracle.below(f"param.patch_embed{stage}.")
            x = F.conv2d(x, part["proj.weight"], part["proj.bias"], stride=4).flatten(2).mT
            x = normed(oracle, f"param.patch_embed{stage}.norm.", x, 1e-5)
            place = oracle[f"param.pos_embed{stage}"]
            if x.shape[1] != place.shape[1]:
                side = math.isqrt(place.shape[1])
                place = F.interpolate(place.mT.unflatten(2, (side, side)), grid, mode="bilinear").flatten(2).mT
            x = x + place
            layer = nn.SpatialReductionAttention(8, 1, ratio=8)
            load_part(layer, oracle, prefix + "attn.")
            x = x + layer(normed(oracle, prefix + "norm1.", x, 1e-6), None, nn.Layout(tuple(grid)))
            x = x + feed_forward(oracle, prefix + "mlp.", normed(oracle, prefix + "norm2.", x, 1e-6))
            oracle.close(x, f"eval{image}.feature.block1.0", f"image {image}")

    def test_pooled_keys_are_their_definition(self):
        torch.manual_seed(0)
        layer = nn.SpatialReductionAttention(8, 2, form="pooling", ratio=4).double()
        x = torch.randn(2, 1 + 6 * 9, 8, **DOUBLES)
        pooled = F.adaptive_avg_pool2d(x[:, 1:].mT.unflatten(2, (6, 9)), 7)
        keys = torch.cat([x[:, :1], F.conv2d(pooled, layer.sr.weight, layer.sr.bias).flatten(2).mT], 1)
        keys = F.gelu(layer.norm(keys))
        plain = nn.MultiHeadAttention(8, 2, projection="separate").double()
        plain.load_state_dict({name: x for name, x in layer.state_dict().items() if not name.startswith(("sr", "norm"))})
        torch.testing.assert_close(layer(x, None, nn.Layout((6, 9), 1)), plain(x, keys))

    def test_a_ratio_of_one_is_plain_attention(self):
        layer, plain = nn.SpatialReductionAttention(8, 2), nn.MultiHeadAttention(8, 2, projection="separate")
        plain.load_state_dict(layer.state_dict())
        x = torch.randn(2, 5, 8)
        self.assertTrue(torch.equal(layer(x), plain(x)))


def attention_of(layer, query, keys, values, bias=None):
    """Softmax attention of a MultiHeadAttention, with its projections done by hand."""
    heads = lambda x: x.unflatten(2, (layer.num_heads, -1)).transpose(1, 2)
    q, k, v = heads(query), heads(keys), heads(values)
    scores = q @ k.mT / math.sqrt(q.shape[3])
    weights = (scores if bias is None else scores + bias).softmax(-1)
    return layer.proj((weights @ v).transpose(1, 2).flatten(2))


class ConcatenatedCaches(unittest.TestCase):
    def test_further_columns_of_the_softmax(self):
        torch.manual_seed(0)
        for projection in ("fused", "separate"):
            layer = nn.MultiHeadAttention(8, 2, projection=projection, cache=nn.ConcatenatedCache(8, 5)).double()
            weights = layer.qkv if projection == "fused" else None
            project = lambda x: (weights(x).chunk(3, 2) if weights else (layer.q(x), *layer.kv(x).chunk(2, 2)))
            memory = None
            for length in (5, 5, 5):
                x = torch.randn(3, length, 8, **DOUBLES)
                q, k, v = project(x)
                if memory is not None:
                    _, more_k, more_v = project(memory)
                    k, v = (torch.cat([own, more.expand(3, -1, -1)], 1) for own, more in ((k, more_k), (v, more_v)))
                torch.testing.assert_close(layer(x), attention_of(layer, q, k, v))
                memory = x.mean(0, keepdim=True)
                torch.testing.assert_close(layer.cache.tokens, memory)
            self.assertTrue(layer.cache.holds_step())
            layer.cache.reset()
            layer.eval()
            torch.testing.assert_close(layer(x), attention_of(layer, *project(x)))

    def test_windows_and_reduced_keys_have_one_too(self):
        torch.manual_seed(0)
        window = nn.WindowAttention(8, 2, (2, 2), shift=(1, 1), cache=nn.ConcatenatedCache(8, 4)).double()
        reduced = nn.SpatialReductionAttention(8, 2, ratio=2, cache=nn.ConcatenatedCache(8, 4)).double()
        for layer in (window, reduced):
            outputs = [layer(x, None, nn.Layout((4, 4))) for x in [torch.randn(2, 16, 8, **DOUBLES)] * 2]
            self.assertFalse(torch.allclose(*outputs))
            loaded = copy.deepcopy(layer)
            loaded.cache.reset()
            loaded.load_state_dict(layer.state_dict())
            self.assertTrue(loaded.cache.holds_step())
        with self.assertRaisesRegex(ValueError, "cannot be used with a causal mask"):
            nn.MultiHeadAttention(8, 2, cache=nn.ConcatenatedCache(8, 4))(torch.randn(2, 4, 8), None, nn.Layout(causal=True))


class Streams(unittest.TestCase):
    def test_decoding_in_pieces_is_the_causal_whole(self):
        torch.manual_seed(0)
        padding = torch.tensor([[False] * 7, [True] * 2 + [False] * 5])
        for function in (None, nn.KernelAttention(2, 4, "glu")):
            layer = nn.MultiHeadAttention(8, 2, function=function).double()
            x = torch.randn(2, 7, 8, **DOUBLES)
            for hidden in (None, padding):
                whole = layer(x, None, nn.Layout(padding=hidden, causal=True))
                state, parts = layer.make_state(2, decoding=True), []
                for first, last in ((0, 3), (3, 4), (4, 7)):
                    part = None if hidden is None else hidden[:, first:last]
                    parts.append(layer(x[:, first:last], None, nn.Layout(padding=part, causal=True, state=state)))
                torch.testing.assert_close(torch.cat(parts, 1), whole)

    def test_rows_change_places(self):
        torch.manual_seed(0)
        layer = nn.CachedAttention(8, 2, nn.FifoCache(8, 5, scope="batch_row")).double()
        x, rows = torch.randn(3, 6, 8, **DOUBLES), torch.tensor([2, 0, 1])
        states = [layer.make_state(3, decoding=True) for _ in range(2)]
        for state in states:
            layer(x[:, :4], nn.Layout(causal=True, state=state))
        states[1].reorder(rows)
        self.assertEqual(sorted(states[0].named_tensors()), ["cache/cache", "self_attention/keys", "self_attention/values"])
        y, z = (layer(x[order, 4:], nn.Layout(causal=True, state=state))
                for state, order in zip(states, (slice(None), rows)))
        torch.testing.assert_close(z, y[rows])

    def test_recomputed_gates_learn_what_carried_gates_learn_from_the_piece_before(self):
        torch.manual_seed(0)
        x = torch.randn(2, 2, 6, 8, **DOUBLES)
        gradients = []
        for gradient in ("recompute", "carry"):
            torch.manual_seed(1)
            layer = nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 4, gradient=gradient)).double()
            state = layer.make_state(2)
            for piece in x:
                layer.zero_grad()
                loss = layer(piece, nn.Layout(causal=True, state=state)).square().sum()
            loss.backward()
            gradients.append({name: p.grad for name, p in layer.named_parameters()})
        for name, one in gradients[0].items():
            torch.testing.assert_close(one, gradients[1][name], msg=name)
        self.assertTrue(gradients[0]["cache.update_gate.weight"].any())

    def test_streams_update_their_own_cache_in_evaluation(self):
        torch.manual_seed(0)
        for scope, inference in (("batch_row", None), ("batch_mean", "updated")):
            layer = nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 4, scope=scope, inference=inference)).eval()
            stored = layer.cache.tokens.normal_().clone()
            state = layer.make_state(2)
            x = torch.randn(2, 6, 8)
            first, second = (layer(x, nn.Layout(causal=True, state=state)) for _ in range(2))
            self.assertFalse(torch.allclose(first, second))
            self.assertTrue(torch.equal(layer.cache.tokens, stored))
            with self.assertRaisesRegex(RuntimeError, "^gated_recurrent_cache: .* needs the session's state"):
                layer(x, nn.Layout(causal=True))


class Refusals(unittest.TestCase):
    def test_bad_options_are_value_errors_of_one_line(self):
        grid, x = nn.Layout((4, 4)), torch.randn(2, 16, 8)
        calls = {
            "needs a length, or the grid": lambda: nn.FifoCache(8),
            'scope: "own" is not one of': lambda: nn.FifoCache(8, 4, scope="own"),
            'would mix the batch rows of scope "batch_row"': lambda: nn.GatedRecurrentCache(8, 4, scope="batch_row", attend="mean"),
            'gradient: "full" is not one of': lambda: nn.GatedRecurrentCache(8, 4, gradient="full"),
            "needs at least one entry": lambda: nn.ConcatenatedCache(8, 0),
            "the cache must have the 8 channels of the layer, but has 4": lambda: nn.MultiHeadAttention(8, 2, cache=nn.ConcatenatedCache(4, 4)),
            "need softmax attention": lambda: nn.MultiHeadAttention(
                8, 2, function=nn.KernelAttention(2, 4), relative_window=(2, 2)),
            "ratio must be at least 1": lambda: nn.SpatialReductionAttention(8, 2, ratio=0),
            'form: "max" is not one of': lambda: nn.SpatialReductionAttention(8, 2, form="max"),
            "must lie on a grid": lambda: nn.SpatialReductionAttention(8, 2, ratio=2)(x),
            "too small to be reduced by 8": lambda: nn.SpatialReductionAttention(8, 2, ratio=8)(x, None, grid),
            "cannot use a causal mask": lambda: nn.SpatialReductionAttention(8, 2, ratio=2)(
                x, None, grid._replace(causal=True)),
            "window must be at least 1 x 1": lambda: nn.WindowAttention(8, 2, (0, 2)),
            "less than the window of 2 x 2": lambda: nn.WindowAttention(8, 2, (2, 2), shift=(2, 0)),
            'order: "pad" is not one of': lambda: nn.WindowAttention(8, 2, (2, 2), order="pad"),
            "without class tokens or padding": lambda: nn.WindowAttention(8, 2, (2, 2))(x),
            "16 tokens do not lie on a grid of 3 x 4": lambda: nn.WindowAttention(8, 2, (2, 2))(x, None, nn.Layout((3, 4))),
            "cannot use a context or an attention bias": lambda: nn.WindowAttention(8, 2, (2, 2))(x, x, grid),
            "at least one batch row": lambda: nn.StreamState(0),
        }
        for words, call in calls.items():
            with self.subTest(words), self.assertRaises(ValueError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))
        state = nn.StreamState(2)
        with self.assertRaisesRegex(RuntimeError, '"cache" must have a first dimension of 2 or 1, got 3'):
            state.set("cache", torch.zeros(3, 4, 4))


class Exports(unittest.TestCase):
    """torch.export of layers in evaluation, with a batch that is free."""

    def test_another_batch_than_that_of_the_example(self):
        on_grid, half = nn.Layout((4, 4)), nn.Layout((2, 2))

        def reduced(width, branch):
            return nn.SpatialReductionAttention(width, 2, ratio=2)

        concatenated = nn.MultiHeadAttention(8, 2, cache=nn.ConcatenatedCache(8, 16))
        frozen = nn.CachedAttention(8, 2, nn.FifoCache(8, 5))
        layers = {
            "multi-head": nn.MultiHeadAttention(8, 2, head_dim=3, projection_bias=False),
            "concatenated": concatenated,
            "reduced": reduced(8, "self"),
            "cached": nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5)),
            "its own update": nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5, inference="per_sample")),
            "frozen": frozen,
            "cached and reduced": nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, grid=(4, 4)), attention=reduced),
            "windows": nn.WindowAttention(8, 2, (2, 2), shift=(1, 1)),
            "cached windows": nn.CachedWindowAttention(8, 2, nn.GatedRecurrentCache(8, grid=half.grid), half.grid),
        }
        for name, layer in layers.items():
            with self.subTest(name):
                model = InLayout(layer, on_grid)
                model(torch.randn(3, 16, 8))  # one step of the cache
                model.eval()
                if layer is frozen:
                    layer.freeze_cache()
                program = torch.export.export(model, (torch.randn(3, 16, 8),),
                                              dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
                other = torch.randn(7, 16, 8)
                torch.testing.assert_close(program.module()(other), model(other), rtol=1e-5, atol=1e-6)


class InLayout(torch.nn.Module):
    def __init__(self, layer, layout):
        super().__init__()
        self.layer, self.layout = layer, layout

    def forward(self, x):
        return self.layer(x, layout=self.layout)


if __name__ == "__main__":
    unittest.main()
