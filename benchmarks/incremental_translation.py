"""fairseq's Transformer in plain PyTorch, as translation_decoding.py compares with it: pre-norm, keys and values of what
was written before are cached. Weights are named as Cachet's."""
import math

import torch
from torch.nn import functional


def sinusoids(first, count, width):
    """Positions first, first + 1, … as fairseq has them: (count, width), sines in the first half of the channels."""
    half = width // 2
    frequency = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000.0) / (half - 1)))
    angle = torch.arange(first, first + count, dtype=torch.float64)[:, None] * frequency
    return torch.cat([angle.sin(), angle.cos()], 1).float()


class Attention(torch.nn.Module):
    def __init__(self, width, heads, across):
        super().__init__()
        self.heads = heads
        if across:
            self.q, self.kv = torch.nn.Linear(width, width), torch.nn.Linear(width, 2 * width)
        else:
            self.qkv = torch.nn.Linear(width, 3 * width)
        self.proj = torch.nn.Linear(width, width)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def mix(self, q, k, v, mask=None):
        mixed = functional.scaled_dot_product_attention(self.split(q), k, v, attn_mask=mask)
        return self.proj(mixed.transpose(1, 2).flatten(2))


class Block(torch.nn.Module):
    def __init__(self, width, heads, wide, across):
        super().__init__()
        self.attn, self.norm1, self.norm2 = Attention(width, heads, False), *(torch.nn.LayerNorm(width) for _ in range(2))
        if across:
            self.cross_attn, self.cross_norm = Attention(width, heads, True), torch.nn.LayerNorm(width)
        self.mlp = torch.nn.ModuleDict({"fc1": torch.nn.Linear(width, wide), "fc2": torch.nn.Linear(wide, width)})

    def feed_forward(self, x):
        return x + self.mlp["fc2"](self.mlp["fc1"](self.norm2(x)).relu())

    def encode(self, x, mask):
        q, k, v = self.attn.qkv(self.norm1(x)).chunk(3, -1)
        return self.feed_forward(x + self.attn.mix(q, self.attn.split(k), self.attn.split(v), mask))

    def step(self, x, past, mask):
        """One more token of each batch row. past: keys and values of the tokens before, and of the source."""
        q, k, v = self.attn.qkv(self.norm1(x)).chunk(3, -1)
        k, v = self.attn.split(k), self.attn.split(v)
        if "k" in past:
            k, v = torch.cat([past["k"], k], 2), torch.cat([past["v"], v], 2)
        past["k"], past["v"] = k, v
        x = x + self.attn.mix(q, k, v)
        x = x + self.cross_attn.mix(self.cross_attn.q(self.cross_norm(x)), past["source_k"], past["source_v"], mask)
        return self.feed_forward(x)


