#include "cachet/tasks/language_modelling/language_evaluation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "cachet/io/json_fields.h"
#include "cachet/io/parse_json.h"
#include "cachet/report/metric_description.h"

namespace cachet::tasks {

train::Metrics LanguageEvaluation::metrics() const {
  train::Metrics metrics;
  const auto set = [&](const std::string& name, double value, double derivative) {
    metrics.set(name, value);
    if (loss_error) metrics.set(name + std::string(report::kErrorSuffix), *loss_error * derivative);
  };
  set("perplexity", std::exp(loss), std::exp(loss));
  set("loss", loss, 1);
  const double bits_of_loss = static_cast<double>(tokens) / std::numbers::ln2;
  const auto set_bits = [&](const char* name, int64_t among) {
    if (among > 0)
      set(name, loss * bits_of_loss / static_cast<double>(among), bits_of_loss / static_cast<double>(among));
  };
  set_bits(kBitsPerByte, text_bytes);
  set_bits("bits_per_character", text_characters);
  if (baseline > 0) metrics.set("baseline_perplexity", baseline);
  return metrics;
}

void LanguageTally::add(const SegmentLosses& losses) {
  const size_t length = losses.by_place.size();
  if (sums_.size() < length) {
    sums_.resize(length, 0.0);
    counts_.resize(length, 0);
  }
  for (size_t i = 0; i < length; ++i) {
    sums_[i] += losses.by_place[i];
    counts_[i] += losses.tokens_by_place[i];
  }
  open_.resize(std::max(open_.size(), losses.by_lane.size()));
  for (size_t lane = 0; lane < losses.by_lane.size(); ++lane) {
    Block& block = open_[lane];
    block.loss += losses.by_lane[lane];
    block.tokens += losses.tokens_by_lane[lane];
    if (block.tokens < kBlockTokens) continue;
    blocks_.push_back(block);
    block = {};
  }
}

std::optional<double> LanguageTally::loss_error(double loss) const {
  double squares = 0;
  int64_t count = 0, tokens = 0;
  for (const std::vector<Block>* some : {&blocks_, &open_}) {
    for (const Block& block : *some) {
      if (block.tokens == 0) continue;
      const double beyond = block.loss - loss * static_cast<double>(block.tokens);
      squares += beyond * beyond;
      tokens += block.tokens;
      ++count;
    }
  }
  if (count < 2) return std::nullopt;
  return std::sqrt(squares * static_cast<double>(count) / static_cast<double>(count - 1)) / static_cast<double>(tokens);
}

LanguageEvaluation LanguageTally::finish(const data::TokenFileFacts& text) const {
  LanguageEvaluation evaluation;
  evaluation.tokens = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  evaluation.loss = std::accumulate(sums_.begin(), sums_.end(), 0.0) / static_cast<double>(evaluation.tokens);
  for (size_t i = 0; i < sums_.size(); ++i)
    evaluation.loss_by_position.push_back(sums_[i] / static_cast<double>(counts_[i]));
  evaluation.loss_error = loss_error(evaluation.loss);
  evaluation.text_bytes = text.text_bytes;
  evaluation.text_characters = text.text_characters;
  return evaluation;
}

std::string to_json(const LanguageEvaluation& e) {
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const WrittenSample& sample : e.samples) samples.push_back({sample.given, sample.written});
  nlohmann::ordered_json json{{"tokens", e.tokens},
                              {"loss", e.loss},
                              {"loss_by_position", e.loss_by_position},
                              {"text_bytes", e.text_bytes},
                              {"text_characters", e.text_characters},
                              {"baseline", e.baseline},
                              {"samples", samples}};
  if (e.loss_error) json["loss_error"] = *e.loss_error;
  return json.dump();
}

std::optional<LanguageEvaluation> language_evaluation_from_json(const std::string& text) {
  try {
    const io::JsonFields json(text, "evaluation");
    LanguageEvaluation evaluation{
        json.count("tokens"),     json.number("loss"),           json.numbers_or_nan("loss_by_position"),
        json.count("text_bytes"), json.count("text_characters"), json.number("baseline")};
    for (const auto& sample : io::parse_json<nlohmann::ordered_json>(json.json("samples")))
      evaluation.samples.push_back({sample.at(0), sample.at(1)});
    if (json.has("loss_error")) evaluation.loss_error = json.number("loss_error");
    return evaluation;
  } catch (const io::Error&) {
    return std::nullopt;
  } catch (const nlohmann::ordered_json::exception&) {
    return std::nullopt;
  }
}

}  // namespace cachet::tasks
