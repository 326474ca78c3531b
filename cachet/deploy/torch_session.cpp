#include "cachet/deploy/torch_session.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <utility>
#include <vector>

#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/nn/linear.h"

namespace cachet::deploy {
namespace {

using runtime::Element;

at::ScalarType dtype_of(Element element) {
  switch (element) {
    case Element::int64:
      return at::kLong;
    case Element::boolean:
      return at::kBool;
    case Element::float32:
      break;
  }
  return at::kFloat;
}

class TorchSession : public runtime::Session {
 public:
  TorchSession(std::shared_ptr<models::Model> model, const runtime::SessionOptions& options)
      : model_(std::move(model)),
        dtype_(options.precision == runtime::Precision::bfloat16 ? at::kBFloat16 : at::kFloat),
        images_(dynamic_cast<models::ImageClassifier*>(model_.get())),
        sequences_(dynamic_cast<models::SequenceClassifier*>(model_.get())) {
    TORCH_CHECK(!model_->is_training(), "deploy: a session takes a model in evaluation: call eval() first");
    TORCH_CHECK(images_ != nullptr || sequences_ != nullptr, "deploy: sessions run classifiers of images or sequences");
    for (const at::Tensor& parameter : model_->parameters()) parameter.requires_grad_(false);
    model_->to(dtype_);
    for (const auto& module : model_->modules())
      if (auto* linear = dynamic_cast<nn::Linear*>(module.get())) linear->pack();
  }

  runtime::Scores run(std::span<const runtime::Input> inputs) override {
    const c10::InferenceMode inference;
    std::vector<at::Tensor> tensors;
    for (const runtime::Input& input : inputs)
      tensors.push_back(at::from_blob(const_cast<void*>(input.data), input.shape, dtype_of(input.element)));
    const at::Tensor scores = forward(tensors).to(at::kFloat).contiguous();
    const float* first = scores.const_data_ptr<float>();
    return {scores.size(0), scores.size(1), {first, first + scores.numel()}};
  }

 private:
  at::Tensor forward(const std::vector<at::Tensor>& inputs) const {
    if (images_ != nullptr) {
      TORCH_CHECK(inputs.size() == 1, "deploy: the model takes images alone");
      return images_->forward(inputs[0].to(dtype_));
    }
    const bool pairs = sequences_->sequence_shape().pairs;
    TORCH_CHECK(inputs.size() == (pairs ? 4U : 2U), "deploy: the model takes ids and padding of ",
                pairs ? "two sequences" : "one sequence");
    return sequences_->forward({inputs[0], inputs[1]},
                               pairs ? models::Sequences{inputs[2], inputs[3]} : models::Sequences{});
  }

  std::shared_ptr<models::Model> model_;
  at::ScalarType dtype_;
  models::ImageClassifier* images_;
  models::SequenceClassifier* sequences_;
};

}  // namespace

std::unique_ptr<runtime::Session> make_torch_session(std::shared_ptr<models::Model> model,
                                                     const runtime::SessionOptions& options) {
  return std::make_unique<TorchSession>(std::move(model), options);
}

}  // namespace cachet::deploy
