#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::nn {

/// The fixed table of Vaswani et al. (arXiv 1706.03762, Sec. 3.5): channels 2i and 2i + 1 of position p are sine and
/// cosine of p/10000^(2i/D). Returns (1, tokens, D) float32, of the positions from `first` on.
at::Tensor sinusoidal_positions(int64_t tokens, int64_t dim, int64_t first = 0);

/// The same as tensor2tensor and fairseq have it: channels i and D/2 + i of position p are sine and cosine of
/// p·10000^(−i/(D/2 − 1)). Returns (count, D) for the positions first, first + 1, …. Throws c10::Error for an odd D and
/// one below 4.
at::Tensor half_sinusoids(int64_t first, int64_t count, int64_t dim, const at::TensorOptions& options);

/// What Transformer-XL makes of distances (Dai et al., arXiv 1901.02860, published code): channels i and D/2 + i of a
/// distance p are sine and cosine of p/10000^(2i/D). Returns (length, D) for the distances length − 1, …, 1, 0, each at
/// most `farthest` where that is above 0. Throws c10::Error for an odd D.
at::Tensor distance_sinusoids(int64_t length, int64_t dim, int64_t farthest, const at::TensorOptions& options);

}  // namespace cachet::nn
