"""Sample inputs for every operator of torch.ops.cachet: small, of odd sizes, with and without the optional arguments.

Those of operators that a user calls are made for any batch and length: what differs between two of them is dynamic.
"""
import torch


def grad(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, dtype=dtype, requires_grad=True)


def strided(*sizes):
    """A tensor whose last two dimensions lie transposed in memory."""
    return torch.randn(*sizes).mT.contiguous().mT.requires_grad_()


def last_tokens(batch, length, count):
    """A mask (batch, length) that marks the last `count` tokens of every sample as padding."""
    return (torch.arange(length) >= length - count).expand(batch, length)


def dropout(batch=2, length=5):
    yield grad(batch, length, 40), 0.3, 7
    yield strided(batch, length, 40), 0.5, -1
    yield grad(batch, length, dtype=torch.float64), 0.0, 3
    yield grad(batch, length), 1.0, 3


def grc_update(batch=2, length=5):
    width = 3
    gates = [grad(width, 2 * width), grad(width)]
    shared, own = grad(1, length, width), grad(batch, length, width)
    tokens = grad(batch, length, width)
    yield shared, tokens, *gates, *gates, *gates
    yield own, strided(batch, length, width), *gates, *gates, *gates, grad(width), grad(width), 1e-6
    yield shared, tokens, gates[0], None, gates[0], None, gates[0], None
    yield tuple(t.detach().double().requires_grad_() for t in (shared, tokens, *gates, *gates, *gates))


def kernel_features(batch=2, length=5):
    x = grad(batch, 3, length, 4)
    for unit, columns in ((1, 4), (2, 4), (3, 4), (4, 8), (5, 8)):
        yield x, [grad(3, 4, columns)], [unit]
    yield x, [], [0]
    yield x, [grad(3, 4, 8), grad(1, 4, 8)], [4, 5]


def kernel_attention(batch=2, length=5):
    heads = lambda length, **kind: grad(batch, 3, length, 4, **kind)
    glu2 = [grad(3, 4, 8), grad(3, 4, 8)], [4, 5]
    keys = length + 2
    yield heads(length), heads(keys), heads(keys), *glu2
    yield heads(length), heads(keys), heads(keys), *glu2, last_tokens(batch, keys, 2), False, 1e-6
    yield heads(keys), heads(keys), heads(keys), *glu2, None, True
    yield heads(length), heads(keys), heads(keys), [], [0], None, True, 1e-6
    yield heads(length), grad(1, 3, keys, 4), grad(1, 3, keys, 4), [], []
    yield heads(keys), heads(keys), heads(keys), [], [0], None, True, 1e-6, 1e-2
    doubles = [heads(keys, dtype=torch.float64) for _ in range(3)]
    yield *doubles, [grad(3, 4, 8, dtype=torch.float64)], [5], last_tokens(batch, keys, 2)
    yield *doubles, [], [0], None, True, 1e-6, 1e-2


def kernel_attention_stream(batch=2, length=5):
    heads = lambda **kind: grad(batch, 3, length, 4, **kind)
    past = lambda **kind: (1 + torch.rand(batch, 3, 4, 5, **kind)).requires_grad_()  # sums of positive features
    glu2 = [grad(3, 4, 8), grad(3, 4, 8)], [4, 5]
    yield heads(), heads(), heads(), *glu2
    yield heads(), heads(), heads(), *glu2, past(), None, True, 1e-6
    yield heads(), heads(), heads(), [], [0], past(), last_tokens(batch, length, 2), False, 1e-6
    doubles = [heads(dtype=torch.float64) for _ in range(3)]
    yield *doubles, [], [0], past(dtype=torch.float64), None, True, 1e-6


def block_table(length=5):
    """Blocks of 2 for queries of this length and two keys more, and where these stand."""
    rows, keys = (length + 1) // 2, length + 2
    blocks = torch.tensor([[[0, 1, -1], *[[3, 2, 1]] * (rows - 2), [3, -1, -1]]])
    places = torch.tensor([[[0, 1, -1, -2, *range(2, keys - 2)]]])
    return blocks, torch.arange(length).view(1, 1, length), places


