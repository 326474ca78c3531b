"""cachet.transformers: attention with kernels and caches in models of Transformers. Skipped if it is not installed.

  PYTHONPATH=build/release/python python tests/python/cachet_transformers_test.py
"""
import importlib.util
import pathlib
import sys
import tempfile
import unittest
import warnings

import torch

import cachet
from cachet import nn

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
# Lets it be imported where the compiled operators of torchvision do not fit the build of PyTorch.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
if importlib.util.find_spec("torchvision"):
    import torchvision_here  # noqa: F401
if importlib.util.find_spec("transformers"):
    import transformers

    import cachet.transformers

    NO_DROPOUT = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, **NO_DROPOUT)
else:
    transformers = None


def vit():
    torch.manual_seed(0)
    return transformers.ViTForImageClassification(transformers.ViTConfig(image_size=32, patch_size=8, num_labels=3, **SIZES))


def bert(**options):
    torch.manual_seed(0)
    return transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=30, **SIZES, **options))


def trained(model, **inputs):
    model.train()
    for _ in range(2):
        model(**inputs).logits.square().sum().backward()
    return model.eval()


@unittest.skipUnless(transformers, "transformers is not installed: pip install transformers")
class Transformers(unittest.TestCase):
    def same_after_saving(self, model, kind, **inputs):
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            opened = cachet.transformers.from_pretrained(kind, folder)
        self.assertTrue(torch.equal(opened(**inputs).logits, model(**inputs).logits))

    def test_a_vit_with_kernels(self):
        model, x = vit(), torch.randn(2, 3, 32, 32)
        names = cachet.transformers.use_kernels(model, "aoglu", gate_rank=2)
        self.assertEqual(len(names), 2)
        trained(model, pixel_values=x)
        features = [p.grad for name, p in model.named_parameters() if "cachet_kernels" in name]
        self.assertEqual(len(features), 6)
        self.assertTrue(all(g.any() for g in features))
        self.same_after_saving(model, transformers.ViTForImageClassification, pixel_values=x)
        self.same_after_saving(model, transformers.AutoModelForImageClassification, pixel_values=x)

    def test_attention_is_kernel_attention(self):
        model, x = vit().eval(), torch.randn(2, 3, 32, 32)
        before = model(pixel_values=x).logits
        model.set_attn_implementation("cachet_elu")
        found = []
        kernel = nn.KernelAttention(2, 8, "elu")
        attention = next(m for m in model.modules() if type(m).__name__.endswith("Attention") and hasattr(m, "scaling"))
        q, k, v = (torch.randn(2, 2, 5, 8) for _ in range(3))
        found, weights = cachet.transformers.attend_elu(attention, q, k, v, None)
        self.assertIsNone(weights)
        self.assertTrue(torch.equal(found, kernel(q, k, v).transpose(1, 2)))
        self.assertFalse(torch.allclose(model(pixel_values=x).logits, before))

    def test_padded_tokens_of_bert_do_not_matter(self):
        mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
        ids = torch.randint(1, 30, (2, 7))
        changed = torch.where(mask.bool(), ids, torch.randint(1, 30, (2, 7)))
        for form in ("elu", "glu"):
            model = bert()
            if form == "elu":
                model.set_attn_implementation("cachet_elu")
            else:
                cachet.transformers.use_kernels(model, form)
            trained(model, input_ids=ids, attention_mask=mask)
            y, z = (model(input_ids=given, attention_mask=mask).logits for given in (ids, changed))
            torch.testing.assert_close(y[mask.bool()], z[mask.bool()])
            if form == "glu":
                self.same_after_saving(model, transformers.BertForMaskedLM, input_ids=ids, attention_mask=mask)

    def test_decoders_do_not_see_the_future(self):
        model = bert(is_decoder=True)
        cachet.transformers.use_kernels(model, "glu")
        ids = torch.randint(1, 30, (2, 7))
        changed = torch.cat([ids[:, :4], torch.randint(1, 30, (2, 3))], 1)
        y, z = (model.eval()(input_ids=given, use_cache=False).logits for given in (ids, changed))
        torch.testing.assert_close(y[:, :4], z[:, :4])

    def test_a_vit_with_caches(self):
        model, x = vit(), torch.randn(2, 3, 32, 32)
        result = cachet.transformers.add_cache(model, 5, example=x)
        self.assertEqual(len(result.added), 2)
        self.assertTrue(0 < result.change < 0.2, result.change)
        trained(model, pixel_values=x)
        self.same_after_saving(model, transformers.ViTForImageClassification, pixel_values=x)
        before = model(pixel_values=x).logits
        cachet.freeze(model)
        torch.testing.assert_close(model(pixel_values=x).logits, before)

    def test_what_does_not_fit_is_named(self):
        calls = {
            "has no kernels for attn_implementation": lambda: (
                model := vit(), model.set_attn_implementation("cachet"), model(pixel_values=torch.randn(1, 3, 32, 32))),
            "has no dropout": lambda: cachet.transformers.attend_elu(
                torch.nn.Linear(1, 1), *[torch.randn(1, 2, 3, 4)] * 3, None, dropout=0.1),
            "not of pairs of tokens": lambda: cachet.transformers.attend_elu(
                torch.nn.Linear(1, 1), *[torch.randn(1, 2, 3, 4)] * 3, torch.ones(1, 1, 3, 3)),
            "no module of the model calls the attention interface": lambda: cachet.transformers.use_kernels(
                torch.nn.Linear(2, 2)),
            "add_cache does not recognise the attention in a ": lambda: cachet.transformers.add_cache(bert(), 5),
            "cannot store a function": lambda: cachet.transformers.add_cache(vit(), 5, cache=nn.FifoCache),
        }
        for words, call in calls.items():
            with self.subTest(words), self.assertRaises(ValueError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(FileNotFoundError, "has no model"):
            cachet.transformers.from_pretrained(transformers.ViTModel, folder)


if __name__ == "__main__":
    unittest.main()
