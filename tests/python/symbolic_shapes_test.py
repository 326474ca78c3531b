"""Exports and compiles every operator that a user calls with a dynamic batch and length, and runs it at other sizes.

  python tests/python/symbolic_shapes_test.py build/release/lib/libcachet_ops.so

What differs between an operator's samples of two sizes is dynamic. Results, what is written in place, and gradients are
those of the operator itself; compiled code is not made again for another size.
"""
import sys
import traceback
import warnings

import torch
from operator_samples import SAMPLES, public_operators
from torch.utils import _pytree as pytree

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")

# Apart from each other and from all other sizes of the samples: compiled code takes equal sizes for the same.
TRACED = 10, 14
# The last is longer than the blocks in which causal attention keeps its sums.
OTHERS = (12, 19), (6, 270)


def samples(name, sizes):
    torch.manual_seed(0)
    return list(SAMPLES[name](*sizes))


def carried(arguments, sizes_differ):
    """The arguments with sizes as tensors of so many rows, since torch.export takes numbers as constants."""
    return tuple(torch.empty(argument, 0) if differs is True else argument
                 for argument, differs in zip(arguments, sizes_differ))


def differing(argument, other):
    """For a number whether it is another, for a tensor its dynamic dimensions, for a list those of its entries."""
    if isinstance(argument, torch.Tensor):
        pairs = enumerate(zip(argument.shape, other.shape))
        return {dim: torch.export.Dim.DYNAMIC for dim, (size, another) in pairs if size != another}
    if isinstance(argument, (list, tuple)):
        return [differing(*pair) for pair in zip(argument, other)]
    return True if isinstance(argument, int) and argument != other else None


class Call(torch.nn.Module):
    def __init__(self, name, sizes_differ):
        super().__init__()
        self.operator = getattr(torch.ops.cachet, name)
        self.sizes_differ = sizes_differ

    def forward(self, *arguments):
        return self.operator(*(argument.shape[0] if differs is True else argument
                               for argument, differs in zip(arguments, self.sizes_differ)))


def copies(arguments, with_gradient):
    def copy(x):
        if not isinstance(x, torch.Tensor):
            return x
        return x.detach().clone().requires_grad_(with_gradient and x.requires_grad)
    return pytree.tree_map(copy, tuple(arguments))


def outcome(call, arguments, with_gradient):
    """What a call returns, what it leaves in its arguments, and the gradients of these."""
    given = copies(arguments, with_gradient)
    outputs = call(*given)
    leaves = [x for x in pytree.tree_leaves(given) if isinstance(x, torch.Tensor)]
    wanted = [x for x in leaves if x.requires_grad]
    made = [y for y in pytree.tree_leaves(outputs) if isinstance(y, torch.Tensor) and y.requires_grad]
    gradients = []
    if with_gradient and made:
        weights = [torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape) for y in made]
        gradients = torch.autograd.grad(made, wanted, weights, allow_unused=True)
    return pytree.tree_map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, (outputs, leaves, gradients))


class Case:
    """One sample of an operator at all sizes."""

    def __init__(self, name, number):
        arguments, *others = [samples(name, sizes)[number] for sizes in (TRACED, *OTHERS)]
        self.sizes_differ = [differing(*pair) for pair in zip(arguments, others[0])]
        self.call = Call(name, self.sizes_differ)
        self.traced = carried(arguments, self.sizes_differ)
        self.others = [carried(other, self.sizes_differ) for other in others]
        tensors = [x for x in pytree.tree_leaves(arguments) if isinstance(x, torch.Tensor)]
        self.differentiable = any(x.requires_grad for x in tensors)

    def same_at_other_sizes(self, call, with_gradient):
        for arguments in self.others:
            torch.testing.assert_close(outcome(call, arguments, with_gradient),
                                       outcome(self.call, arguments, with_gradient))

    def export(self, strict):
        shapes = [{0: torch.export.Dim.DYNAMIC} if differs is True else differs for differs in self.sizes_differ]
        arguments = copies(self.traced, with_gradient=False)
        exported = torch.export.export(self.call, arguments, dynamic_shapes=(tuple(shapes),), strict=strict)
        self.same_at_other_sizes(exported.module(), with_gradient=False)

    def compile(self, backend, with_gradient):
        torch._dynamo.reset()
        compiled = torch.compile(self.call, backend=backend, dynamic=True, fullgraph=True)
        outcome(compiled, self.traced, with_gradient)
        with torch.compiler.set_stance("fail_on_recompile"):
            self.same_at_other_sizes(compiled, with_gradient)


WAYS = {
    "export": lambda case: case.export(strict=False),
    "strict export": lambda case: case.export(strict=True),
    "compile": lambda case: case.compile("aot_eager", with_gradient=case.differentiable),
}


def main():
    torch.ops.load_library(sys.argv[1])
    failures, checked = [], 0
    for name in sys.argv[2:] or public_operators():
        for number in range(len(samples(name, TRACED))):
            for way, run in WAYS.items():
                # Strict export traces as torch.compile does and writes as export does: one sample of an operator shows both.
                if way == "strict export" and number:
                    continue
                try:
                    run(Case(name, number))
                    checked += 1
                except Exception:
                    failures.append(f"{name}, sample {number}, {way}:\n{traceback.format_exc()}")
    print("\n".join(failures), file=sys.stderr)
    print(f"symbolic shapes: {checked} checks of {len(public_operators())} operators passed, {len(failures)} failures")
    return 1 if failures or not checked else 0


sys.exit(main())
