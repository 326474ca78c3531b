"""A ViT of timm with the cache of cachet.add_cache, fine-tuned in Python, against the C++ model that is trained on the same
batches from the same weights (finetune_steps.cpp). Skipped if timm is not installed.

  PYTHONPATH=build/release/python python tests/python/cachet_finetune_test.py build/release/finetune_steps
"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch

import cachet

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
# Lets timm be imported where the compiled operators of torchvision do not fit the build of PyTorch.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
if importlib.util.find_spec("timm") and importlib.util.find_spec("torchvision"):
    import torchvision_here  # noqa: F401, I001
    import timm
else:
    timm = None

STEPS, RATE = 50, 3e-3
HEADS, TOKENS = 3, 10
EVERY_LOSS, FIRST_LOSS = 1e-9, 1e-5  # float64; float32


def batches(dtype):
    """Images of noise. The two bits of the class make the first and the second channel brighter."""
    draw = torch.Generator().manual_seed(1)
    labels = torch.randint(4, (STEPS, 8), generator=draw)
    images = torch.randn(STEPS, 8, 3, 32, 32, generator=draw, dtype=torch.float64)
    for channel in (0, 1):
        images[:, :, channel] += (labels >> channel & 1)[..., None, None]
    return images.to(dtype), labels


def cached_vit(dtype):
    torch.manual_seed(0)
    model = timm.create_model(
        "vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=24, depth=3, num_heads=HEADS, num_classes=4
    ).to(dtype)
    cachet.add_cache(model, TOKENS, share_start=0.0)
    return model.train()


def fine_tune(model, images, labels):
    """The loss of each step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    losses = []
    for x, y in zip(images, labels, strict=True):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.tensor(losses, dtype=torch.float64)


@unittest.skipUnless(timm, "timm is not installed: pip install timm torchvision")
class FineTuning(unittest.TestCase):
    program = None

    def in_both(self, dtype):
        torch.set_num_threads(1)
        from safetensors.torch import load_file, save_file

        model = cached_vit(dtype)
        images, labels = batches(dtype)
        start = {f"model.{name}": tensor.contiguous().clone() for name, tensor in model.state_dict().items()}
        start |= {"images": images, "labels": labels, "num_heads": torch.tensor(HEADS),
                  "rate": torch.tensor(RATE, dtype=torch.float64)}  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            first, last = (pathlib.Path(folder) / f"{name}.safetensors" for name in ("start", "losses"))
            save_file(start, first)
            subprocess.run([self.program, first, last], check=True)
            cpp = load_file(last)["losses"]
        return fine_tune(model, images, labels), cpp

    def test_losses_are_equal_in_float64(self):
        python, cpp = self.in_both(torch.float64)
        self.assertEqual(python.shape, (STEPS,))
        self.assertLess(python[-10:].mean(), 0.8 * python[:10].mean(), "the model learns")
        self.assertLessEqual((python - cpp).abs().max().item(), EVERY_LOSS)

    def test_the_first_loss_is_equal_in_float32(self):
        python, cpp = self.in_both(torch.float32)
        self.assertLessEqual((python - cpp).abs()[0].item(), FIRST_LOSS)
        self.assertLessEqual((python - cpp).abs().max().item(), 1e-2, "later losses drift apart")


if __name__ == "__main__":
    FineTuning.program = sys.argv.pop(1)
    unittest.main()
