"""Softmax attention: complete attention, its weights, relative attention, and attention between blocks of tokens."""
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
    """Computes softmax(q·kᵀ/√d + bias)·v: Vaswani et al., arXiv 1706.03762, Eq. 1.

    The operator chooses the fastest form for the sizes of the call. The forms are block_attention, two products with
    attention_weights between them, and PyTorch's fused attention. The forms add the terms of sums in different orders.
    The C++ layers use the same operator.

    Args:
        q: (B, H, Lq, d), floating.
        k: (B or 1, H, Lk, d), of the dtype of q. If the batch size of k is 1, all samples use the same keys.
        v: (B or 1, H, Lk, e), of the dtype of q. If the batch size of v is 1, all samples use the same values.
        bias: (W, H, Lq, Lk), where H, Lq and Lk may be 1, and W must divide B. Sample b uses the bias with index b mod
            W, as the windows of an image do. Leading dimensions may be absent.
        padding: (B or 1, Lk), bool. True marks a key that no query sees.
        causal: if true, query i sees the keys j ≤ i + Lk − Lq.
        dropout: the probability that an attention weight is dropped. Dropout also applies in evaluation.

    Returns:
        (B, H, Lq, e). If a query sees no key, its output is 0. The result is differentiable in q, k, v and bias.

    Raises:
        RuntimeError: If shapes or dtypes do not agree.
    """
    output: Tensor = _ops.softmax_attention(q, k, v, bias, padding, causal, dropout)
    return output


def attention_weights(scores: Tensor, bias: Tensor | None = None, *, scale: float) -> Tensor:
    """Computes softmax(scale·scores + bias) over the keys: Vaswani et al., arXiv 1706.03762, Eq. 1.

    If a query sees no key (a row of −∞), its weights are 0.

    Args:
        scores: the products of queries and keys, (B, H, Lq, Lk), floating.
        bias: (W, H, Lq, Lk), where H, Lq and Lk may be 1, and W must divide B. Sample b uses the bias with index b mod
            W, as the windows of an image do. The bias is added in float32 or wider.
        scale: the factor of the scores, such as 1/√d.

    Returns:
        (B, H, Lq, Lk), in the dtype of scores. The result is differentiable in scores and bias.

    Raises:
        RuntimeError: If shapes do not agree.
    """
    weights: Tensor = _ops.attention_weights(scores, bias, scale)
    return weights


def relative_attention_weights(
    content: Tensor, position: Tensor, hidden: Tensor | None = None, *, scale: float
) -> Tensor:
    """Computes softmax(scale·(content + shift(position))) over the keys that are not hidden.

    Dai et al., arXiv 1901.02860, Sec. 3.3 and App. B. Column c of position is the score of the distance Lk − 1 − c. For
    query i and key j, shift takes column j + Lq − 1 − i. For keys after the query, shift gives the same values as the
    published code. If a query sees no key, its weights are 0.

    Args:
        content: the products of queries and keys, (B, H, Lq, Lk), with Lk ≥ Lq. The last key is the token of the last
            query.
        position: the products of queries and distances, (B, H, Lq, Lk), of the dtype of content.
        hidden: the keys that a query does not see, (Lq, Lk), bool. None: no key is hidden.
        scale: the factor of the sum of content and shift(position).

    Returns:
        (B, H, Lq, Lk), in the dtype of content. The result is differentiable in content and position.

    Raises:
        RuntimeError: If shapes or dtypes do not agree.
    """
    weights: Tensor = _ops.relative_attention_weights(content, position, hidden, scale)
    return weights


class KeysSeen(NamedTuple):
    """The condition by which a query of block_attention sees a key of its blocks.

    The position of the key minus the position of the query must be from least to most.

    Attributes:
        query_positions: (B, H, Lq), int64, where B and H may be 1. None: 0, 1, …
        key_positions: (B, H, Lk), int64, where B and H may be 1. No query sees a key with position −1 (padding), and
            all queries see a key with position −2. None: 0, 1, …
        least: the smallest difference of positions with which a query sees a key.
        most: the largest difference of positions with which a query sees a key. 0: a query sees the past and its own
            position.
        own_last: if true, a query sees a key at its own position only if it sees no other key (Reformer).
    """

    query_positions: Tensor | None = None
    key_positions: Tensor | None = None
    least: int = -UNBOUNDED
    most: int = UNBOUNDED
    own_last: bool = False


class BlockAttended(NamedTuple):
    """The result of block_attention.

    Attributes:
        output: (B, H, Lq, e), in the dtype of q.
        logsumexp: the logsumexp of the scores that a query sees, (B, H, Lq), float32 or wider. If a query sees no key,
            the logsumexp is −1e30.
    """

    output: Tensor
    logsumexp: Tensor


def block_attention(
    q: Tensor, k: Tensor, v: Tensor, blocks: Tensor, *, block_size: int, scale: float, seen: KeysSeen | None = None
) -> BlockAttended:
    """Computes softmax attention between blocks of tokens, with time and memory linear in the number of tokens.

    BigBird, arXiv 2007.14062, App. D; Reformer, arXiv 2001.04451, Sec. 2. Block i consists of the tokens [i·S, (i +
    1)·S), where S is block_size. The last block may be shorter.

    Args:
        q: (B, H, Lq, d), floating.
        k: (B or 1, H, Lk, d), of the dtype of q. If the batch size of k is 1, all samples use the same keys.
        v: (B or 1, H, Lk, e), of the dtype of q. If the batch size of v is 1, all samples use the same values.
        blocks: (H or 1, ⌈Lq/S⌉, W), int64: the blocks of keys to which each block of queries attends. −1 means no
            block. A block that occurs twice counts twice.
        block_size: S, the number of tokens of a block.
        scale: the factor of the products of queries and keys.
        seen: the condition by which a query sees a key of these blocks. None: a query sees all of these keys.

    Returns:
        The output and the logsumexp. If a query sees no key, its output is 0. The result is differentiable in q, k and
        v.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not agree.
    """
    keys = seen or KeysSeen()
    return BlockAttended(*_ops.block_attention(q, k, v, blocks, block_size, scale, *keys))
