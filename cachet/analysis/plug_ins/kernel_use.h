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

/// A histogram of feature values: four bins a decade, from 1e-4 on; what lies outside counts in the first and last.
inline constexpr int64_t kFeatureBins = 24;
/// A feature that never reaches this fraction of its head's mean counts as dead: it adds almost nothing to any product.
inline constexpr double kDeadFeature = 0.01;

/// Attention matrices that are stored for pictures have at most this number of rows and columns: means of neighbours.
inline constexpr int64_t kShownTokens = 32;

/// Whether a model has softmax or kernel attention, which KernelUse can listen to.
bool has_dense_attention(const torch::nn::Module& model);

/// Entropy of the attention of a model's layers and, where a layer has a kernel in place of the softmax, what its
/// feature map does, over all samples of the forward passes that it listens to. Padding does not count. If the scores
/// of a pass are many, queries that are drawn by the seed stand for all of its queries.
class KernelUse {
 public:
  struct Layer {
    bool kernel = false;  // else softmax
    /// Of the weights that a query gives to keys, ÷ the logarithm of how many it sees: 0 one key, 1 all alike. A mean
    /// over queries that see two keys or more.
    double entropy = 0;
    // Of kernels alone.
    double softmax_entropy = std::numeric_limits<double>::quiet_NaN();  // of softmax(q·kᵀ/√d) of the same q and k
    double distance = std::numeric_limits<double>::quiet_NaN();  // ½ Σ |kernel − softmax|, mean over queries: 0 to 1
    std::array<double, kFeatureBins> features{};                 // fractions of the values of φ
    double dead = 0;                                             // fraction of features
    std::vector<double> orthogonality;  // of each weight that is to stay orthogonal, ‖WWᵀ − I‖ ÷ √n, mean over heads
    // Of the first head of a sample that is drawn by the seed, (rows, columns) on the CPU; of softmax layers `weights`
    // alone.
    at::Tensor weights, softmax_weights;
  };

  /// Asks the attention functions of this model for their features; it must live as long.
  KernelUse(const torch::nn::Module& model, uint64_t seed);
  nn::Listener listener();
  ByLayer<Layer> layers() const;

 private:
  struct Sums {
    explicit Sums(uint64_t seed) : random(seed) {}
    at::Tensor queries, keys, padding;  // of the call under way
    std::mt19937_64 random;
    uint64_t samples = 0;  // of all calls
    double entropy = 0, queries_seen = 0;
    double softmax_entropy = 0, distance = 0;
    std::array<double, kFeatureBins> features{};
    at::Tensor largest, total;  // of each feature (H, n): over all that it was computed of
    double values = 0;          // of each feature
    at::Tensor weights, softmax_weights;
  };
  Sums& sums_of(const std::string& path);
  void add(const torch::nn::Module& function, Sums& sums, const at::Tensor& bias) const;

  uint64_t seed_;
  std::map<std::string, std::shared_ptr<torch::nn::Module>> functions_;
  ByLayer<Sums> sums_;
};

/// ‖W Wᵀ − I‖ ÷ √n, mean over heads: 0 for orthogonal weights (H, n, n).
double orthogonality_residual(const at::Tensor& weight);

/// Sums of entropy(weights) over queries, and how many: weights (B, H, Lq, Lk) that sum to one, visible keys of each
/// query, broadcasting to (B, H, Lq); queries of fewer than two, and those where `valid` is not, count as none.
struct EntropySum {
  double entropy = 0, queries = 0;
};
EntropySum entropy_of(const at::Tensor& weights, const at::Tensor& visible, const at::Tensor& valid);

}  // namespace cachet::analysis