class Transformer(torch.nn.Module):
    """Of a recipe's [model] table and the weights of its run."""

    def __init__(self, table, weights, padding):
        super().__init__()
        width = table["embed_dim"]
        self.padding, self.scale = padding, math.sqrt(width)
        self.encoder_blocks = torch.nn.ModuleList(
            Block(width, table["encoder_heads"], table["encoder_mlp_dim"], False) for _ in range(table["encoder_depth"]))
        self.decoder_blocks = torch.nn.ModuleList(
            Block(width, table["decoder_heads"], table["decoder_mlp_dim"], True) for _ in range(table["decoder_depth"]))
        self.encoder_norm, self.decoder_norm = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.source_embed = torch.nn.Embedding(table["source_vocabulary"], width)
        self.target_embed = torch.nn.Embedding(table["target_vocabulary"], width)
        self.output = torch.nn.Linear(width, table["target_vocabulary"], bias=False)
        self.register_buffer("positions", sinusoids(padding + 1, max(table["source_length"], table["target_length"]), width),
                             persistent=False)
        self.load_state_dict(weights)
        self.eval()

    def begin(self, ids, lengths, beam):
        """ids (B, S) with padding at the end -> what `step` needs for `beam` batch rows of each sentence."""
        padding = torch.arange(ids.size(1)) >= lengths[:, None]
        mask = ~padding[:, None, None, :]
        x = (self.source_embed(ids) * self.scale + self.positions[:ids.size(1)]).masked_fill(padding[..., None], 0)
        for block in self.encoder_blocks:
            x = block.encode(x, mask)
        x = self.encoder_norm(x)
        past = []
        for block in self.decoder_blocks:
            k, v = (block.cross_attn.split(part).repeat_interleave(beam, 0) for part in block.cross_attn.kv(x).chunk(2, -1))
            past.append({"source_k": k, "source_v": v})
        return {"past": past, "mask": mask.repeat_interleave(beam, 0), "written": 0}

    def step(self, last, state):
        """log p of the next token of each batch row: (batch rows, vocabulary)."""
        x = self.target_embed(last[:, None]) * self.scale + self.positions[state["written"]]
        for block, past in zip(self.decoder_blocks, state["past"]):
            x = block.step(x, past, state["mask"])
        state["written"] += 1
        scores = functional.log_softmax(self.output(self.decoder_norm(x)[:, 0]), -1)
        scores[:, self.padding] = -math.inf
        return scores

    @staticmethod
    def go_on(rows, state, same_sentences):
        """Batch row i continues the former batch row rows[i]."""
        for past in state["past"]:
            for name in ("k", "v") if same_sentences else list(past):
                past[name] = past[name].index_select(0, rows)
        if not same_sentences:
            state["mask"] = state["mask"].index_select(0, rows)


def beam_search(model, ids, lengths, begin, end, beam, penalty, shortest, longest):
    """fairseq's: the best 2·beam continuations are looked at, an end among the first `beam` finishes a hypothesis, and a
    sentence with `beam` of them leaves the batch. A beam of 1 is greedy. The best hypothesis of each sentence."""
    state = model.begin(ids, lengths, beam)
    sentences = list(range(ids.size(0)))
    lanes = [[([], 0.0)] * beam for _ in sentences]  # of each sentence: tokens, and the sum of their log p
    done = [[] for _ in sentences]
    last = torch.full((len(sentences) * beam,), begin)
    for step in range(longest + 1):
        scores = model.step(last, state)
        if step < shortest:
            scores[:, end] = -math.inf
        if step == longest:
            only = scores[:, end].clone()
            scores.fill_(-math.inf)[:, end] = only
        sums = torch.tensor([lane[1] for own in lanes for lane in own], dtype=torch.float64)
        if step == 0:  # all batch rows are the same yet
            sums.view(-1, beam)[:, 1:] = -math.inf
        best, tokens = scores.topk(min(2 * beam, scores.size(1)), 1)
        total = (best.double() + sums[:, None]).view(len(sentences), -1)
        best, places = total.topk(min(2 * beam, total.size(1)), 1)
        words = tokens.view(len(sentences), -1).gather(1, places).tolist()
        origins, best = (places // tokens.size(1)).tolist(), best.tolist()
        kept, rows, going_on = [], [], []
        for i, sentence in enumerate(sentences):
            following = []
            for rank, (origin, word, score) in enumerate(zip(origins[i], words[i], best[i])):
                if score == -math.inf:
                    continue
                written = lanes[i][origin][0] + [word]
                if word == end:
                    if rank < beam and len(done[sentence]) < beam:
                        done[sentence].append((score / len(written) ** penalty, written))
                elif len(following) < beam:
                    following.append((written, score, i * beam + origin))
            if len(done[sentence]) < beam and following:
                kept.append(sentence)
                going_on.append([(written, score) for written, score, _ in following])
                rows += [row for _, _, row in following]
        if not kept:
            break
        same = kept == sentences
        sentences, lanes = kept, going_on
        last = torch.tensor([lane[0][-1] for own in lanes for lane in own])
        if not same or beam > 1:
            model.go_on(torch.tensor(rows), state, same)
    return [max(own, key=lambda each: each[0])[1] for own in done]
