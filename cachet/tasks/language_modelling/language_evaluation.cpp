#include "cachet/tasks/language_modelling/language_evaluation.h"

#include <ATen/TensorOperators.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "cachet/io/parse_json.h"

namespace cachet::tasks {

train::Metrics LanguageEvaluation::metrics() const {
  train::Metrics metrics{{"perplexity", std::exp(loss)}, {"loss", loss}};
  const double bits = loss * static_cast<double>(tokens) / std::numbers::ln2;
  if (text_bytes > 0) metrics.set("bits_per_byte", bits / static_cast<double>(text_bytes));
  if (text_characters > 0) metrics.set("bits_per_character", bits / static_cast<double>(text_characters));
  if (baseline > 0) metrics.set("baseline_perplexity", baseline);
  return metrics;
}

void LanguageTally::add(const at::Tensor& losses, const at::Tensor& targets) {
  const at::Tensor sums = losses.to(at::kDouble).sum(0).cpu(), counts = targets.ne(-1).sum(0).cpu();
  const auto length = static_cast<size_t>(sums.size(0));
  if (sums_.size() < length) {
    sums_.resize(length, 0.0);
    counts_.resize(length, 0);
  }
  for (size_t i = 0; i < length; ++i) {
    sums_[i] += sums.const_data_ptr<double>()[i];
    counts_[i] += counts.const_data_ptr<int64_t>()[i];
  }
}

LanguageEvaluation LanguageTally::finish(const data::TokenFileFacts& text) const {
  LanguageEvaluation evaluation;
  evaluation.tokens = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  evaluation.loss = std::accumulate(sums_.begin(), sums_.end(), 0.0) / static_cast<double>(evaluation.tokens);
  for (size_t i = 0; i < sums_.size(); ++i)
    evaluation.loss_by_position.push_back(sums_[i] / static_cast<double>(counts_[i]));
  evaluation.text_bytes = text.text_bytes;
  evaluation.text_characters = text.text_characters;
  return evaluation;
}

std::string to_json(const LanguageEvaluation& e) {
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const WrittenSample& sample : e.samples) samples.push_back({sample.given, sample.written});
  return nlohmann::ordered_json{{"tokens", e.tokens},
                                {"loss", e.loss},
                                {"loss_by_position", e.loss_by_position},
                                {"text_bytes", e.text_bytes},
                                {"text_characters", e.text_characters},
                                {"baseline", e.baseline},
                                {"samples", samples}}
      .dump();
}

std::optional<LanguageEvaluation> language_evaluation_from_json(const std::string& text) {
  try {
    const auto json = io::parse_json<nlohmann::ordered_json>(text);
    LanguageEvaluation evaluation{json.at("tokens"),           json.at("loss"),
                                  json.at("loss_by_position"), json.at("text_bytes"),
                                  json.at("text_characters"),  json.at("baseline")};
    for (const auto& sample : json.at("samples")) evaluation.samples.push_back({sample.at(0), sample.at(1)});
    return evaluation;
  } catch (const nlohmann::ordered_json::exception&) {
    return std::nullopt;
  }
}

}  // namespace cachet::tasks
