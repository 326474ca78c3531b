#include "cachet/tasks/classification/prediction.h"

#include <ATen/ops/topk.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cachet/report/text/display_width.h"

namespace cachet::tasks {
namespace {

constexpr int kShownColumns = 60;  // of a text

}  // namespace

std::vector<Prediction::Guess> top_guesses(const at::Tensor& probabilities, int64_t count) {
  const auto [values, labels] = at::topk(probabilities, std::min(count, probabilities.size(0)));
  std::vector<Prediction::Guess> guesses;
  for (int64_t i = 0; i < values.size(0); ++i) guesses.push_back({labels[i].item<int64_t>(), values[i].item<double>()});
  return guesses;
}

std::string to_json_line(const Prediction& prediction, const std::vector<std::string>& class_names) {
  nlohmann::ordered_json json{{"index", prediction.index}};
  if (!prediction.file.empty()) json["file"] = prediction.file;
  if (!prediction.text.empty()) json["text"] = report::fit_width(prediction.text, kShownColumns);
  if (prediction.label >= 0) json["label"] = prediction.label;
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  if (!prediction.problem.empty()) {
    json["error"] = prediction.problem;
    return json.dump(-1, ' ', false, kReplace) + "\n";
  }
  json["predicted"] = prediction.top.front().label;
  auto& top = json["top"] = nlohmann::ordered_json::array();
  for (const auto& guess : prediction.top)
    top.push_back({{"label", guess.label},
                   {"class", class_names.at(static_cast<size_t>(guess.label))},
                   {"probability", guess.probability}});
  if (!prediction.logits.empty()) json["logits"] = prediction.logits;
  return json.dump(-1, ' ', false, kReplace) + "\n";
}

}  // namespace cachet::tasks
