"""cachet.portable: exported programs without the operators of this package, in PyTorch, ONNX Runtime and OpenVINO.

  PYTHONPATH=build/release/python python tests/python/cachet_engines_test.py

Tests of an engine that is not installed are skipped, and so is the test of timm's Swin.
"""
import importlib.util
import pathlib
import sys
import tempfile
import unittest
import warnings

import torch
from operator_samples import SAMPLES

import cachet
from cachet import nn, ops

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
warnings.filterwarnings("ignore", category=FutureWarning)
# Lets timm be imported where the compiled operators of torchvision do not fit the build of PyTorch.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
ONNX = ("onnx", "onnxscript", "onnxruntime", "numpy")
OPENVINO = ("openvino", "numpy")
TIMM = ("timm", "torchvision")
ANY_BATCH = ({0: torch.export.Dim.DYNAMIC},)


def missing(packages):
    return [name for name in packages if importlib.util.find_spec(name) is None]


def needs(packages):
    absent = missing(packages)
    return unittest.skipIf(absent, f"not installed: pip install {' '.join(absent)}")


class Windowed(torch.nn.Module):
    """Swin's attention in windows of 4 × 4, made of PyTorch's parts."""

    def __init__(self, dim, shift):
        super().__init__()
        self.qkv, self.proj, self.shift = torch.nn.Linear(dim, 3 * dim), torch.nn.Linear(dim, dim), shift

    def forward(self, x):
        batch, side, _, dim = x.shape
        x = x.roll((-self.shift, -self.shift), (1, 2))
        windows = x.view(batch, side // 4, 4, side // 4, 4, dim).transpose(2, 3).reshape(-1, 16, dim)
        q, k, v = self.qkv(windows).view(-1, 16, 3, 2, dim // 2).permute(2, 0, 3, 1, 4).unbind(0)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, 16, dim)
        y = self.proj(y).view(batch, side // 4, side // 4, 4, 4, dim).transpose(2, 3).reshape(batch, side, side, dim)
        return y.roll((self.shift, self.shift), (1, 2))


class Block(torch.nn.Module):
    def __init__(self, dim, shift):
        super().__init__()
        self.norm1, self.attn, self.norm2 = torch.nn.LayerNorm(dim), Windowed(dim, shift), torch.nn.LayerNorm(dim)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(dim, 2 * dim), torch.nn.GELU(), torch.nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Merging(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.reduction = torch.nn.LayerNorm(4 * dim), torch.nn.Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x):
        batch, side, _, dim = x.shape
        x = x.reshape(batch, side // 2, 2, side // 2, 2, dim).permute(0, 1, 3, 4, 2, 5).flatten(3)
        return self.reduction(self.norm(x))


class Swin(torch.nn.Module):
    """A small Swin, arXiv 2103.14030. The norm after the patches is read by a residual connection and cannot be folded."""

    def __init__(self):
        super().__init__()
        self.patches, self.patch_norm = torch.nn.Conv2d(3, 8, 2, 2), torch.nn.LayerNorm(8)
        self.blocks = torch.nn.Sequential(Block(8, 0), Block(8, 2), Merging(8), Block(16, 0), Block(16, 2))
        self.norm, self.head = torch.nn.LayerNorm(16), torch.nn.Linear(16, 3)

    def forward(self, x):
        x = self.patch_norm(self.patches(x).permute(0, 2, 3, 1))
        return self.head(self.norm(self.blocks(x)).mean((1, 2)))


def folded_program(model):
    """The exported program of a model with UN that was trained and folded, an input of another batch, and the output before."""
    cachet.replace_norms(model, "un")
    for step in range(3):
        torch.manual_seed(step)
        model(torch.randn(4, 3, 32, 32)).square().sum().backward()
    model.eval()
    images = torch.randn(5, 3, 32, 32)
    with torch.no_grad():
        before = model(images)
    result = cachet.fold(model, images[:2])
    assert len(result.folded) == 10 and len(result.left) == 1, result
    program = torch.export.export(model, (images[:2],), dynamic_shapes=ANY_BATCH)
    return program, images, before


def run_onnx(program, images):
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/model.onnx"
        torch.onnx.export(program, f=file, dynamo=True, verbose=False)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        return torch.from_numpy(session.run(None, {session.get_inputs()[0].name: images.numpy()})[0])


def run_openvino(program, images):
    import openvino

    compiled = openvino.compile_model(openvino.convert_model(program), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return torch.from_numpy(compiled(images.numpy())[0])


class Folded(unittest.TestCase):
    """A Swin with unified normalization: folded, exported, and run by an engine, for another batch than the example's."""

    def same(self, run, make):
        torch.manual_seed(0)
        program, images, before = folded_program(make())
        torch.testing.assert_close(run(cachet.portable(program), images), before, rtol=1e-4, atol=1e-5)

    @staticmethod
    def of_timm():
        import torchvision_here  # noqa: F401, I001
        import timm

        return timm.create_model("swin_tiny_patch4_window7_224", img_size=32, patch_size=2, window_size=4, embed_dim=8,
                                 depths=(2, 2), num_heads=(2, 2), num_classes=3, drop_path_rate=0.0)

    def test_in_pytorch(self):
        self.same(lambda program, images: program.module()(images), Swin)

    @needs(ONNX)
    def test_in_onnx_runtime(self):
        self.same(run_onnx, Swin)

    @needs(OPENVINO)
    def test_in_openvino(self):
        self.same(run_openvino, Swin)

    @needs(TIMM + ONNX)
    def test_timm_in_onnx_runtime(self):
        self.same(run_onnx, self.of_timm)

    @needs(TIMM + OPENVINO)
    def test_timm_in_openvino(self):
        self.same(run_openvino, self.of_timm)


class InLayout(torch.nn.Module):
    def __init__(self, layer, layout):
        super().__init__()
        self.layer, self.layout = layer, layout

    def forward(self, x):
        return self.layer(x, layout=self.layout)


class LinearGelu(torch.nn.Linear):
    def forward(self, x):
        return ops.linear_gelu(x, self.weight, self.bias)


def layers():
    """Layers in evaluation for 16 tokens of 8 channels on a grid of 4 × 4, or with a class token."""
    grid, odd = nn.Layout((4, 4)), nn.Layout((5, 3), 1)
    official = nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5, variant="official", inference="frozen"))
    return {
        "norm": nn.UnifiedNorm(8),
        "linear and GELU": LinearGelu(8, 8),
        "multi-head": InLayout(nn.MultiHeadAttention(8, 2), grid),
        "causal": InLayout(nn.MultiHeadAttention(8, 2), nn.Layout(causal=True)),
        "concatenated": InLayout(nn.MultiHeadAttention(8, 2, cache=nn.ConcatenatedCache(8, 16)), grid),
        "reduced": InLayout(nn.SpatialReductionAttention(8, 2, ratio=2), grid),
        "cached": InLayout(nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5)), grid),
        "positional convolution": InLayout(official, odd),
        "windows": InLayout(nn.WindowAttention(8, 2, (3, 2), shift=(1, 1)), grid),
        "cached windows": InLayout(nn.CachedWindowAttention(8, 2, nn.FifoCache(8, 4), (2, 2), shift=(1, 1)), grid),
    }


def exported(model):
    model.train()(torch.randn(3, 16, 8))  # one step of the state
    return torch.export.export(model.eval(), (torch.randn(3, 16, 8),), dynamic_shapes=ANY_BATCH)


class Portable(unittest.TestCase):
    def test_programs_without_operators_of_this_package_compute_the_same(self):
        for name, model in layers().items():
            with self.subTest(name):
                torch.manual_seed(0)
                program = cachet.portable(exported(model))
                x = torch.randn(7, 16, 8)
                torch.testing.assert_close(program.module()(x), model(x), rtol=1e-4, atol=1e-5)

    def test_forms_are_their_operators(self):
        for name, form in cachet._portable._FORMS.items():
            torch.manual_seed(0)
            for number, sample in enumerate(SAMPLES[name]()):
                arguments = [x.detach() if isinstance(x, torch.Tensor) else x for x in sample]
                with self.subTest(name=name, number=number):
                    torch.testing.assert_close(form(*arguments), getattr(torch.ops.cachet, name)(*arguments),
                                               rtol=1e-4, atol=1e-5)

    def test_a_query_that_sees_no_key_gets_zeros(self):
        q, k, v = (torch.randn(2, 1, 3, 4) for _ in range(3))
        padding = torch.tensor([[True, True, True], [False, False, True]])
        form = cachet._portable._FORMS["softmax_attention"]
        torch.testing.assert_close(form(q, k, v, None, padding), ops.softmax_attention(q, k, v, padding=padding))

    def test_operators_without_a_form_are_named(self):
        kernels = nn.MultiHeadAttention(8, 2, function=nn.KernelAttention(2, 4))
        with self.assertRaisesRegex(ValueError, "^portable: these operators of Cachet have no form in PyTorch's operators: kernel_attention$"):
            cachet.portable(exported(InLayout(kernels, nn.Layout())))

    @needs(OPENVINO)
    def test_a_cached_layer_in_openvino(self):
        model = layers()["cached windows"]
        program, x = exported(model), torch.randn(5, 16, 8)
        torch.testing.assert_close(run_openvino(cachet.portable(program), x), model(x).detach(), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
