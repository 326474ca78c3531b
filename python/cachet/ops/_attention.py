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

    The operator has three algorithms: block_attention, two matrix products with attention_weights between them, and
    PyTorch's fused attention. The operator chooses the fastest algorithm for the sizes of the arguments. The algorithms
    add the terms of sums in different orders, so their results can differ by rounding. The layers of Cachet's C++
    library also use this operator.

    Args:
        q: the queries, (B, H, Lq, d), floating-point.
        k: the keys, (B or 1, H, Lk, d), of the dtype of q. If the batch size of k is 1, all samples use the same keys.
        v: the values, (B or 1, H, Lk, e), of the dtype of q. If the batch size of v is 1, all samples use the same
            values.
        bias: a tensor (W, H, Lq, Lk) that is added to the scaled scores. H, Lq and Lk may be 1, and W must divide B.
            Sample b uses the bias with index b mod W. For example, W is the number of windows of an image if each
            sample is a window. Leading dimensions of bias may be absent.
        padding: (B or 1, Lk), bool. True marks a key that no query sees.
        causal: if true, query i of the Lq queries sees only those of the Lk keys with an index j ≤ i + Lk − Lq.
        dropout: the probability that an attention weight is dropped. Dropout also applies in evaluation.

    Returns:
        The output, (B, H, Lq, e). If a query sees no key, its output is 0. The result is differentiable in q, k, v and
        bias.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
    """
    output: Tensor = _ops.softmax_attention(q, k, v, bias, padding, causal, dropout)
    return output


def attention_weights(scores: Tensor, bias: Tensor | None = None, *, scale: float) -> Tensor:
    """Computes softmax(scale·scores + bias) over the keys: Vaswani et al., arXiv 1706.03762, Eq. 1.

    If all scores of a query are −∞, the query sees no key, and its weights are 0.

    Args:
        scores: the products of queries and keys, (B, H, Lq, Lk), floating.
        bias: a tensor (W, H, Lq, Lk) that is added to the scaled scores. H, Lq and Lk may be 1, and W must divide B.
            Sample b uses the bias with index b mod W. For example, W is the number of windows of an image if each
            sample is a window. The bias is added in float32 or wider.
        scale: the factor of the scores, such as 1/√d.

    Returns:
        The weights, (B, H, Lq, Lk), in the dtype of scores. The result is differentiable in scores and bias.

    Raises:
        RuntimeError: If the shapes of the arguments do not agree.
    """
    weights: Tensor = _ops.attention_weights(scores, bias, scale)
    return weights


def relative_attention_weights(
    content: Tensor, position: Tensor, hidden: Tensor | None = None, *, scale: float
) -> Tensor:
    """Computes softmax(scale·(content + shift(position))) over the keys that are not hidden.

    These are the attention weights of Transformer-XL: Dai et al., arXiv 1901.02860, Sec. 3.3 and Appendix B. Column c
    of position has the scores for a distance of Lk − 1 − c between query and key. For query i and key j,
    shift(position)[i, j] is position[i, j + Lq − 1 − i]. If key j comes after query i, `position` has no column for
    this distance, and shift(position)[i, j] is the same value as in Transformer-XL's published code. If a query sees no
    key, its weights are 0.

    Args:
        content: the products of queries and keys, (B, H, Lq, Lk), with Lk ≥ Lq. The last key and the last query belong
            to the same token.
        position: the products of queries and encoded distances, (B, H, Lq, Lk), of the dtype of content.
        hidden: (Lq, Lk), bool. True marks a key that the query does not see. If `hidden` is not given, each query sees
            all keys.
        scale: the factor by which content + shift(position) is multiplied.

    Returns:
        The weights, (B, H, Lq, Lk), in the dtype of content. The result is differentiable in content and position.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
    """
    weights: Tensor = _ops.relative_attention_weights(content, position, hidden, scale)
    return weights


class KeysSeen(NamedTuple):
    """A condition on the positions of queries and keys, which selects the keys that a query of block_attention sees.

    A query sees a key only if the position of the key minus the position of the query is from `least` to `most`.

    Attributes:
        query_positions: the positions of the queries, (B, H, Lq), int64. B and H may be 1. If `query_positions` is not
            given, the position of a query is its index.
        key_positions: the positions of the keys, (B, H, Lk), int64. B and H may be 1. No query sees a key with position
            −1 (padding), and all queries see a key with position −2. If `key_positions` is not given, the position of a
            key is its index.
        least: the smallest value of (position of the key − position of the query) at which a query sees a key.
        most: the largest value of (position of the key − position of the query) at which a query sees a key. If `most`
            is 0, a query sees only earlier positions and its own position.
        own_last: if true, a query sees a key at its own position only if the query sees no other key, as in Reformer.
    """

    query_positions: Tensor | None = None
    key_positions: Tensor | None = None
    least: int = -UNBOUNDED
    most: int = UNBOUNDED
    own_last: bool = False


class BlockAttended(NamedTuple):
    """The result of block_attention.

    Attributes:
        output: the output of attention, (B, H, Lq, e), in the dtype of q.
        logsumexp: for each query, the logsumexp of the scores of the keys that the query sees, (B, H, Lq), float32 or
            wider. If a query sees no key, the logsumexp is −1e30.
    """

    output: Tensor
    logsumexp: Tensor


def block_attention(
    q: Tensor, k: Tensor, v: Tensor, blocks: Tensor, *, block_size: int, scale: float, seen: KeysSeen | None = None
) -> BlockAttended:
    """Computes softmax attention between blocks of tokens, with time and memory linear in the number of tokens.

    The operator computes the common form of the attention of BigBird (arXiv 2007.14062, Appendix D) and Reformer (arXiv
    2001.04451, Sec. 2). Block i consists of the tokens [i·S, (i + 1)·S), where S is block_size. The last block may have
    fewer than S tokens.

    Args:
        q: the queries, (B, H, Lq, d), floating-point.
        k: the keys, (B or 1, H, Lk, d), of the dtype of q. If the batch size of k is 1, all samples use the same keys.
        v: the values, (B or 1, H, Lk, e), of the dtype of q. If the batch size of v is 1, all samples use the same
            values.
        blocks: for each block of queries, the indices of the W blocks of keys to which it attends, (H or 1, ⌈Lq/S⌉, W),
            int64. The index −1 means no block. If an index occurs twice for a block of queries, the softmax counts the
            keys of this block twice.
        block_size: S, the number of tokens of a block.
        scale: the factor of the products of queries and keys.
        seen: a condition on the positions of query and key. In the blocks to which a query attends, it sees only the
            keys that meet the condition `seen`. If `seen` is not given, a query sees all keys of the blocks to which it
            attends.

    Returns:
        The output and the logsumexp of each query. If a query sees no key, its output is 0. The result is
        differentiable in q, k and v.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree, or if a value is not valid.
    """
    keys = seen or KeysSeen()
    return BlockAttended(*_ops.block_attention(q, k, v, blocks, block_size, scale, *keys))
