#include "cachet/deploy/torch_session.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::deploy {
namespace {

/// Whether an input is a mask that hides nothing. Without it attention computes the same, and less: a run has none
/// then.
bool is_empty_mask(const runtime::Input& input) {
  if (input.element != runtime::Element::boolean) return false;
  const auto count = static_cast<size_t>(c10::multiply_integers(input.shape));
  const std::span hidden(static_cast<const uint8_t*>(input.data), count);
  return std::ranges::all_of(hidden, [](uint8_t byte) { return byte == 0; });
}

class TorchSession : public runtime::Session {
 public:
  TorchSession(std::shared_ptr<models::Model> model, const runtime::SessionOptions& options)
      : model_(std::move(model)),
        dtype_(options.precision == runtime::Precision::bfloat16 ? at::kBFloat16 : at::kFloat) {
    TORCH_CHECK(!model_->is_training(), "deploy: the model of a session must be in evaluation mode; call eval() first");
    TORCH_CHECK(options.precision != runtime::Precision::int8, "deploy: LibTorch cannot run int8 models; use OpenVINO");
    inputs_of(*model_);  // a model of another kind has none
    for (const at::Tensor& parameter : model_->parameters()) parameter.requires_grad_(false);
    model_->to(dtype_);
    nn::pack_linear_layers(*model_);
  }

  runtime::Scores run(std::span<const runtime::Input> inputs) override {
    const c10::InferenceMode inference;
    std::vector<at::Tensor> tensors;
    for (const runtime::Input& input : inputs) {
      if (is_empty_mask(input)) {
        tensors.emplace_back();
        continue;
      }
      const at::Tensor tensor = at::from_blob(const_cast<void*>(input.data), input.shape, dtype_of(input.element));
      tensors.push_back(tensor.is_floating_point() ? tensor.to(dtype_) : tensor);
    }
    const at::Tensor scores = scores_of(tensors);
    const float* first = scores.const_data_ptr<float>();
    return {scores.size(0), scores.size(1), {first, first + scores.numel()}};
  }

 private:
  at::Tensor scores_of(const std::vector<at::Tensor>& inputs) {
    try {
      return classify(*model_, inputs).to(at::kFloat).contiguous();
    } catch (const c10::Error& error) {  // a session's faults are those of any engine
      throw std::runtime_error(error.what_without_backtrace());
    }
  }

  std::shared_ptr<models::Model> model_;
  at::ScalarType dtype_;
};

}  // namespace

std::unique_ptr<runtime::Session> make_torch_session(std::shared_ptr<models::Model> model,
                                                     const runtime::SessionOptions& options) {
  return std::make_unique<TorchSession>(std::move(model), options);
}

}  // namespace cachet::deploy
