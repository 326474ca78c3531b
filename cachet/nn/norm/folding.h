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
    core,         // an online norm without weights: the next layer contains its affine map
    scale_shift,  // an offline norm that no neighbour can contain, as one affine map
    stays,        // an unchanged online norm
  };
  Outcome outcome = Outcome::gone;
  std::string reason{};  // why the outcome is neither `gone` nor `core`
};

/// A norm of a module, and a function that will fold it.
struct NormFold {
  std::string name;  // name in the module: "norm1"
  std::function<FoldedNorm()> fold;
};

/// A module that knows the readers (layers after) or writers (layers before) of its norms (Unified Normalization, arXiv
/// 2208.01313, Algorithm 1: at inference, an offline norm is part of the next linear map).
class Foldable {
 public:
  virtual ~Foldable() = default;
  /// Returns the folds of all its norms, for evaluation. The folds are valid during the lifetime of the module. Results
  /// stay the same except for rounding.
  virtual std::vector<NormFold> norm_folds() = 0;
  /// Folds all norms.
  std::vector<FoldedNorm> fold_norms();
};

/// A function that folds an affine map into a layer, or throws c10::Error with the reason and changes nothing.
using FoldAffine = std::function<void(const Affine& affine)>;
using Absorb [[deprecated("FoldAffine")]] = FoldAffine;

/// Returns the fold of `norm` into its reader. `owner` has registered `norm` as `name`. A norm with the
/// outcome `gone` becomes a NoNorm.
NormFold fold_into_reader(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// Returns the fold of `norm`, which must be an offline norm, into the writer of its input.
NormFold fold_into_writer(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// Returns the fold of a norm that has no possible reader or writer: an offline norm becomes one affine map.
NormFold leave_norm(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                    const std::string& reason);

}  // namespace cachet::nn
