"""Linear attention as one would write its published equations in plain PyTorch, and Hugging Face's BigBird: one layer of
each, (batch, tokens, DIM) -> (batch, tokens, DIM), and the encoder layer around it."""
import math

import torch
from torch import nn

from torchvision_names import declare_operators

DIM, HEADS = 256, 4
HEAD = DIM // HEADS


class LinearAttention(nn.Module):
    """y = f(q) (f(k)^T v) / (f(q) sum f(k) + eps) around a feature map f of queries and one of keys."""

    eps = 0.0

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)

    def queries(self, x):
        return self.features(x)

    def keys(self, x):
        return self.features(x)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.queries(q), self.keys(k)
        total = torch.einsum("bhtm,bhm->bht", q, k.sum(2)) + self.eps
        context = torch.einsum("bhtm,bhte->bhme", k, v)
        y = torch.einsum("bhme,bhtm,bht->bhte", context, q, 1 / total)
        return self.proj(y.transpose(1, 2).reshape(b, t, DIM))


class Elu(LinearAttention):
    """Linear transformers (2006.16236)."""

    eps = 1e-6

    def features(self, x):
        return nn.functional.elu(x) + 1


class Glu(LinearAttention):
    """Trainable kernel of two gated layers (2211.04076), a weight for each head."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(HEADS, HEAD, HEAD) / math.sqrt(HEAD)) for _ in range(4))

    def features(self, x):
        a, g, b, h = self.weights
        x = (x @ a) * torch.sigmoid(x @ g)
        return nn.functional.softplus(x @ b) * torch.sigmoid(x @ h)


class Performer(LinearAttention):
    """FAVOR+ (2009.14794) with int(d ln d) positive features of the softmax kernel."""

    def __init__(self):
        super().__init__()
        count = int(HEAD * math.log(HEAD))
        blocks = [torch.linalg.qr(torch.randn(HEAD, HEAD))[0].T for _ in range(-(-count // HEAD))]
        self.register_buffer("projection", torch.cat(blocks)[:count] * torch.randn(count, HEAD).norm(dim=1, keepdim=True))

    def positive(self, x, largest):
        x = x * HEAD ** -0.25
        products = x @ self.projection.T
        half = x.square().sum(-1, keepdim=True) / 2
        return len(self.projection) ** -0.5 * (torch.exp(products - half - largest(products)) + 1e-4)

    def queries(self, x):
        return self.positive(x, lambda products: products.amax(-1, keepdim=True).detach())

    def keys(self, x):
        return self.positive(x, lambda products: products.amax((-1, -2), keepdim=True).detach())


class ReluPerformer(Performer):
    """The generalised form with 256 ReLU features, as the Long Range Arena has it."""

    def features(self, x):
        return torch.relu(x * HEAD ** -0.25 @ self.projection[:256].T) + 1e-3

    queries = keys = features


class EncoderLayer(nn.Module):
    """Pre-norm: x + attention(norm(x)), then x + mlp(norm(x)), the hidden layer four times as wide."""

    def __init__(self, attention):
        super().__init__()
        self.attention, self.norm1, self.norm2 = attention, nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def hugging_face_big_bird(tokens):
    """Hugging Face's block-sparse layer with its projections, in training; None where transformers is not here."""
    declare_operators()
    try:
        from transformers import BigBirdConfig
        from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention, BigBirdModel
    except ImportError:
        return None

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            config = BigBirdConfig(hidden_size=DIM, num_attention_heads=HEADS, max_position_embeddings=tokens, block_size=64,
                                   num_random_blocks=3)
            self.attention, self.proj = BigBirdBlockSparseAttention(config, seed=0), nn.Linear(DIM, DIM)

        def forward(self, x):
            mask = torch.ones(x.shape[:2])
            blocked, band, queries, keys = BigBirdModel.create_masks_for_block_sparse_attn(mask, 64)
            return self.proj(self.attention(x, band, queries, keys, blocked, blocked)[0])
    return Layer()
