#include "cachet/tasks/image_classification/synthetic_images.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

#include <string>
#include <vector>

namespace cachet::tasks {

data::LabelledImages synthetic_images(const models::ImageClassifierPlan& model, int64_t count) {
  const at::Tensor images =
      at::empty({count, model.image.channels, model.image.height, model.image.width}, at::kByte)
          .random_(0, 256, at::make_generator<at::CPUGeneratorImpl>(uint64_t{0}));  // not the run's own draws
  std::vector<std::string> names;
  for (int64_t label = 0; label < model.classes; ++label) names.push_back(std::to_string(label));
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(i % model.classes);
  return {std::make_shared<data::StoredImages>(images), data::ClassLabels(std::move(labels), std::move(names))};
}

}  // namespace cachet::tasks