def block_attention(batch=2, length=5):
    table, queries, keys = block_table(length)
    lengths = length, length + 2, length + 2
    q, k, v = (grad(batch, 3, n, width) for n, width in zip(lengths, (4, 4, 6)))
    shared = grad(1, 3, length + 2, 4), grad(1, 3, length + 2, 6)
    far = [strided(batch, 3, n, width) for n, width in zip(lengths, (4, 4, 6))]
    yield q, k, v, table, 2, 0.5
    yield q, *shared, table.expand(3, -1, -1), 2, 0.5, queries, keys, -3, 2
    yield *far, table, 2, 0.5, queries, keys, -3, 2, True
    yield *(grad(batch, 3, n, 4, dtype=torch.float64) for n in lengths), table, 2, 0.5
    yield *(grad(batch, 3, n, 4, dtype=torch.float64) for n in lengths), table, 2, 0.5, queries, keys, -3, 2, True


def block_attention_backward():
    blocks, queries, keys = block_table()
    arguments = *(torch.randn(2, 3, length, 4) for length in (5, 7, 7)), blocks, 2, 0.5, queries, keys, -3, 2, True
    yield torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5), *arguments, *torch.ops.cachet.block_attention(*arguments)


def scale_shift_backward():
    yield torch.randn(2, 5, 3), torch.randn(2, 5, 3), torch.rand(3)


def kernel_attention_fused():
    heads = lambda length: grad(2, 3, length, 4)
    for causal in (False, True):
        yield heads(5), heads(5), heads(5), [grad(3, 4, 8), grad(1, 4, 8)], [4, 5], last_tokens(2, 5, 2), causal, 1e-3
    yield heads(5), heads(7), heads(7), [], [0], None, False, 1e-6


def kernel_attention_fused_backward():
    x = torch.randn(2, 3, 5, 4)
    weights = [torch.randn(3, 4, 8), torch.randn(1, 4, 8)]
    for causal in (False, True):
        arguments = x, x, x, weights, [4, 5], None, causal, 1e-3, 1e-2
        yield torch.randn(2, 3, 5, 4), *arguments, *torch.ops.cachet.kernel_attention_fused(*arguments)


def linear(batch=2, length=5):
    yield grad(batch, length, 4), grad(3, 4), grad(3)
    yield strided(batch, length, 4), grad(3, 4)
    yield grad(length, 4, dtype=torch.float64), grad(3, 4, dtype=torch.float64), grad(3, dtype=torch.float64)


def linear_backward():
    yield torch.randn(2, 5, 3), torch.randn(2, 5, 4), torch.randn(3, 4)


def linear_gelu(batch=2, length=5):
    yield grad(batch, length, 4), grad(3, 4), grad(3)
    yield torch.randn(batch, length, 4), torch.randn(3, 4), torch.randn(3), False
    yield grad(length, 4, dtype=torch.float64), grad(3, 4, dtype=torch.float64), grad(3, dtype=torch.float64)


def linear_gelu_backward():
    yield torch.randn(2, 5, 3), torch.randn(2, 5, 4), torch.randn(3, 4), torch.randn(3), torch.randn(2, 5, 3)


def linear_cross_entropy(batch=2, length=5):
    classes = lambda rows: torch.tensor([-1, *(row % 6 for row in range(1, rows))])
    rows, doubles = batch * length, dict(dtype=torch.float64)
    yield grad(rows, 4), grad(6, 4), grad(6), classes(rows)
    yield strided(rows, 4), grad(6, 4), None, classes(rows), 0.1
    yield torch.randn(rows, 4), torch.randn(6, 4), None, classes(rows), 0.1, True
    yield grad(rows, 4, **doubles), grad(6, 4, **doubles), grad(6, **doubles), classes(rows), 0.1


def linear_cross_entropy_backward():
    yield torch.randn(3), torch.randn(3, 4), torch.randn(6, 4), torch.randn(3, 6)


def grc_update_backward():
    length, width = 5, 3
    wide = lambda n, *lead: torch.randn(*lead, length, n * width)
    for batch in (1, 2):  # a shared cache, and one a sample
        saved = wide(3, 2), wide(2, batch), wide(1, 2)
        weights = [torch.randn(width, 2 * width) for _ in range(3)]
        common = torch.randn(batch, length, width), torch.randn(2, length, width), *weights
        yield torch.randn(2, length, width), None, *common, torch.randn(width), None, None, 1e-5, *saved
        yield (None, torch.randn(1, length, width), *common, None, torch.randn(width), torch.randn(width), 1e-5, *saved)


def mix_heads_backward():
    yield torch.randn(2, 5, 3, 4), torch.randn(2, 5, 3, 4), torch.randn(2, 5, 3, 2), torch.randn(3)


