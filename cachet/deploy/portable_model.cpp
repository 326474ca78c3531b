#include "cachet/deploy/portable_model.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"

namespace cachet::deploy {
namespace {

std::vector<std::string> names_of(const PortableModel& portable) {
  std::vector<std::string> names;
  for (const runtime::ExportedInput& input : portable.inputs) names.push_back(input.name);
  return names;
}

// The graph of `model` as a function of what `portable` says it takes.
void trace_into(PortableModel& portable, models::Model& model, const std::vector<FreeSize>& sizes,
                const MakeInputs& inputs) {
  const auto run = [&](const std::vector<at::Tensor>& tensors) { return classify(model, tensors); };
  portable.graph = trace(run, names_of(portable), sizes, inputs);
}

PortableModel of_images(models::ImageClassifier& model) {
  const models::ImageShape image = model.image_shape();
  PortableModel portable{nullptr, inputs_of(model), model.classes(), {}};
  trace_into(portable, model, {{"the batch", 0, 0}}, [&](const std::vector<int64_t>& sizes) {
    return std::vector<at::Tensor>{at::randn({sizes[0], image.channels, image.height, image.width})};
  });
  return portable;
}

// Ids of made-up sequences and a mask of their last token, so that both are read.
void add_sequences(std::vector<at::Tensor>& inputs, const models::SequenceShape& shape, int64_t batch, int64_t length) {
  inputs.push_back(at::randint(shape.vocabulary, {batch, length}, at::kLong));
  inputs.push_back((at::arange(length) >= length - 1).expand({batch, length}).contiguous());
}

PortableModel of_sequences(models::SequenceClassifier& model, bool free_length) {
  const models::SequenceShape shape = model.sequence_shape();
  const int64_t longest = shape.max_length;
  PortableModel portable{nullptr, inputs_of(model), model.classes(), {}};
  for (runtime::ExportedInput& input : portable.inputs)
    if (!free_length) input.shape[1] = longest;
  std::vector<FreeSize> sizes{{"the batch", 0, 0}};
  for (size_t input = 0; free_length && input < portable.inputs.size(); input += 2)
    sizes.push_back({"the length", input, 1, longest / 2, longest - 1, longest * 3 / 4});
  trace_into(portable, model, sizes, [&](const std::vector<int64_t>& given) {
    std::vector<at::Tensor> inputs;
    for (size_t i = 0; i < portable.inputs.size() / 2; ++i)
      add_sequences(inputs, shape, given[0], free_length ? given[i + 1] : longest);
    return inputs;
  });
  return portable;
}

}  // namespace

PortableModel make_portable(const std::shared_ptr<models::Model>& model) {
  TORCH_CHECK(!model->is_training(), "deploy: a model is traced in evaluation: call eval() first");
  inputs_of(*model);  // a model of another kind has none
  for (const at::Tensor& parameter : model->parameters()) parameter.requires_grad_(false);
  if (auto* images = dynamic_cast<models::ImageClassifier*>(model.get())) return of_images(*images);
  auto& sequences = dynamic_cast<models::SequenceClassifier&>(*model);
  try {
    return of_sequences(sequences, /*free_length=*/true);
  } catch (const c10::Error& error) {
    PortableModel portable = of_sequences(sequences, /*free_length=*/false);
    portable.notes.push_back("sequences are filled up to " + std::to_string(sequences.sequence_shape().max_length) +
                             " tokens (" + error.what_without_backtrace() + ")");
    return portable;
  }
}

}  // namespace cachet::deploy
