"""Layers with state in two processes (gloo) with DistributedDataParallel and FSDP, against one process with the whole batch.

  PYTHONPATH=build/release/python python tests/python/cachet_processes_test.py
"""
import gc
import pathlib
import tempfile
import unittest
import warnings

import torch
import torch.multiprocessing
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from cachet import nn, ops

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
warnings.filterwarnings("ignore", message="FSDP2-wrapped module")
STEPS, BATCH = 10, 4


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        window = ops.UnifiedNormSettings(forward_window=2, backward_window=2, warmup=3)
        self.layers = torch.nn.ModuleList([
            nn.UnifiedNorm(8, window),
            nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5)),
            nn.PowerNorm(8, ops.PowerNormSettings(warmup=3)),
            nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5, variant="official"), positional_convolution=False),
            nn.MABN(8, window=2, warmup=3),
            nn.CachedAttention(8, 2, nn.FifoCache(8, 5)),
            nn.MultiHeadAttention(8, 2, cache=nn.ConcatenatedCache(8, 6)),
        ])

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


def model_and_batches():
    torch.manual_seed(0)
    model = Model().double()
    return model, torch.randn(STEPS, BATCH, 6, 8, dtype=torch.float64)


def trained(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in batches:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()


def sharded(model):
    """The layers and the model with FSDP, whose state is shared, and a function that returns its whole state dict."""
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    nn.share_state(model)
    assert all(isinstance(x, DTensor) for x in model.parameters())
    assert not any(isinstance(x, DTensor) for x in model.buffers())
    return model, lambda: {name: x.full_tensor() if isinstance(x, DTensor) else x for name, x in model.state_dict().items()}


def process(rank, state, folder):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    model, batches = model_and_batches()
    half = slice(rank * BATCH // 2, (rank + 1) * BATCH // 2)
    whole_state = model.state_dict
    if state == "fully_shard":
        distributed, whole_state = sharded(model)
    else:
        distributed = nn.distribute(model, state)
    trained(distributed, batches[:, half])
    torch.save(whole_state(), f"{folder}/{rank}.pt")
    # What still refers to the group keeps Gloo's threads alive, which end the interpreter with SIGABRT now and then.
    del distributed, whole_state
    gc.collect()
    torch.distributed.destroy_process_group()


def in_two_processes(state):
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(process, (state, folder), nprocs=2)
        return [torch.load(pathlib.Path(folder) / f"{rank}.pt") for rank in range(2)]


class Processes(unittest.TestCase):
    def close(self, one, other, names, tolerance):
        for name in names:
            torch.testing.assert_close(one[name], other[name], rtol=tolerance, atol=tolerance, msg=lambda m: f"{name}: {m}")

    def test_shared_state_is_that_of_one_process(self):
        model, batches = model_and_batches()
        states = {name for name, _ in model.named_buffers()}
        trained(model, batches)
        whole = model.state_dict()
        for wrapper in ("shared", "fully_shard"):
            for part in in_two_processes(wrapper):
                with self.subTest(wrapper):
                    self.assertEqual(set(part), set(whole))
                    self.close(part, whole, states, 1e-6)
                    self.close(part, whole, set(whole) - states, 1e-10)

    def test_separate_states_differ_and_first_states_begin_with_the_first(self):
        model, batches = model_and_batches()
        states = {name for name, _ in model.named_buffers() if "counters" not in name}
        for state in ("separate", "first"):
            one, other = in_two_processes(state)
            self.close(one, other, set(one) - {name for name, _ in model.named_buffers()}, 1e-12)
            for name in states:
                self.assertFalse(torch.allclose(one[name], other[name], rtol=1e-6), f"{state} {name}")

    def test_bad_words_and_no_processes_are_named(self):
        with self.assertRaisesRegex(ValueError, 'state: "own" is not one of "shared", "separate", "first"'):
            nn.distribute(torch.nn.Linear(1, 1), "own")
        with self.assertRaisesRegex(ValueError, "the argument state determines broadcast_buffers"):
            nn.distribute(torch.nn.Linear(1, 1), broadcast_buffers=True)
        with self.assertRaisesRegex(RuntimeError, "torch.distributed is not initialized"):
            nn.share_state(nn.UnifiedNorm(8))


if __name__ == "__main__":
    unittest.main()
