#include "cachet/tasks/exports/finite_answers.h"

#include <ATen/core/grad_mode.h>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/ops/support/finite.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kTriedSamples = 2;

bool is_classifier(const models::Model& model) {
  return dynamic_cast<const models::ImageClassifier*>(&model) != nullptr ||
         dynamic_cast<const models::SequenceClassifier*>(&model) != nullptr;
}

}  // namespace

void require_finite_answers(models::Model& model, const std::string& name) {
  if (!is_classifier(model)) return;
  const at::NoGradGuard no_grad;
  if (!ops::all_finite(deploy::classify(model, deploy::sample_inputs(model, kTriedSamples))))
    throw ops::NotFinite(name +
                         ": the outputs of the model are NaN or infinite, because its weights are too large for "
                         "float32; export a checkpoint from before training diverged");
}

}  // namespace cachet::tasks
