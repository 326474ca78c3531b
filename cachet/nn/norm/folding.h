#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/nn/norm/norm.h"

namespace cachet::nn {

/// The result of folding one norm.
struct FoldedNorm {
  enum class Outcome {
    gone,         // an offline norm: merged into a neighbour
    core,         // an online norm without weights: its reader contains the affine map after it
    scale_shift,  // an offline norm that no neighbour can contain: one affine map
    stays,        // an online norm without change
  };
  Outcome outcome = Outcome::gone;
  std::string reason{};  // why it is neither gone nor only the core
};

/// A norm of a module and the fold of it, which is not yet done.
struct NormFold {
  std::string name;  // in its module: "norm1"
  std::function<FoldedNorm()> fold;
};

/// A module with norms that knows their readers or writers (Unified Normalization, arXiv 2208.01313, Algorithm 1: at
/// inference, an offline norm is part of the next linear map).
class Foldable {
 public:
  virtual ~Foldable() = default;
  /// Returns the folds of its norms, for evaluation. They are valid as long as the module lives. Results
  /// stay the same except for rounding.
  virtual std::vector<NormFold> norm_folds() = 0;
  /// Folds all norms.
  std::vector<FoldedNorm> fold_norms();
};

/// Folds an affine map into a layer. If that is not possible, throws c10::Error with the reason and changes nothing.
using FoldAffine = std::function<void(const Affine& affine)>;
using Absorb [[deprecated("FoldAffine")]] = FoldAffine;

/// Returns the fold of `norm` into its reader. `owner` has registered `norm` as `name`. A norm that is
/// gone becomes a NoNorm.
NormFold fold_into_reader(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// Returns the fold of `norm` into the writer of its input. Only for offline norms.
NormFold fold_into_writer(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// Returns the fold of a norm that has no possible reader or writer: an offline norm becomes one affine map.
NormFold leave_norm(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                    const std::string& reason);

}  // namespace cachet::nn
