#include "cachet/deploy/portable_model.h"

#include <c10/util/Exception.h>

#include "cachet/deploy/cannot_convert.h"
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

// The graph of `model` as a function of the inputs that `portable` lists.
void trace_into(PortableModel& portable, models::Model& model, const std::vector<FreeSize>& sizes,
                const MakeInputs& inputs) {
  const auto run = [&](const std::vector<at::Tensor>& tensors) { return classify(model, tensors); };
  portable.graph = converted([&] { return trace(run, names_of(portable), sizes, inputs); });
}

PortableModel of_images(models::ImageClassifier& model) {
  PortableModel portable{nullptr, inputs_of(model), model.classes(), {}};
  trace_into(portable, model, {{"the batch", 0, 0}},
             [&](const std::vector<int64_t>& sizes) { return sample_inputs(model, sizes[0]); });
  return portable;
}

// Three lengths that the model takes, so that the last one shows whether a number is a line; of models of two tokens
// there are no more than two.
FreeSize free_length_of(size_t input, int64_t longest) {
  FreeSize length{"the length", input, 1, longest / 2, longest - 1, longest * 3 / 4};
  constexpr int64_t kFewest = 5;  // that these are different for
  if (longest < kFewest) length.least = 1, length.more = longest, length.last = longest == 2 ? 2 : longest - 1;
  return length;
}

PortableModel of_sequences(models::SequenceClassifier& model, bool free_length) {
  const int64_t longest = model.sequence_shape().max_length;
  PortableModel portable{nullptr, inputs_of(model), model.classes(), {}};
  std::vector<FreeSize> sizes{{"the batch", 0, 0}};
  for (size_t input = 0; input < portable.inputs.size(); ++input) {
    if (!free_length)
      portable.inputs[input].shape[1] = longest;
    else if (input % 2 == 0)
      sizes.push_back(free_length_of(input, longest));
  }
  trace_into(portable, model, sizes, [&](const std::vector<int64_t>& given) {
    return sample_inputs(model, given[0], {given.begin() + 1, given.end()});
  });
  return portable;
}

}  // namespace

std::string filled_note(int64_t longest, const CannotConvert& why) {
  return "each sequence is padded to " + std::to_string(longest) + " tokens, because " + why.what();
}

PortableModel make_portable(const std::shared_ptr<models::Model>& model, FreeLengths lengths) {
  TORCH_CHECK(!model->is_training(), "deploy: a model must be in evaluation mode to be traced; call eval() first");
  inputs_of(*model);  // a model of another kind has none
  for (const at::Tensor& parameter : model->parameters()) parameter.requires_grad_(false);
  if (auto* images = dynamic_cast<models::ImageClassifier*>(model.get())) return of_images(*images);
  auto& sequences = dynamic_cast<models::SequenceClassifier&>(*model);
  const int64_t longest = sequences.sequence_shape().max_length;
  if (longest == 1 || lengths == FreeLengths::never) return of_sequences(sequences, /*free_length=*/false);
  try {
    return of_sequences(sequences, /*free_length=*/true);
  } catch (const CannotConvert& error) {
    PortableModel portable = of_sequences(sequences, /*free_length=*/false);
    portable.notes.push_back(filled_note(longest, error));
    return portable;
  }
}

}  // namespace cachet::deploy
