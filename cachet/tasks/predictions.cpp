#include "cachet/tasks/predictions.h"

#include <ATen/ops/topk.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/report/utf8.h"

namespace cachet::tasks {
namespace {

constexpr int kShownColumns = 60;  // of a text

bool is_prediction(const std::string& line, int64_t index) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains("top") && json.value("index", int64_t{-1}) == index;
}

}  // namespace

std::vector<Prediction::Guess> top_guesses(const at::Tensor& probabilities, int64_t count) {
  const auto [values, labels] = at::topk(probabilities, std::min(count, probabilities.size(0)));
  std::vector<Prediction::Guess> guesses;
  for (int64_t i = 0; i < values.size(0); ++i) guesses.push_back({labels[i].item<int64_t>(), values[i].item<double>()});
  return guesses;
}

void predict_test(ClassificationTask& task, int64_t first, int64_t top, const SeenPrediction& seen) {
  task.classify_test(first, [&](const ClassifiedBatch& batch) {
    const at::Tensor probabilities = batch.log_probabilities.exp();
    for (int64_t i = 0; i < probabilities.size(0); ++i) {
      const int64_t index = batch.indices[static_cast<size_t>(i)];
      if (index < first) continue;
      seen({index, "", "", batch.labels[i].item<int64_t>(), top_guesses(probabilities[i], top)});
    }
  });
}

void predict_given(ClassificationTask& task, const NextSample& next, int64_t first, int64_t top,
                   const SeenPrediction& seen) {
  const bool is_file = task.given_kind() == GivenKind::image_file;
  for (int64_t index = 0; const auto sample = next(); ++index) {
    if (index < first) continue;
    Prediction prediction;
    prediction.index = index;
    (is_file ? prediction.file : prediction.text) = sample->text;
    try {
      prediction.top = top_guesses(task.classify_given(sample->text).exp(), top);
    } catch (const io::Error& problem) {
      if (sample->place.empty()) throw;
      throw io::Error(sample->place + ": " + problem.what());
    }
    seen(prediction);
  }
}

std::string to_json_line(const Prediction& prediction, const std::vector<std::string>& class_names) {
  nlohmann::ordered_json json{{"index", prediction.index}};
  if (!prediction.file.empty()) json["file"] = prediction.file;
  if (!prediction.text.empty()) json["text"] = report::fit_width(prediction.text, kShownColumns);
  if (prediction.label >= 0) json["label"] = prediction.label;
  json["predicted"] = prediction.top.front().label;
  auto& top = json["top"] = nlohmann::ordered_json::array();
  for (const auto& guess : prediction.top)
    top.push_back({{"label", guess.label},
                   {"class", class_names.at(static_cast<size_t>(guess.label))},
                   {"probability", guess.probability}});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int64_t resume_predictions(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  int64_t count = 0;
  uintmax_t whole = 0;
  while (std::getline(file, line) && !file.eof()) {
    if (!is_prediction(line, count))
      throw std::runtime_error(path.string() + ": line " + std::to_string(count + 1) +
                               " is no prediction that could be gone on with; choose another file");
    ++count;
    whole += line.size() + 1;
  }
  if (std::filesystem::exists(path) && std::filesystem::file_size(path) > whole)
    std::filesystem::resize_file(path, whole);
  return count;
}

}  // namespace cachet::tasks
