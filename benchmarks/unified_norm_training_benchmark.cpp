// Trains a T2T-ViT with unified normalization on batches that are given, for benchmarks/unified_norm_training.py, which
// trains the published code on the same:
//   unified_norm_training --write WEIGHTS KEY=VALUE…
//   unified_norm_training --train BATCHES float64|float32 KEY=VALUE…
// The first writes the weights that it begins with, in the authors' names. The second prints a JSON object for each
// step: loss, norm of the gradients, and how many steps each norm has filtered so far; then the accuracy on the test
// images. KEY=VALUE are keys of the model's table; rates and ε of AdamW come with the batches.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/observations.h"
#include "cachet/analysis/statistics/numbers_of.h"
#include "cachet/config/document.h"
#include "cachet/io/tensors/names/name_source.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/train/optimizer/optimizer.h"
#include "cachet/train/step/gradients.h"

namespace cachet::benchmarks {
namespace {

using at::Tensor;

constexpr double kMaxNorm = 1;  // of all gradients together

std::shared_ptr<models::ImageClassifier> made(const std::vector<std::string>& settings) {
  config::Document document;
  for (const std::string& setting : settings) document.set("model." + setting);
  const auto plan = models::read_image_classifier(document.root().table("model"));
  document.finish();
  at::manual_seed(0);
  return plan.build();
}

Tensor normalised(const Tensor& pixels, at::ScalarType type) { return (pixels.to(type) / 255 - 0.5) / 0.25; }

void write_weights(const std::string& path, const std::vector<std::string>& settings) {
  const auto model = made(settings);
  const auto shape = model->image_shape();
  io::write_safetensors(path, io::to_their_names(io::NameSource::t2t, io::state_dict(*model),
                                                 {shape.height, shape.width, std::pair<int64_t, int64_t>{4, 4}}));
}

void train(const std::string& path, at::ScalarType type, const std::vector<std::string>& settings) {
  const auto model = made(settings);
  model->to(type);
  const auto parameters = train::parameter_groups(*model, {"cls_token"});
  std::vector<train::NamedParameter> all = parameters.decayed;
  all.insert(all.end(), parameters.undecayed.begin(), parameters.undecayed.end());
  const io::TensorMap given = io::read_safetensors(path).tensors;
  const auto optimizer = train::make_optimizer({}, parameters);
  const Tensor &images = given.at("images"), &labels = given.at("labels"), &rates = given.at("rates");
  model->train();
  for (int64_t step = 0; step < images.size(0); ++step) {
    model->zero_grad();
    const Tensor loss = at::cross_entropy_loss(model->forward(normalised(images[step], type)), labels[step]);
    loss.backward();
    const Tensor each = train::gradient_norms(all).to(at::kDouble).contiguous();
    const double norm = train::norm_of_norms({each.const_data_ptr<double>(), static_cast<size_t>(each.numel())});
    train::clip_gradients(all, norm, kMaxNorm);
    optimizer->step({rates[step].item<double>()});
    nlohmann::ordered_json line{{"step", step + 1}, {"loss", loss.item<double>()}, {"gradient_norm", norm}};
    for (const auto& layer : analysis::unified_norm_steps(*model))
      line["filtered"][layer.layer] = layer.use(analysis::numbers_of(layer.counters)).filtered;
    std::cout << line.dump() << std::endl;
  }
  const at::NoGradGuard no_grad;
  model->eval();
  int64_t right = 0;
  const Tensor &test = given.at("test_images"), &truth = given.at("test_labels");
  constexpr int64_t kAtOnce = 250;
  for (int64_t first = 0; first < test.size(0); first += kAtOnce) {
    const int64_t count = std::min(kAtOnce, test.size(0) - first);
    const Tensor answer = model->forward(normalised(test.narrow(0, first, count), type)).argmax(1);
    right += answer.eq(truth.narrow(0, first, count)).sum().item<int64_t>();
  }
  std::cout
      << nlohmann::ordered_json{{"accuracy", static_cast<double>(right) / static_cast<double>(test.size(0))}}.dump()
      << std::endl;
}

int run(const std::vector<std::string>& words) {
  if (words.size() >= 2 && words[0] == "--write") {
    write_weights(words[1], {words.begin() + 2, words.end()});
    return 0;
  }
  if (words.size() >= 3 && words[0] == "--train") {
    train(words[1], words[2] == "float64" ? at::kDouble : at::kFloat, {words.begin() + 3, words.end()});
    return 0;
  }
  std::cerr << "unified_norm_training: --write WEIGHTS KEY=VALUE... or --train BATCHES TYPE KEY=VALUE...\n";
  return 2;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** words) { return cachet::benchmarks::run({words + 1, words + count}); }
