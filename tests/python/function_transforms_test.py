"""Operators inside the transforms of torch.func: grad, vmap over grad, and jvp give what autograd gives, or a named error.

  python tests/python/function_transforms_test.py build/release/lib/libcachet_ops.so
"""
import sys
import traceback
import warnings

import torch
from operator_samples import SAMPLES, public_operators
from torch.utils import _pytree as pytree

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")

WRITE_STATE = {"power_norm", "unified_norm"}
# Of the largest derivative, against that of autograd: the unfused form rounds in another order.
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-10}


def tensors(tree):
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


class Call:
    """A sample's call as a function of the tensors that require a gradient, summed with weights."""

    def __init__(self, name, arguments):
        self.name = name
        self.leaves, self.structure = pytree.tree_flatten(arguments)
        self.places = [i for i, x in enumerate(self.leaves) if isinstance(x, torch.Tensor) and x.requires_grad]
        self.start = [self.leaves[place].detach() for place in self.places]
        # The first results alone, of which all operators have a gradient.
        self.weight = torch.linspace(-1, 2, self.result(*self.leaves_with(self.start)).numel(), dtype=torch.float64)

    def leaves_with(self, given):
        leaves = [x.detach() if isinstance(x, torch.Tensor) else x for x in self.leaves]
        for place, x in zip(self.places, given):
            leaves[place] = x
        return leaves

    def result(self, *leaves):
        return tensors(getattr(torch.ops.cachet, self.name)(*pytree.tree_unflatten(list(leaves), self.structure)))[0]

    def __call__(self, *given):
        y = self.result(*self.leaves_with(given))
        return (y * self.weight.to(y.dtype).view(y.shape)).sum()

    def gradients(self, given):
        given = [x.clone().requires_grad_() for x in given]
        return torch.autograd.grad(self(*given), given, allow_unused=True, materialize_grads=True)


def compare(found, expected):
    largest = max([1.0, *(x.abs().max().item() for x in expected)])
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one / largest, other / largest, rtol=0, atol=TOLERANCE[one.dtype])


def check(name, sample):
    call = Call(name, sample)
    expected, all_arguments = call.gradients(call.start), tuple(range(len(call.start)))
    compare(torch.func.grad(call, argnums=all_arguments)(*call.start), expected)

    # Samples of the first operand; the others are shared.
    several = torch.stack([call.start[0], 0.5 * call.start[0], -call.start[0]])
    each = torch.func.vmap(torch.func.grad(call), in_dims=(0, *[None] * (len(call.start) - 1)))(several, *call.start[1:])
    compare(each.unbind(), [call.gradients([x, *call.start[1:]])[0] for x in several])

    tangents = tuple(torch.linspace(1, -1, x.numel(), dtype=x.dtype).view(x.shape) for x in call.start)
    _, slope = torch.func.jvp(call, tuple(call.start), tangents)
    summed = sum((g * t).sum() for g, t in zip(expected, tangents))
    compare([slope / max(1.0, summed.abs().item())], [summed / max(1.0, summed.abs().item())])


def check_refusal(name, sample):
    call = Call(name, sample)
    try:
        torch.func.grad(call)(*call.start)
    except RuntimeError as error:
        assert str(error).startswith(f"{name}: cannot run inside torch.func transforms") and "\n" not in str(error), error
        return
    raise AssertionError("an error was to be expected, and none came")


def check_that_maps_keep_kernels():
    """A batch of vectors for one backward pass of a kernel: the transform is outside the operator's autograd form."""
    x, scale = torch.randn(2, 5, 3, requires_grad=True), torch.rand(3, requires_grad=True)
    y = torch.ops.cachet.scale_shift(x, scale)
    vectors = torch.randn(4, *y.shape)
    (rows,) = torch.autograd.grad(y, x, vectors, is_grads_batched=True)
    torch.testing.assert_close(rows, vectors * scale)
    torch.testing.assert_close(torch.func.vmap(lambda one: torch.ops.cachet.scale_shift(one, scale))(x), y)


def main():
    torch.ops.load_library(sys.argv[1])
    failures, checked = [], 0
    check_that_maps_keep_kernels()
    for name in public_operators():
        torch.manual_seed(0)
        for number, sample in enumerate(SAMPLES[name]()):
            if not any(x.requires_grad for x in tensors(sample)) or any(x.numel() == 0 for x in tensors(sample)):
                continue
            try:
                (check_refusal if name in WRITE_STATE else check)(name, sample)
                checked += 1
            except Exception:
                failures.append(f"{name}, sample {number}:\n{traceback.format_exc()}")
    print("\n".join(failures), file=sys.stderr)
    print(f"transforms: {checked} checks passed, {len(failures)} failures")
    return 1 if failures or not checked else 0


sys.exit(main())
