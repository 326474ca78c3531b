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
    gone,         // an offline norm, merged into a neighbouring layer
    core,         // an online norm without weights; the next layer contains the norm's affine map
    scale_shift,  // an offline norm that became one affine map, because no neighbouring layer can contain it
    stays,        // an online norm, unchanged
  };
  Outcome outcome = Outcome::gone;
  std::string reason{};  // the reason if the outcome is neither `gone` nor `core`
};

/// A norm of a module, and a function that merges (folds) the norm into a neighbouring layer if possible.
struct NormFold {
  std::string name;  // name in the module: "norm1"
  std::function<FoldedNorm()> fold;
};

/// A module that knows which layers read the outputs of its norms (readers) or compute the inputs of its norms
/// (writers). Unified Normalization (arXiv 2208.01313, Algorithm 1): at inference, an offline norm is part of the next
/// linear map.
class Foldable {
 public:
  virtual ~Foldable() = default;
  /// Returns one NormFold for each norm of the module, for evaluation. A NormFold is valid as long as the module
  /// exists. Folding the norms changes the results of the model only by rounding.
  virtual std::vector<NormFold> norm_folds() = 0;
  /// Folds all norms.
  std::vector<FoldedNorm> fold_norms();
};

/// A function that folds an affine map into a layer. If the affine map cannot be folded into the layer, the function
/// throws c10::Error and changes nothing.
using FoldAffine = std::function<void(const Affine& affine)>;
using Absorb [[deprecated("FoldAffine")]] = FoldAffine;

/// Returns the NormFold that merges `norm` into the layer after it (its reader). `name`: the name of `norm` in `owner`.
/// If the layer after the norm absorbs the whole norm (outcome `gone`), a NoNorm (the identity) replaces the norm.
NormFold fold_into_reader(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// Returns the NormFold that merges `norm`, which must be an offline norm, into the layer before it (its writer).
NormFold fold_into_writer(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine);

/// Returns the NormFold of a norm that cannot be folded into the layer after it (reader) or before it (writer). Folding
/// replaces an offline norm by one affine map.
NormFold leave_norm(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                    const std::string& reason);

}  // namespace cachet::nn
