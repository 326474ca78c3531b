#!/usr/bin/env python3
"""Translating a test split compared with CTranslate2 and PyTorch: translation_decoding.py PATH/TO/decoding_benchmark RUN
[--rounds N] [--limit N] [--beams 1,4] [--peers CTranslate2,PyTorch] [--folder FOLDER]

Needs an interpreter that has torch, ctranslate2 and sacrebleu. RUN is a trained run of a plain pre-norm Transformer with
softmax attention and LayerNorm, whatever its size; its vocabulary needs ids for the begin and the end of a sentence. All
have its weights in float32, the same batches of sentences of like lengths, the same beam, length penalty and limits,
and take turns, the whole split each. Prints CSV: the peer's time for a token ÷ ours, above 1 ours is faster; BLEU of
both, and the fraction of sentences that both translate alike (of a beam of 1, which is greedy, ends with 1 where it is
below 99 %; CTranslate2's beam search stops by another rule).
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time
import tomllib

import ctranslate2
import numpy
import sacrebleu
import torch

from incremental_translation import Transformer, beam_search, sinusoids
from measurements import median, pairs_of, print_row, ratio_columns
from safetensors_files import read_safetensors
from served_program import ServedProgram

THREADS = 2


def require_plain(recipe):
    """The [model] table, if all programs have such a model."""
    model = recipe["model"]
    plain = {"cache": "none", "norm": "layer", "attention": "softmax", "decoder_attention": "softmax",
             "cross_attention": "softmax"}
    others = [f"model.{part}.kind" for part, kind in plain.items() if model.get(part, {}).get("kind", kind) != kind]
    others += [f"model.{key}" for key, value in {"norm_place": "before", "activation": "relu"}.items() if model[key] != value]
    others += [f"model.{part}.head_dim" for part in plain if model.get(part, {}).get("head_dim", 0) != 0]
    if others:
        sys.exit(f"the other programs have no such model: {', '.join(others)}")
    return model


def all_weights(tensors):
    """With what is shared under each of its names."""
    weights = dict(tensors)
    weights.setdefault("target_embed.weight", weights["source_embed.weight"])
    weights.setdefault("output.weight", weights["target_embed.weight"])
    return {name: tensor.float() for name, tensor in weights.items()}


class PyTorch:
    def __init__(self, model, weights, about):
        self.model, self.about = Transformer(model, weights, about["padding"]), about

    def decode(self, batches, beam):
        about = self.about
        found = [None] * len(about["sources"])
        for batch in batches:
            sources = [about["sources"][i] for i in batch]
            ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(source) for source in sources], batch_first=True,
                                                  padding_value=about["padding"])
            lengths = torch.tensor([len(source) for source in sources])
            with torch.inference_mode():
                translations = beam_search(self.model, ids, lengths, about["begin"], about["end"], beam,
                                           about["length_penalty"], about["shortest"], longest(about, ids.size(1)))
            for i, translation in zip(batch, translations):
                found[i] = translation
        return found


class CTranslate2:
    def __init__(self, model, weights, about, folder):
        spec = self.made_spec(model, weights, about)
        words = {about["begin"]: "<s>", about["end"]: "</s>", about["padding"]: "<blank>"}
        # The words of a vocabulary are the numbers of its tokens.
        self.named = [words.get(i, str(i)) for i in range(max(model["source_vocabulary"], model["target_vocabulary"]))]
        spec.register_source_vocabulary(self.named[:model["source_vocabulary"]])
        spec.register_target_vocabulary(self.named[:model["target_vocabulary"]])
        spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = "1", "<s>", "</s>"
        spec.config.decoder_start_token = "<s>"
        spec.validate()
        folder.mkdir(exist_ok=True)
        spec.save(str(folder))
        self.translator = ctranslate2.Translator(str(folder), device="cpu", compute_type="float32", inter_threads=1,
                                                 intra_threads=THREADS)
        self.ids = {word: i for i, word in enumerate(self.named)}
        self.about = about

    @staticmethod
    def made_spec(model, weights, about):
        spec = ctranslate2.specs.TransformerSpec.from_config(
            (model["encoder_depth"], model["decoder_depth"]), model["encoder_heads"], pre_norm=True,
            activation=ctranslate2.specs.common_spec.Activation.RELU)
        spec.decoder.num_heads = numpy.dtype("int16").type(model["decoder_heads"])

        def set_linear(part, name):
            part.weight = weights[name + ".weight"].numpy()
            if name + ".bias" in weights:
                part.bias = weights[name + ".bias"].numpy()

        def set_norm(part, name):
            part.gamma, part.beta = weights[name + ".weight"].numpy(), weights[name + ".bias"].numpy()

        def set_block(layer, name, across):
            set_norm(layer.self_attention.layer_norm, f"{name}.norm1")
            for part, own in zip(layer.self_attention.linear, ("qkv", "proj")):
                set_linear(part, f"{name}.attn.{own}")
            if across:
                set_norm(layer.attention.layer_norm, f"{name}.cross_norm")
                for part, own in zip(layer.attention.linear, ("q", "kv", "proj")):
                    set_linear(part, f"{name}.cross_attn.{own}")
            set_norm(layer.ffn.layer_norm, f"{name}.norm2")
            set_linear(layer.ffn.linear_0, f"{name}.mlp.fc1")
            set_linear(layer.ffn.linear_1, f"{name}.mlp.fc2")

        positions = sinusoids(about["padding"] + 1, max(model["source_length"], model["target_length"]), model["embed_dim"])
        for half, name, across in ((spec.encoder, "encoder", False), (spec.decoder, "decoder", True)):
            half.position_encodings.encodings = positions.numpy()
            set_norm(half.layer_norm, f"{name}_norm")
            for i, layer in enumerate(half.layer):
                set_block(layer, f"{name}_blocks.{i}", across)
        spec.encoder.embeddings[0].weight = weights["source_embed.weight"].numpy()
        spec.decoder.embeddings.weight = weights["target_embed.weight"].numpy()
        set_linear(spec.decoder.projection, "output")
        return spec

    def decode(self, batches, beam):
        about = self.about
        found = [None] * len(about["sources"])
        for batch in batches:
            sources = [[self.named[token] for token in about["sources"][i]] for i in batch]
            results = self.translator.translate_batch(
                sources, beam_size=beam, length_penalty=about["length_penalty"], min_decoding_length=about["shortest"],
                max_decoding_length=longest(about, max(map(len, sources))), max_batch_size=0, max_input_length=0,
                return_end_token=True)
            for i, result in zip(batch, results):
                found[i] = [self.ids[word] for word in result.hypotheses[0]]
        return found


def longest(about, width):
    """Tokens of a translation without its end, of the longest source of a batch: fairseq's int(a·width + b)."""
    return int(about["per_token"] * width + about["added"])


