#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// Number of bins of a histogram of feature values: four per decade, from 1e-4 on. Values outside the range of the
/// histogram are counted in its first and last bin.
inline constexpr int64_t kFeatureBins = 24;
/// A feature is dead if its largest value is below kDeadFeature · m, where m is the mean of all features of its head. A
/// dead feature adds almost nothing to the products of queries and keys.
inline constexpr double kDeadFeature = 0.01;

/// The maximum number of rows and of columns of an attention matrix in a picture. An attention matrix with more than
/// kShownTokens rows or columns is reduced to means of neighbouring elements.
inline constexpr int64_t kShownTokens = 32;

/// Whether a model has softmax or kernel attention that KernelUse can observe.
bool has_dense_attention(const torch::nn::Module& model);

/// The entropy of the attention in a model's layers, and, for layers with a kernel instead of the softmax, properties
/// of the feature map. All statistics are computed over the samples of the observed forward passes, without padding
/// tokens. If a forward pass has many attention scores, the statistics use only a random subset of the queries (drawn
/// by the seed).
class KernelUse {
 public:
  struct Layer {
    bool kernel = false;  // whether the layer has a kernel instead of softmax
    /// Mean entropy of a query's weights on the keys ÷ the logarithm of the number of visible keys: 0 for one key, 1
    /// for equal weights. The mean leaves out queries that see only one key.
    double entropy = 0;
    // The members from `softmax_entropy` to `orthogonality` are set only for layers with a kernel, not a softmax.
    double softmax_entropy = std::numeric_limits<double>::quiet_NaN();  // entropy of softmax(q·kᵀ/√d) for the same q, k
    double distance = std::numeric_limits<double>::quiet_NaN();  // mean over queries of ½ Σ |kernel − softmax|, 0 to 1
    std::array<double, kFeatureBins> features{};                 // histogram of φ: fraction of the values in each bin
    double dead = 0;                                             // fraction of dead features
    std::vector<double> orthogonality;  // ‖WWᵀ − I‖ ÷ √n of each weight that must stay orthogonal, mean over the heads
    // Attention weights (rows, columns) of the first head, on the CPU, for one sample that is drawn with `seed`.
    // Softmax layers have only `weights`.
    at::Tensor weights, softmax_weights;
  };

  /// Selects the attention functions of `model` to observe. The model must outlive this object.
  KernelUse(const torch::nn::Module& model, uint64_t seed);
  nn::Listener listener();
  ByLayer<Layer> layers() const;

 private:
  struct Sums {
    explicit Sums(uint64_t seed) : random(seed) {}
    at::Tensor queries, keys, padding;  // tensors of the current call
    std::mt19937_64 random;
    uint64_t samples = 0;  // number of samples in all calls
    double entropy = 0, queries_seen = 0;
    double softmax_entropy = 0, distance = 0;
    std::array<double, kFeatureBins> features{};
    at::Tensor largest, total;  // largest value and total of each feature (H, n)
    double values = 0;          // number of values of each feature
    at::Tensor weights, softmax_weights;
  };
  Sums& sums_of(const std::string& path);
  void add(const torch::nn::Module& function, Sums& sums, const at::Tensor& bias) const;

  uint64_t seed_;
  std::map<std::string, std::shared_ptr<torch::nn::Module>> functions_;
  ByLayer<Sums> sums_;
};

/// Returns the mean of ‖W Wᵀ − I‖ ÷ √n over heads: 0 for orthogonal weights (H, n, n).
double orthogonality_residual(const at::Tensor& weight);

/// The number of queries, and the sum over queries of (entropy of the query's weights) ÷ log(number of visible keys).
/// weights (B, H, Lq, Lk) sum to one. `visible` and `valid` broadcast to (B, H, Lq). Queries that `valid` excludes, or
/// that see only one key, do not count.
struct EntropySum {
  double entropy = 0, queries = 0;
};
EntropySum entropy_of(const at::Tensor& weights, const at::Tensor& visible, const at::Tensor& valid);

}  // namespace cachet::analysis