def token_convolution(batch=2, height=3):
    """The grid is `height` rows of two tokens, with a class token or none before them."""
    length, doubles = 2 * height + 1, dict(dtype=torch.float64)
    with_class = grad(batch, length, 4), grad(4, 2, 3, 3), grad(4), grad(batch, length, 4), height, 2, 1
    yield with_class
    yield strided(batch, 2 * height, 6), grad(6, 3, 3, 3), None, None, height, 2
    yield *with_class, True
    yield torch.randn(batch, length, 4), torch.randn(4, 1, 3, 3), None, None, height, 2, 1, True
    yield grad(batch, 2 * height, 4, **doubles), grad(4, 1, 3, 3, **doubles), None, None, height, 2, 0
    yield grad(batch, length, 4, **doubles), grad(4, 2, 3, 3, **doubles), grad(4, **doubles), None, height, 2, 1, True


def token_convolution_backward():
    yield torch.randn(2, 7, 4), torch.randn(2, 7, 4), torch.randn(4, 2, 3, 3), 2, 3, 1


def mix_heads(batch=2, length=5):
    doubles = dict(dtype=torch.float64)
    yield grad(batch, length, 3, 4), grad(batch, length, 3, 2), grad(3)
    yield strided(batch, length, 3, 4), grad(batch, length, 3, 4), grad(3)
    yield grad(batch, length, 3, 4, **doubles), grad(batch, length, 3, 1, **doubles), grad(3, **doubles)


def resize_tokens(batch=2, length=7):
    for target in (1, 3, length, length + 4):
        yield grad(batch, length, 3), target
        yield strided(batch, length, 3), target, last_tokens(batch, length, 2)
    yield grad(batch, length, 3), 4, torch.ones(batch, length, dtype=torch.bool)


UN_WINDOW, UN_MOMENTUM, UN_EPS = [4, 3], [0.9, 0.8], 1e-5


def un_state(channels, steps):
    """State after `steps` steps, all on window statistics once the window is full."""
    statistics = torch.rand(2 + sum(UN_WINDOW), channels) + 0.5
    return statistics, torch.tensor([steps, 0, max(0, steps - UN_WINDOW[0]), 0])


def unified_norm(batch=2, length=5):
    channels = 3
    affine = grad(channels), grad(channels)
    for official in (False, True):
        for steps in (0, 20):
            common = *un_state(channels, steps), UN_WINDOW, UN_MOMENTUM, UN_EPS, 10
            yield grad(batch, length, channels), *affine, None, *common, True, 0, False, official
            yield grad(batch, length, channels), *affine, None, *common, True, 0, False, official, True
            padding = last_tokens(batch, length, 1)
            yield strided(batch, length, channels), None, None, padding, *common, False, 1, True, official


def unified_norm_backward():
    channels = 3
    scales, step = torch.rand(2, channels) + 0.5, torch.tensor([20, 0, 0])
    for official in (False, True):
        common = scales, step, un_state(channels, 20)[0], UN_WINDOW, UN_MOMENTUM[1], UN_EPS, official
        yield torch.randn(2, 5, channels), torch.randn(2, 5, channels), torch.rand(channels), None, *common
        yield torch.randn(2, 5, channels), torch.randn(2, 5, channels), None, last_tokens(2, 5, 1), *common
        by_channel = torch.cat([scales, torch.tensor([[0., 1., 0.]])])
        yield torch.randn(2, 5, channels), torch.randn(2, 5, channels), None, None, by_channel, *common[1:]


def power_norm_state(channels):
    return torch.rand(2, channels) + 0.5, torch.tensor([20])


def power_norm(batch=2, length=5):
    for warmup in (10, 100):
        settings = 0.9, 0.9, 1e-5, warmup
        yield grad(batch, length, 3), grad(3), grad(3), None, *power_norm_state(3), *settings
        yield strided(batch, length, 3), None, None, last_tokens(batch, length, 1), *power_norm_state(3), *settings


def power_norm_backward():
    scales = torch.rand(2, 3) + 0.5
    for weight, padding in ((torch.rand(3), None), (None, last_tokens(2, 5, 1))):
        yield torch.randn(2, 5, 3), torch.randn(2, 5, 3), weight, padding, scales, power_norm_state(3)[0], 0.9, 1e-5