def with_end(translation, end):
    return translation if translation and translation[-1] == end else translation + [end]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--peers", default="CTranslate2,PyTorch")
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        limit = ["--limit", str(arguments.limit)] if arguments.limit else []
        ours = ServedProgram([arguments.program, "--serve", arguments.run, str(folder), *limit])
        about = json.loads((folder / "sentences.json").read_text())
        model, weights = require_plain(tomllib.loads(about["recipe"])), all_weights(read_safetensors(folder / "weights.safetensors"))
        wanted = arguments.peers.split(",")
        peers = {}
        if "CTranslate2" in wanted:
            peers[f"CTranslate2 {ctranslate2.__version__}"] = CTranslate2(model, weights, about, folder / "ctranslate2")
        if "PyTorch" in wanted:
            peers[f"PyTorch {torch.__version__}"] = PyTorch(model, weights, about)
        unlike = False
        for beam in map(int, arguments.beams.split(",")):
            unlike |= compare(ours, peers, about, folder, model["name"], beam, arguments.rounds)
        ours.close()
    if unlike:
        sys.exit("fewer than 99 % of the greedy translations are alike")


def compare(ours, peers, about, folder, name, beam, rounds):
    """Prints a row for each peer; whether a peer's greedy translations are others."""

    def text_of(translations, of):
        (folder / f"{of}.json").write_text(json.dumps(translations))
        ours.ask(f"text {of}")
        return (folder / f"{of}.txt").read_text().split("\n")[:-1]

    found = {}

    def own_time():
        milliseconds, tokens = ours.ask(f"decode {beam}").split()
        return float(milliseconds) / float(tokens)

    def time_of(peer):
        start = time.perf_counter()
        translations = peers[peer].decode(about["batches"], beam)
        seconds = time.perf_counter() - start
        found[peer] = [with_end(translation, about["end"]) for translation in translations]
        return 1e3 * seconds / sum(map(len, found[peer]))

    times = {peer: tuple(zip(*pairs_of(rounds, own_time, lambda: time_of(peer), warm_up=1))) for peer in peers}
    ours.ask("write ours")
    translated = json.loads((folder / "ours.json").read_text())
    bleu = sacrebleu.corpus_bleu(text_of(translated, "ours"), [about["references"]])
    unlike = False
    for peer, translations in found.items():
        alike = sum(a == b for a, b in zip(translated, translations)) / len(translated)
        unlike |= beam == 1 and alike < 0.99
        theirs = sacrebleu.corpus_bleu(text_of(translations, "peer"), [about["references"]])
        own, other = times[peer]
        print_row(model=name, search="greedy" if beam == 1 else f"beam {beam}", peer=peer, sentences=len(translated),
                  threads=THREADS, tokens_per_second=f"{1e3 / float(median(own, 6)):.0f}",
                  peer_tokens_per_second=f"{1e3 / float(median(other, 6)):.0f}", bleu=f"{bleu.score:.2f}",
                  peer_bleu=f"{theirs.score:.2f}", alike=f"{100 * alike:.1f}", **ratio_columns(other, own))
    return unlike


if __name__ == "__main__":
    main()
