"""Softmax attention: whole, its weights, attention to relative positions, attention between blocks of tokens."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet

#: Values of KeysSeen that are not key positions.
SEEN_BY_NONE, SEEN_BY_ALL = -1, -2
#: The range of KeysSeen that leaves no key out.
UNBOUNDED = 1 << 30


def softmax_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    bias: Tensor | None = None,
    padding: Tensor | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """softmax(q·kᵀ/√d + bias)·v, in the form that takes the least time for these sizes.

    Vaswani et al., arXiv 1706.03762, Eq. 1. The forms are block_attention, two products with attention_weights between
    them, and PyTorch's fused attention. They differ in the order of sums. The C++ layers choose by the same operator.

    Args:
        q: (B, H, Lq, d), floating.
        k: (B, H, Lk, d) of the dtype of q, or with batch 1, shared by all samples.
        v: (B, H, Lk, e), as k.
        bias: (W, H, Lq, Lk), or with 1 in place of H, Lq or Lk, where W divides B. Sample b has the bias of b mod W, as
            the windows of an image do. Leading dimensions may be absent.
        padding: (B, Lk) bool, True = a key that no query sees, or with batch 1.
        causal: query i sees the keys j ≤ i + Lk − Lq.
        dropout: rate of the weights that are dropped, also in evaluation.

    Returns:
        (B, H, Lq, e), zeros for a query that sees no key. Differentiable in q, k, v and bias.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
    """
    output: Tensor = _ops.softmax_attention(q, k, v, bias, padding, causal, dropout)
    return output


def attention_weights(scores: Tensor, bias: Tensor | None = None, *, scale: float) -> Tensor:
    """softmax(scale·scores + bias) over the keys; 0 for a query that sees no key (a row of −∞).

    Vaswani et al., arXiv 1706.03762, Eq. 1.

    Args:
        scores: products of queries and keys, (B, H, Lq, Lk), floating.
        bias: (W, H, Lq, Lk), or with 1 in place of H, Lq or Lk, where W divides B. Sample b has the bias of b mod W, as
            the windows of an image do. It is added in float32 or wider.
        scale: factor of the scores, such as 1/√d.

    Returns:
        (B, H, Lq, Lk) in the dtype of scores. Differentiable in both.

    Raises:
        RuntimeError: shapes do not agree.
    """
    weights: Tensor = _ops.attention_weights(scores, bias, scale)
    return weights


def relative_attention_weights(
    content: Tensor, position: Tensor, hidden: Tensor | None = None, *, scale: float
) -> Tensor:
    """softmax(scale·(content + shift(position))) over the keys that are not hidden; 0 for a query that sees none.

    Dai et al., arXiv 1901.02860, Sec. 3.3 and App. B. Column c of position is the score of the distance Lk − 1 − c;
    shift gives query i at key j column j + Lq − 1 − i. Keys after the query get what the published code leaves there.

    Args:
        content: products of queries and keys, (B, H, Lq, Lk), Lk ≥ Lq. The last key is the last query's own token.
        position: products of queries and distances, (B, H, Lq, Lk), of the dtype of content.
        hidden: the keys that a query does not see, (Lq, Lk) bool; None hides none.
        scale: factor of the sum.

    Returns:
        (B, H, Lq, Lk) in the dtype of content. Differentiable in content and position.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
    """
    weights: Tensor = _ops.relative_attention_weights(content, position, hidden, scale)
    return weights


class KeysSeen(NamedTuple):
    """Which keys of the blocks that it meets a query sees: those whose position minus its own is from least to most.

    Attributes:
        query_positions: int64 (B, H, Lq), or 1 in place of B or H; None: 0, 1, …
        key_positions: int64 (B, H, Lk), or 1 in place of B or H; −1 is seen by no query (padding), −2 by all; None:
            0, 1, …
        least: the smallest difference that is seen.
        most: the largest; 0 for attention to the past and the query's own position.
        own_last: a key at the query's own position is seen only if nothing else is (Reformer).
    """

    query_positions: Tensor | None = None
    key_positions: Tensor | None = None
    least: int = -UNBOUNDED
    most: int = UNBOUNDED
    own_last: bool = False


class BlockAttended(NamedTuple):
    """What block_attention returns.

    Attributes:
        output: (B, H, Lq, e) in the dtype of q.
        logsumexp: of the scores that a query sees, (B, H, Lq), float32 or wider; −1e30 for a query that sees no key.
    """

    output: Tensor
    logsumexp: Tensor


def block_attention(
    q: Tensor, k: Tensor, v: Tensor, blocks: Tensor, *, block_size: int, scale: float, seen: KeysSeen | None = None
) -> BlockAttended:
    """Softmax attention between blocks of tokens, in time and memory linear in their number.

    BigBird, arXiv 2007.14062, App. D; Reformer, arXiv 2001.04451, Sec. 2. Tokens [i·S, (i + 1)·S) are block i, where S
    is block_size; the last may be shorter.

    Args:
        q: (B, H, Lq, d), floating.
        k: (B, H, Lk, d) of the dtype of q, or with batch 1, shared by all samples.
        v: (B, H, Lk, e), as k.
        blocks: the blocks of keys that each block of queries meets, int64 (H or 1, ⌈Lq/S⌉, W); −1 for none. A block
            that is named twice counts twice.
        block_size: S, tokens.
        scale: factor of the products.
        seen: which of these keys a query sees; None: all.

    Returns:
        The output, zeros for a query that sees no key, and the logsumexp. Differentiable in q, k and v.

    Raises:
        RuntimeError: shapes, dtypes or numbers do not agree.
    """
    keys = seen or KeysSeen()
    return BlockAttended(*_ops.block_attention(q, k, v, blocks, block_size, scale, *keys))
