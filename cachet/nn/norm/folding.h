#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/nn/norm/norm.h"

namespace cachet::nn {

/// What folding made of one norm.
struct FoldedNorm {
  enum class Outcome {
    gone,         // an offline norm: a neighbour does its work
    core,         // an online norm without weights of its own: its reader has taken in the affine map after it
    scale_shift,  // an offline norm that no neighbour can take in: one affine map
    stays,        // an online norm, as it was
  };
  Outcome outcome = Outcome::gone;
  std::string reason{};  // why it is not gone, or not the core alone
};

/// A norm of a module and what can be done with it, not done yet.
struct NormFold {
  std::string name;  // in its module: "norm1"
  std::function<FoldedNorm()> fold;
};

/// A module that holds norms and knows who reads them, or who writes what they read (Unified Normalization,
/// arXiv 2208.01313, Algorithm 1: at inference an offline norm is part of the next linear map).
class Foldable {
 public:
  virtual ~Foldable() = default;
  /// What folds its norms one by one, in evaluation, as long as the module lives. What it computes stays the same but
  /// for roundings.
  virtual std::vector<NormFold> norm_folds() = 0;
  /// Folds all of them.
  std::vector<FoldedNorm> fold_norms();
};

/// Takes an affine map in. If it cannot, it throws c10::Error with the reason and changes nothing.
using FoldAffine = std::function<void(const Affine& affine)>;
using Absorb [[deprecated("FoldAffine")]] = FoldAffine;

/// Folds `norm`, which `owner` has registered as `name`, into what reads it. A norm that is gone is NoNorm from then
/// on.
NormFold fold_into_reader(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// The same into what writes its input: for offline norms alone.
NormFold fold_into_writer(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// What becomes of a norm that nothing can take in: an offline one is one affine map from then on.
NormFold leave_norm(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                    const std::string& reason);

}  // namespace cachet::nn
