#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::nn {

/// Returns the fixed positional encodings of Vaswani et al. (arXiv 1706.03762, Sec. 3.5). At position p, channels 2i
/// and 2i + 1 are sine and cosine of p/10000^(2i/D). The table has the shape (1, tokens, D) and the type float32. The
/// first row of the table encodes the position `first`.
at::Tensor sinusoidal_positions(int64_t tokens, int64_t dim, int64_t first = 0);

/// Returns the fixed positional encodings of tensor2tensor and fairseq. At position p, channels i and D/2 + i are sine
/// and cosine of p·10000^(−i/(D/2 − 1)). The table has the shape (count, D), for the positions first, first + 1, ….
/// Throws c10::Error if D is odd or below 4.
at::Tensor half_sinusoids(int64_t first, int64_t count, int64_t dim, const at::TensorOptions& options);

/// Returns Transformer-XL's encoding of distances (Dai et al., arXiv 1901.02860, published code). Channels i and
/// D/2 + i of distance p are sine and cosine of p/10000^(2i/D). The result has the shape (length, D), for the distances
/// length − 1, …, 1, 0. If `farthest` is above 0, larger distances are replaced by `farthest`. Throws c10::Error if D
/// is odd.
at::Tensor distance_sinusoids(int64_t length, int64_t dim, int64_t farthest, const at::TensorOptions& options);

}  // namespace cachet::nn
