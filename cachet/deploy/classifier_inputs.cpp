#include "cachet/deploy/classifier_inputs.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"

namespace cachet::deploy {
namespace {

using runtime::Element;

constexpr int64_t kFree = -1;

template <class Classifier>
Classifier& sequence_classifier(Classifier* classifier) {
  TORCH_CHECK(classifier != nullptr, "deploy: only classifiers of images or of sequences can be exported");
  return *classifier;
}

}  // namespace

std::vector<runtime::ExportedInput> inputs_of(const models::Model& model) {
  if (const auto* images = dynamic_cast<const models::ImageClassifier*>(&model)) {
    const models::ImageShape image = images->image_shape();
    return {{"images", Element::float32, {kFree, image.channels, image.height, image.width}}};
  }
  const models::SequenceShape sequence =
      sequence_classifier(dynamic_cast<const models::SequenceClassifier*>(&model)).sequence_shape();
  const auto ids = [&](const char* name) {
    return runtime::ExportedInput{name, Element::int64, {kFree, kFree}, sequence.max_length, sequence.vocabulary};
  };
  std::vector<runtime::ExportedInput> inputs{ids("ids"), {"padding", Element::boolean, {kFree, kFree}}};
  if (sequence.pairs) {
    inputs.push_back(ids("second_ids"));
    inputs.push_back({"second_padding", Element::boolean, {kFree, kFree}});
  }
  return inputs;
}

std::vector<at::Tensor> sample_inputs(const models::Model& model, int64_t batch, const std::vector<int64_t>& lengths) {
  if (const auto* images = dynamic_cast<const models::ImageClassifier*>(&model)) {
    const models::ImageShape image = images->image_shape();
    return {at::randn({batch, image.channels, image.height, image.width})};
  }
  const models::SequenceShape shape =
      sequence_classifier(dynamic_cast<const models::SequenceClassifier*>(&model)).sequence_shape();
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < (shape.pairs ? 2 : 1); ++i) {
    const int64_t length = lengths.empty() ? shape.max_length : lengths.at(i);
    inputs.push_back(at::randint(shape.vocabulary, {batch, length}, at::kLong));
    // Both kinds of tokens are read; a sequence of padding alone has no scores.
    const int64_t tokens = std::max<int64_t>(1, length - 1);
    inputs.push_back((at::arange(length) >= tokens).expand({batch, length}).contiguous());
  }
  return inputs;
}

at::Tensor classify(models::Model& model, const std::vector<at::Tensor>& inputs) {
  const size_t count = inputs_of(model).size();
  TORCH_CHECK(inputs.size() == count, "deploy: the model takes ", count, " input tensors, not ", inputs.size());
  if (auto* images = dynamic_cast<models::ImageClassifier*>(&model)) return images->forward(inputs[0]);
  return dynamic_cast<models::SequenceClassifier&>(model).forward(
      {inputs[0], inputs[1]}, count > 2 ? models::Sequences{inputs[2], inputs[3]} : models::Sequences{});
}

at::Tensor classify(runtime::Session& session, std::vector<at::Tensor> inputs) {
  std::vector<runtime::Input> views;
  for (at::Tensor& tensor : inputs) {
    if (tensor.is_floating_point()) tensor = tensor.to(at::kFloat);
    tensor = tensor.contiguous();
    views.push_back({element_of(tensor), tensor.sizes().vec(), tensor.const_data_ptr()});
  }
  const runtime::Scores scores = session.run(views);
  return at::tensor(scores.values).view({scores.samples, scores.classes});
}

Element element_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kLong:
      return Element::int64;
    case at::kBool:
      return Element::boolean;
    default:
      return Element::float32;
  }
}

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

}  // namespace cachet::deploy
