"""ViT-S/16, plain and with the published form of the gated recurrent cache, as one would write them in PyTorch."""
import torch
import torch.nn.functional as F
from torch import nn

DIM, HEADS, DEPTH, TOKENS, CLASSES = 384, 6, 12, 197, 1000


class Attention(nn.Module):
    def __init__(self, dim, heads=HEADS):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))


class MemoryAttention(nn.Module):
    def __init__(self, dim, heads=HEADS):
        super().__init__()
        self.heads, self.q, self.kv, self.proj = heads, nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)

    def forward(self, x, memory):
        b, t, d = x.shape
        heads = lambda y: y.view(b, -1, self.heads, d // self.heads).transpose(1, 2)
        k, v = self.kv(memory).chunk(2, -1)
        y = F.scaled_dot_product_attention(heads(self.q(x)), heads(k), heads(v))
        return self.proj(y.transpose(1, 2).reshape(b, t, d))


class CachedAttention(nn.Module):
    """Gates from the output of self-attention, candidate through GELU and LayerNorm, per-sample memory, 3 x 3
    convolution on the grid: the published layer's mathematics."""

    def __init__(self, dim, ratio=0.5, heads=HEADS):
        super().__init__()
        self.width, self.heads = int(dim * ratio), heads
        self.self_attention, self.memory_attention = Attention(dim, heads), MemoryAttention(self.width, heads)
        self.reset_gate, self.update_gate, self.candidate = (nn.Linear(2 * self.width, self.width) for _ in range(3))
        self.norm = nn.LayerNorm(self.width)
        self.share = nn.Parameter(torch.full((heads,), -1.0))
        self.position = nn.Conv2d(dim, dim, 3, padding=1, groups=self.width)
        self.register_buffer("cache", torch.zeros(1, TOKENS, self.width))

    def forward(self, x):
        b, t, d = x.shape
        out = self.self_attention(x)
        tokens = out[..., : self.width]
        cache = self.cache.clone().to(x.dtype).expand(b, -1, -1)  # the buffer is written below
        joined = torch.cat([cache, tokens], -1)
        reset, update = self.reset_gate(joined).sigmoid(), self.update_gate(joined).sigmoid()
        candidate = self.norm(F.gelu(self.candidate(torch.cat([reset * cache, tokens], -1))))
        memory = (1 - update) * cache + update * candidate
        if self.training:
            with torch.no_grad():
                self.cache.copy_(memory.mean(0, keepdim=True))
        read = self.memory_attention(x[..., : self.width], memory)
        share = self.share.sigmoid().view(1, 1, -1, 1)
        wide = F.pad(read.view(b, t, self.heads, -1), (0, (d - self.width) // self.heads))
        mixed = (share * wide + (1 - share) * out.view(b, t, self.heads, -1)).reshape(b, t, d)
        image = x[:, 1:].transpose(1, 2).reshape(b, d, 14, 14)
        encoding = self.position(image).flatten(2).transpose(1, 2)
        return mixed + torch.cat([torch.zeros_like(x[:, :1]), encoding], 1)


class Block(nn.Module):
    def __init__(self, cached):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM, eps=1e-6), nn.LayerNorm(DIM, eps=1e-6)
        self.attn = CachedAttention(DIM) if cached else Attention(DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, cached):
        super().__init__()
        self.embed = nn.Conv2d(3, DIM, 16, 16)
        self.cls_token, self.pos_embed = nn.Parameter(torch.zeros(1, 1, DIM)), nn.Parameter(torch.randn(1, TOKENS, DIM) * 0.02)
        self.blocks = nn.Sequential(*(Block(cached) for _ in range(DEPTH)))
        self.norm, self.head = nn.LayerNorm(DIM, eps=1e-6), nn.Linear(DIM, CLASSES)

    def forward(self, image):
        x = self.embed(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])
