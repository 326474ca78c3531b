"""fairseq's beam search and loss, written down from its rules, over a small translation model in PyTorch's layers, next to
`cachet translate` and `cachet eval` with the same weights. fairseq itself cannot be installed next to a current PyTorch: its
sequence_generator.py is followed, for a batch of one sentence, and its label_smoothed_cross_entropy.py."""
import json
import math

import safetensors.torch
import torch
from torch import nn

from comparison import Found, comparison, drawer, torch_drawer

WORDS, DIM, HEADS, HIDDEN, LAYERS = 17, 32, 4, 48, 2
VOCABULARY = ["<eos>"] + [f"w{number}" for number in range(WORDS)] + ["<unk>"]
END, UNKNOWN = 0, WORDS + 1
SENTENCES = 50  # for each of the settings
NOWHERE = -math.inf


class Translator(nn.Module):
    """A pre-norm encoder-decoder with one table for source, target and output, as fairseq's transformer."""

    def __init__(self):
        super().__init__()
        options = {"dropout": 0.0, "batch_first": True, "norm_first": True}
        self.table = nn.Parameter(torch.empty(len(VOCABULARY), DIM))
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(DIM, HEADS, HIDDEN, **options) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(DIM, HEADS, HIDDEN, **options) for _ in range(LAYERS))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.register_buffer("positions", sinusoids(200))

    def embedded(self, tokens):
        return math.sqrt(DIM) * self.table[tokens] + self.positions[:tokens.shape[-1]]

    def encode(self, source):
        tokens = self.embedded(source)
        for layer in self.encoder:
            tokens = layer(tokens)
        return self.encoder_norm(tokens)

    def decode(self, prefixes, memory):
        """log p of the token that follows each prefix."""
        tokens, length = self.embedded(prefixes), prefixes.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        for layer in self.decoder:
            tokens = layer(tokens, memory.expand(len(prefixes), -1, -1), tgt_mask=mask)
        return torch.log_softmax(self.decoder_norm(tokens[:, -1]) @ self.table.T, -1)

    def fairseq_tensors(self):
        tensors = {f"{half}.embed_tokens.weight": self.table for half in ("encoder", "decoder")}
        tensors["decoder.output_projection.weight"] = self.table

        def add(theirs, module):
            tensors.update({f"{theirs}.{name}": value for name, value in module.named_parameters()})

        def add_attention(theirs, module):
            parts = zip("qkv", module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3))
            for letter, weight, bias in parts:
                tensors.update({f"{theirs}.{letter}_proj.weight": weight, f"{theirs}.{letter}_proj.bias": bias})
            add(f"{theirs}.out_proj", module.out_proj)

        for half, layers in (("encoder", self.encoder), ("decoder", self.decoder)):
            add(f"{half}.layer_norm", self.encoder_norm if half == "encoder" else self.decoder_norm)
            for number, layer in enumerate(layers):
                place = f"{half}.layers.{number}"
                norms = [layer.norm1, layer.norm2] if half == "encoder" else [layer.norm1, layer.norm2, layer.norm3]
                add_attention(f"{place}.self_attn", layer.self_attn)
                if half == "decoder":
                    add_attention(f"{place}.encoder_attn", layer.multihead_attn)
                    add(f"{place}.encoder_attn_layer_norm", norms.pop(1))
                add(f"{place}.self_attn_layer_norm", norms[0])
                add(f"{place}.final_layer_norm", norms[1])
                add(f"{place}.fc1", layer.linear1)
                add(f"{place}.fc2", layer.linear2)
        return {name: value.detach().float().clone().contiguous() for name, value in tensors.items()}


