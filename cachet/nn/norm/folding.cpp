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

bool is_gone(const Norm& norm) { return dynamic_cast<const NoNorm*>(&norm) != nullptr; }

FoldedNorm leave(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                 const std::string& reason) {
  const auto affine = norm->inference_affine();
  if (!affine) return {Outcome::stays, reason};
  put(owner, name, norm, std::make_shared<ScaleShiftNorm>(*affine));
  return {Outcome::scale_shift, reason};
}

FoldedNorm into_reader(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                       const FoldAffine& fold_affine) {
  try {
    const SplitNorm parts = norm->split();
    fold_affine(parts.affine);
    const bool gone = is_gone(*parts.core);
    put(owner, name, norm, parts.core);
    if (gone) return {Outcome::gone};
    return {Outcome::core, "the norm computes statistics of its input"};
  } catch (const c10::Error& error) {
    return leave(owner, name, norm, error.what_without_backtrace());
  }
}

FoldedNorm into_writer(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                       const FoldAffine& fold_affine) {
  const auto affine = norm->inference_affine();
  if (!affine)
    return {Outcome::stays, "the norm computes statistics of its input, and no linear layer follows the norm"};
  try {
    fold_affine(*affine);
    put(owner, name, norm, std::make_shared<NoNorm>(affine->scale.numel()));
    return {Outcome::gone};
  } catch (const c10::Error& error) {
    return leave(owner, name, norm, error.what_without_backtrace());
  }
}

template <class Fold>
NormFold deferred(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm, const Fold& fold) {
  return {name, [&owner, &norm, fold, name]() -> FoldedNorm {
            TORCH_CHECK(!owner.is_training(), owner.name(),
                        ": norms can be folded only in evaluation; call eval() first");
            if (is_gone(*norm)) return {Outcome::gone};
            return fold(owner, name, norm);
          }};
}

}  // namespace

std::vector<FoldedNorm> Foldable::fold_norms() {
  std::vector<FoldedNorm> folded;
  for (const NormFold& norm : norm_folds()) folded.push_back(norm.fold());
  return folded;
}

NormFold leave_norm(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                    const std::string& reason) {
  return deferred(owner, name, norm, [reason](auto&... parts) { return leave(parts..., reason); });
}

NormFold fold_into_reader(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine) {
  return deferred(owner, name, norm, [fold_affine](auto&... parts) { return into_reader(parts..., fold_affine); });
}

NormFold fold_into_writer(torch::nn::Module& owner, const std::string& name, std::shared_ptr<Norm>& norm,
                          const FoldAffine& fold_affine) {
  return deferred(owner, name, norm, [fold_affine](auto&... parts) { return into_writer(parts..., fold_affine); });
}

}  // namespace cachet::nn
