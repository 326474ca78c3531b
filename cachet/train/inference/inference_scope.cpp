#include "cachet/train/inference/inference_scope.h"

#include "cachet/train/machine/device.h"

namespace cachet::train {

InferenceScope::InferenceScope(torch::nn::Module& model, const InferenceOptions& options)
    : model_(model), precision_(options.precision, device_of(model).type()) {
  for (const auto& item : model_.named_modules("", /*include_self=*/false))
    modes_.emplace_back(item.value(), item.value()->is_training());
  trained_before_ = model_.is_training();
  model_.eval();
  if (options.packed && options.precision == Precision::float32) packed_.emplace(model_);
}

InferenceScope::~InferenceScope() {
  model_.train(trained_before_);
  for (const auto& [module, trained] : modes_) module->train(trained);  // a module comes before those within it
}

}  // namespace cachet::train