def sinusoids(count):
    """fairseq's SinusoidalPositionalEmbedding from the position after that of the padding, id 0, on."""
    rates = torch.exp(torch.arange(DIM // 2) * -(math.log(10000) / (DIM // 2 - 1)))
    angles = torch.arange(1, count + 1)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


def drawn_translator(number):
    """Weights with which searches differ from each other: some end early, some at the longest length."""
    generator, model = torch_drawer(f"translator {number}"), Translator()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            norm = "norm" in name and name.endswith("weight")
            width = 1.0 if parameter.dim() == 1 else 2.2 / math.sqrt(parameter.shape[1])
            parameter.copy_((1.0 if norm else 0.0) + (0.2 if parameter.dim() == 1 else width) *
                            torch.randn(parameter.shape, generator=generator))
    return model.double().eval()


def search(model, source, beam, penalty, shortest, longest):
    """The finished hypotheses of a sentence, the best first: a score and the tokens with their end."""
    memory = model.encode(torch.tensor([source]))
    alive, finished = [(0.0, [END])], []  # fairseq starts with the end of a sentence
    for step in range(longest + 1):
        scores = model.decode(torch.tensor([tokens for _, tokens in alive]), memory)
        if step < shortest:
            scores[:, END] = NOWHERE
        if step == longest:
            scores[:, :END] = scores[:, END + 1:] = NOWHERE
        sums = (scores + torch.tensor([score for score, _ in alive])[:, None]).flatten()
        best, places = sums.topk(min(2 * beam, sums.numel()))
        candidates = [(score, alive[place // len(VOCABULARY)][1] + [place % len(VOCABULARY)])
                      for score, place in zip(best.tolist(), places.tolist()) if score > NOWHERE]
        for score, tokens in candidates[:beam]:
            if tokens[-1] == END and len(finished) < beam:
                finished.append((score / (len(tokens) - 1) ** penalty, tokens[1:]))
        alive = [candidate for candidate in candidates if candidate[1][-1] != END][:beam]
        if len(finished) == beam or not alive:
            break
    return sorted(finished, key=lambda hypothesis: -hypothesis[0])


SETTINGS = [  # beam, penalty, shortest, tokens for each of the source, tokens added
    (1, 1.0, 1, 0.0, 20), (4, 0.6, 1, 0.0, 20), (5, 1.0, 1, 1.2, 6), (5, 0.6, 5, 0.0, 20), (4, 1.0, 1, 0.5, 2),
    (5, 0.0, 1, 0.0, 20), (5, 1.0, 0, 0.0, 20), (8, 2.0, 1, 1.0, 4)]


def text_of(tokens):
    return " ".join(VOCABULARY[token] for token in tokens if token != END)


def data_of(folder):
    settings = {"tokens": "words", "root": folder, "source": "de", "target": "en", "vocabulary": len(VOCABULARY)}
    return [word for key, value in settings.items() for word in ("--set", f"data.{key}={value}")]


def translations(setting, folder, sentences, beam, penalty, shortest, per_token, added):
    said = setting.cachet("translate", folder / "model", sentences, *data_of(folder), "--json", "--n-best", beam,
                          "--beam", beam, "--length-penalty", penalty, "--min-length", shortest,
                          "--max-length-a", per_token, "--max-length-b", added)
    return [json.loads(line)["translations"] for line in said.splitlines()]


def imported(setting, number):
    """A drawn model, and a folder with it as Cachet reads it and with its vocabulary."""
    folder, model = setting.folder(f"translator{number}"), drawn_translator(number)
    (folder / "words.txt").write_text("".join(f"{word}\t1\n" for word in VOCABULARY))
    safetensors.torch.save_file(model.fairseq_tensors(), folder / "fairseq.safetensors")
    sizes = {"embed_dim": DIM, "source_vocabulary": len(VOCABULARY), "target_vocabulary": len(VOCABULARY)}
    for half in ("encoder", "decoder"):
        sizes.update({f"{half}_depth": LAYERS, f"{half}_heads": HEADS, f"{half}_mlp_dim": HIDDEN})
    words = [word for key, value in sizes.items() for word in ("--set", f"model.{key}={value}")]
    setting.cachet("import", folder / "fairseq.safetensors", "--from", "fairseq", "--model", "transformer_iwslt_de_en", "-o",
                   folder / "model", *words)
    # What was saved are the numbers that both compute with.
    model.load_state_dict({name: value.float().double() for name, value in model.state_dict().items()})
    return folder, model


# Cachet computes in float32, the search here in float64.
@comparison("fairseq", "beam searches: tokens of all hypotheses, and their scores", allowed=1e-4, source="its rules in Python")
def beam_search(setting):
    found, draw = Found(0), drawer("fairseq search")
    for number in range(4):
        folder, model = imported(setting, number)
        for which, (beam, penalty, shortest, per_token, added) in enumerate(SETTINGS):
            sources = [[draw.randrange(1, UNKNOWN) for _ in range(draw.randrange(1, 12))] for _ in range(SENTENCES)]
            file = folder / f"{which}.de"
            file.write_text("".join(text_of(source) + "\n" for source in sources))
            ours = translations(setting, folder, file, beam, penalty, shortest, per_token, added)
            for source, our in zip(sources, ours, strict=True):
                with torch.no_grad():
                    their = search(model, source + [END], beam, penalty, shortest, int(per_token * (len(source) + 1) + added))
                same = [one["text"] for one in our] == [text_of(tokens) for _, tokens in their]
                found.add(max(abs(one["score"] - score) for one, (score, _) in zip(our, their)) if same else math.inf)
    return found


SMOOTHING = 0.1


def losses(model, source, target):
    """−Σ log p of a pair, and its loss with fairseq's label smoothing (label_smoothed_cross_entropy, from 1.0 on)."""
    memory = model.encode(torch.tensor([source + [END]]))
    tokens = model.embedded(torch.tensor([[END] + target]))
    mask = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    for layer in model.decoder:
        tokens = layer(tokens, memory, tgt_mask=mask)
    scores = torch.log_softmax(model.decoder_norm(tokens[0]) @ model.table.T, -1)
    likelihood = -scores.gather(1, torch.tensor(target + [END])[:, None]).sum().item()
    share = SMOOTHING / (len(VOCABULARY) - 1)
    return likelihood, (1 - SMOOTHING - share) * likelihood - share * scores.sum().item()


@comparison("fairseq", "losses of pairs of sentences, with label smoothing and without, as a fraction of the loss", allowed=1e-5,
            source="its rules in Python")
def pair_losses(setting):
    found, draw = Found(0), drawer("fairseq losses")
    for number in range(4):
        folder, model = imported(setting, number)
        pairs = [[[draw.randrange(1, UNKNOWN) for _ in range(draw.randrange(1, 12))] for _ in range(2)] for _ in range(200)]
        for side, language in enumerate(("de", "en")):
            (folder / f"test.{language}").write_text("".join(text_of(pair[side]) + "\n" for pair in pairs))
        settings = [*data_of(folder), "--set", f"task.label_smoothing={SMOOTHING}", "--set", "task.evaluation.translate=false"]
        setting.cachet("eval", folder / "model", "-o", folder / "records", *settings)
        records = [json.loads(line) for line in (folder / "records/predictions.jsonl").read_text().splitlines()]
        assert len(records) == len(pairs), f"{len(records)} records"
        for record in records:
            with torch.no_grad():
                likelihood, loss = losses(model, *pairs[record["sample"]])
            found.add(max(abs(record["nll"] / likelihood - 1), abs(record["loss"] / loss - 1)), 2)
    return found
