#!/usr/bin/env python3
"""Training steps of fairseq's transformer_iwslt_de_en compared with the same of torch.nn's Transformer layers:
translation_training.py PATH/TO/translation_training_benchmark [--rounds N] [--precision fp32,bf16]

Both train on synthetic tokens, batches of about 4,096 tokens of a side as sentences of several lengths make them: pre-norm,
one table of 10,000 embeddings, dropout 0.3 of embeddings and branches, labels smoothed by 0.1, AdamW. They take turns, all
batches each. Prints CSV: time of PyTorch's steps ÷ ours, above 1 ours is faster.
"""
import argparse
import math

import torch

from incremental_translation import sinusoids
from measurements import pairs_of
from training_steps import TrainingProgram, print_steps, timed_step

THREADS, WORDS, WIDTH, HEADS, WIDE, DEPTH, DROPOUT, FIRST_WORD = 2, 10000, 512, 4, 1024, 6, 0.3, 4
BATCHES = [(256, 16, 15), (160, 25, 24), (110, 36, 37), (64, 64, 60)]  # sentences, tokens of a source, of a target


def without_inner_dropout(layers):
    """fairseq's layers drop what branches give, and neither attention's weights nor the hidden layer's activations."""
    for layer in layers:
        layer.dropout.p = 0.0
        for name in ("self_attn", "multihead_attn"):
            if hasattr(layer, name):
                getattr(layer, name).dropout = 0.0
    return layers


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        sizes = dict(d_model=WIDTH, nhead=HEADS, dim_feedforward=WIDE, dropout=DROPOUT, batch_first=True, norm_first=True)
        self.embed = torch.nn.Embedding(WORDS, WIDTH)
        torch.nn.init.normal_(self.embed.weight, 0.0, WIDTH ** -0.5)
        self.encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(**sizes), DEPTH,
                                                   torch.nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(**sizes), DEPTH,
                                                   torch.nn.LayerNorm(WIDTH))
        without_inner_dropout([*self.encoder.layers, *self.decoder.layers])
        self.register_buffer("positions", sinusoids(1, 512, WIDTH))

    def embedded(self, ids):
        x = self.embed(ids) * math.sqrt(WIDTH) + self.positions[:ids.size(1)]
        return torch.nn.functional.dropout(x, DROPOUT)

    def loss(self, source, target, targets):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(target.size(1))
        hidden = self.decoder(self.embedded(target), self.encoder(self.embedded(source)), tgt_mask=mask, tgt_is_causal=True)
        scores = torch.nn.functional.linear(hidden.flatten(0, 1), self.embed.weight)
        return torch.nn.functional.cross_entropy(scores.float(), targets.flatten(), label_smoothing=0.1)


class Theirs:
    def __init__(self, narrow):
        self.narrow, self.model = narrow, Transformer()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)

    def step(self, sentences, source, target):
        """Milliseconds without the optimizer's part, and with it."""
        ids = [torch.randint(FIRST_WORD, WORDS, (sentences, length)) for length in (source, target, target)]
        return timed_step(lambda: self.model.loss(*ids), self.optimizer, self.narrow)


class Ours(TrainingProgram):
    def step(self, *batch):
        return super().step(" ".join(map(str, batch)))


def all_batches(side):
    """Milliseconds of a step on each batch, added up: without the optimizer's part, and with it."""
    return tuple(map(sum, zip(*(side.step(*batch) for batch in BATCHES))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--precision", default="fp32,bf16")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    tokens = sum(sentences * target for sentences, _, target in BATCHES)
    for precision in arguments.precision.split(","):
        narrow = precision == "bf16"
        ours, theirs = Ours(arguments.program, narrow), Theirs(narrow)
        pairs = pairs_of(arguments.rounds, lambda: all_batches(ours), lambda: all_batches(theirs), warm_up=1)
        ours.close()
        print_steps("transformer_iwslt_de_en", precision, pairs, tokens, "torch")


if __name__ == "__main__":
    main()
