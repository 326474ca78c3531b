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

/// Bins of a histogram of feature values: four a decade, from 1e-4 on. Outliers are in the first and last bin.
inline constexpr int64_t kFeatureBins = 24;
/// A feature that never reaches this fraction of its head's mean is dead: it adds almost nothing to any product.
inline constexpr double kDeadFeature = 0.01;

/// Limit for rows and columns of attention matrices in pictures. Larger ones are reduced to means of neighbours.
inline constexpr int64_t kShownTokens = 32;

/// Whether a model has softmax or kernel attention that KernelUse can observe.
bool has_dense_attention(const torch::nn::Module& model);

/// Entropy of the attention of a model's layers, and properties of the feature map if a layer has a kernel instead of
/// the softmax. They cover all samples of the observed forward passes, without padding. If a pass has many scores,
/// queries drawn by the seed stand for all of its queries.
class KernelUse {
 public:
  struct Layer {
    bool kernel = false;  // else softmax
    /// Entropy of a query's weights on the keys ÷ the logarithm of the number of visible keys: 0 for one key, 1 for
    /// equal weights. A mean over queries that see two keys or more.
    double entropy = 0;
    // Only for kernels.
    double softmax_entropy = std::numeric_limits<double>::quiet_NaN();  // of softmax(q·kᵀ/√d) for the same q and k
    double distance = std::numeric_limits<double>::quiet_NaN();  // ½ Σ |kernel − softmax|, mean over queries: 0 to 1
    std::array<double, kFeatureBins> features{};                 // fractions of the values of φ
    double dead = 0;                                             // fraction of features
    std::vector<double> orthogonality;  // ‖WWᵀ − I‖ ÷ √n of each weight that is to stay orthogonal, mean over heads
    // For the first head of a sample drawn by the seed, (rows, columns) on the CPU. Softmax layers have only
    // `weights`.
    at::Tensor weights, softmax_weights;
  };

  /// Requests the features of this model's attention functions. The model must live as long.
  KernelUse(const torch::nn::Module& model, uint64_t seed);
  nn::Listener listener();
  ByLayer<Layer> layers() const;

 private:
  struct Sums {
    explicit Sums(uint64_t seed) : random(seed) {}
    at::Tensor queries, keys, padding;  // of the current call
    std::mt19937_64 random;
    uint64_t samples = 0;  // number of samples in all calls
    double entropy = 0, queries_seen = 0;
    double softmax_entropy = 0, distance = 0;
    std::array<double, kFeatureBins> features{};
    at::Tensor largest, total;  // of each feature (H, n), over all its values
    double values = 0;          // number of values of each feature
    at::Tensor weights, softmax_weights;
  };
  Sums& sums_of(const std::string& path);
  void add(const torch::nn::Module& function, Sums& sums, const at::Tensor& bias) const;

  uint64_t seed_;
  std::map<std::string, std::shared_ptr<torch::nn::Module>> functions_;
  ByLayer<Sums> sums_;
};

/// Returns ‖W Wᵀ − I‖ ÷ √n, mean over heads: 0 for orthogonal weights (H, n, n).
double orthogonality_residual(const at::Tensor& weight);

/// Sum of entropy(weights) over queries, and their number. weights (B, H, Lq, Lk) sum to one; the visible keys of each
/// query broadcast to (B, H, Lq). Queries with fewer than two visible keys, and those not `valid`, do not count.
struct EntropySum {
  double entropy = 0, queries = 0;
};
EntropySum entropy_of(const at::Tensor& weights, const at::Tensor& visible, const at::Tensor& valid);

}  // namespace cachet::analysis
