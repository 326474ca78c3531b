#include "cachet/nn/norm/folding.h"

#include "cachet/nn/norm/no_norm.h"
#include "cachet/nn/norm/scale_shift_norm.h"

namespace cachet::nn {
namespace {

using Outcome = FoldedNorm::Outcome;

void put(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
         const std::shared_ptr<Norm>& other) {
  norm = owner.replace_module(name, other);
  norm->eval();
}

void require_evaluation(const torch::nn::Module& owner) {
  TORCH_CHECK(!owner.is_training(), owner.name(), ": norms are folded in evaluation: call eval() first");
}

bool is_gone(const Norm& norm) { return dynamic_cast<const NoNorm*>(&norm) != nullptr; }

}  // namespace

FoldedNorm leave_norm(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                      const std::string& reason) {
  require_evaluation(owner);
  if (is_gone(*norm)) return {name, Outcome::gone};
  const auto affine = norm->inference_affine();
  if (!affine) return {name, Outcome::stays, reason};
  put(owner, name, norm, std::make_shared<ScaleShiftNorm>(*affine));
  return {name, Outcome::scale_shift, reason};
}

FoldedNorm fold_into_reader(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                            const Absorb& absorb) {
  require_evaluation(owner);
  if (is_gone(*norm)) return {name, Outcome::gone};
  try {
    const SplitNorm parts = norm->split();
    absorb(parts.affine);
    const bool gone = is_gone(*parts.core);
    put(owner, name, norm, parts.core);
    if (gone) return {name, Outcome::gone};
    return {name, Outcome::core, "it looks at its input"};
  } catch (const c10::Error& error) {
    return leave_norm(owner, name, norm, error.what_without_backtrace());
  }
}

FoldedNorm fold_into_writer(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                            const Absorb& absorb) {
  require_evaluation(owner);
  if (is_gone(*norm)) return {name, Outcome::gone};
  const auto affine = norm->inference_affine();
  if (!affine) return {name, Outcome::stays, "it looks at its input, and what reads it is no linear map"};
  try {
    absorb(*affine);
    put(owner, name, norm, std::make_shared<NoNorm>(affine->scale.numel()));
    return {name, Outcome::gone};
  } catch (const c10::Error& error) {
    return leave_norm(owner, name, norm, error.what_without_backtrace());
  }
}

}  // namespace cachet::nn