def attention_weights(batch=4, length=3):
    keys, doubles = length + 2, dict(dtype=torch.float64)
    yield grad(batch, 2, length, keys), grad(2, 2, length, keys), 0.5
    yield strided(batch, 2, length, keys), torch.randn(1, 1, 1, keys), 0.5
    yield grad(batch, 2, length, keys), None, 0.5
    yield grad(batch, 2, length, keys, **doubles), grad(batch // 2, 1, length, keys, **doubles), 0.5


def attention_weights_backward():
    for windows in (0, 2):
        yield torch.randn(4, 2, 3, 5), torch.rand(4, 2, 3, 5), windows, 0.5


def relative_attention_weights(batch=4, length=3):
    keys, doubles = length + 2, dict(dtype=torch.float64)
    hidden = torch.ones(length, keys, dtype=torch.bool).triu(3)
    yield grad(batch, 2, length, keys), grad(batch, 2, length, keys), hidden, 0.5
    yield strided(batch, 2, length, keys), strided(batch, 2, length, keys), None, 0.5
    yield grad(batch, 2, length, keys, **doubles), grad(batch, 2, length, keys, **doubles), hidden, 0.5


def relative_attention_weights_backward():
    yield torch.randn(4, 2, 3, 5), torch.rand(4, 2, 3, 5), 0.5


def permute_tokens(batch=2, length=4):
    index, inverse = torch.tensor([2, -1, 0, -1, *range(3, length)]), torch.tensor([2, -1, 0, *range(4, length + 1)])
    yield grad(batch, length, 3), index, inverse
    yield strided(batch, length, 3), index, inverse
    yield torch.randn(0, length, 3), index, inverse


def boxes_of_images(images, count):
    """Boxes of up to 8 x 8 pixels, some a little outside of a map of 6 x 7, on these images in turn."""
    corners = torch.rand(count, 2) * 6 - 1
    image = torch.arange(count).remainder(images).unsqueeze(1)
    return torch.cat([image, corners, corners + 0.5 + 6 * torch.rand(count, 2)], 1)


def nms(batch=6, length=5):
    boxes, scores = boxes_of_images(1, batch)[:, 1:], torch.rand(batch)
    yield boxes, scores, None, 0.3
    yield boxes, scores, torch.arange(batch).remainder(2), 0.3
    yield boxes.double(), scores.double(), torch.arange(batch).remainder(2), 0.5


def roi_align(batch=2, length=5):
    map = grad(batch, 3, 6, 7)
    yield map, boxes_of_images(batch, length), 2, 3, 1.0
    yield map, boxes_of_images(batch, length), 3, 2, 0.5, 2
    yield strided(batch, 3, 6, 7), boxes_of_images(batch, length), 2, 2, 1.0
    yield grad(batch, 3, 6, 7, dtype=torch.float64), boxes_of_images(batch, length).double(), 2, 3, 1.0, 0


def roi_align_backward():
    for sampling in (0, 2):
        yield torch.randn(5, 3, 2, 4), boxes_of_images(2, 5), [2, 3, 6, 7], 1.0, sampling


def scale_shift(batch=2, length=5):
    yield grad(batch, length, 3), grad(3), grad(3)
    yield strided(batch, length, 3), torch.rand(3), None
    yield grad(batch, length, 3, dtype=torch.float64), grad(3, dtype=torch.float64), grad(3, dtype=torch.float64)


def softmax_attention(batch=4, length=5):
    keys, doubles = length + 2, dict(dtype=torch.float64)
    heads = lambda length, width=4, **kind: grad(batch, 2, length, width, **kind)
    yield heads(length), heads(keys), heads(keys, 6)
    yield heads(length), heads(keys), heads(keys), grad(2, 2, length, keys)
    yield heads(keys), heads(keys), heads(keys), None, last_tokens(batch, keys, 2), True
    yield heads(length), grad(1, 2, keys, 4), grad(1, 2, keys, 6), None, None, True
    yield *(heads(n, **doubles) for n in (length, keys, keys)), torch.randn(1, 1, 1, keys, **doubles)
    yield *(heads(n, **doubles) for n in (length, keys, keys)), None, last_tokens(batch, keys, 2), True


SAMPLES = {make.__name__: make for make in (
    attention_weights, attention_weights_backward, block_attention, block_attention_backward, dropout, grc_update, grc_update_backward, kernel_attention, kernel_attention_fused,
    kernel_attention_fused_backward, kernel_attention_stream, kernel_features, linear, linear_backward,
    linear_cross_entropy, linear_cross_entropy_backward, linear_gelu, linear_gelu_backward, mix_heads, mix_heads_backward, nms, permute_tokens,
    power_norm, power_norm_backward, relative_attention_weights, relative_attention_weights_backward, resize_tokens, roi_align, roi_align_backward, scale_shift, scale_shift_backward, softmax_attention, token_convolution,
    token_convolution_backward, unified_norm, unified_norm_backward)}


def public_operators():
    """Names of the operators that a user calls."""
    return sorted(name for name in SAMPLES if not name.endswith(("_backward", "_fused")))
