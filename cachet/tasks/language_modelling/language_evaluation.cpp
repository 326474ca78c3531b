#include "cachet/tasks/language_modelling/language_evaluation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "cachet/io/json/json_fields.h"
#include "cachet/io/json/parse_json.h"
#include "cachet/report/metric_description.h"

namespace cachet::tasks {

std::optional<double> HeldOutText::uncoded() const {
  if (text.bytes == 0) return std::nullopt;
  const int64_t told = coded.first.bytes + coded.targets.size.bytes;
  return static_cast<double>(std::max<int64_t>(0, text.bytes - told)) / static_cast<double>(text.bytes);
}

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
  const data::TextSize &coded = text.coded.targets.size,
                       &divisor = text.bits_of == BitsOf::coded_text ? coded : text.text;
  set_bits(kBitsPerByte, divisor.bytes);
  set_bits("bits_per_character", divisor.characters);
  if (text.bits_of == BitsOf::whole_text) set_bits(kBitsPerCodedByte, coded.bytes);
  if (const auto fraction = text.uncoded()) {
    metrics.set(kUncoded, *fraction);
    metrics.set(kTextBytes, static_cast<double>(text.text.bytes));
  }
  if (baseline.perplexity > 0) metrics.set("baseline_perplexity", baseline.perplexity);
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
  blocks_.add(losses.by_batch_row, losses.tokens_by_batch_row);
}

LanguageEvaluation LanguageTally::finish() const {
  LanguageEvaluation evaluation;
  evaluation.tokens = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  evaluation.loss = std::accumulate(sums_.begin(), sums_.end(), 0.0) / static_cast<double>(evaluation.tokens);
  for (size_t i = 0; i < sums_.size(); ++i)
    evaluation.loss_by_position.push_back(sums_[i] / static_cast<double>(counts_[i]));
  evaluation.loss_error = metrics::loss_error(blocks_.parts(), evaluation.loss);
  return evaluation;
}

namespace {

constexpr const char *kCodedText = "coded_text", *kWholeText = "whole_text";

data::TextSize size_from(const io::JsonFields& json) { return {json.count("bytes"), json.count("characters")}; }

nlohmann::ordered_json to_json(const data::TextSize& size) {
  return {{"bytes", size.bytes}, {"characters", size.characters}};
}

// Version 0.1.0 wrote `text_bytes`, `text_characters` and `baseline`, a number. Its baseline could be a wrong one.
void read_text(const io::JsonFields& json, HeldOutText& text, NgramBaseline& baseline) {
  if (!json.has("text")) {
    text = {.text = {json.count("text_bytes"), json.count("text_characters")}, .bits_of = BitsOf::whole_text};
    return;
  }
  const io::JsonFields coded = json.object("coded"), ngrams = json.object("baseline");
  text.text = size_from(json.object("text"));
  text.coded = {size_from(coded.object("first")), {size_from(coded.object("targets")), coded.count("unknown")}};
  const std::string bits_of = json.text("bits_of");
  if (bits_of != kWholeText && bits_of != kCodedText) json.fail("'bits_of' must be coded_text or whole_text");
  text.bits_of = bits_of == kWholeText ? BitsOf::whole_text : BitsOf::coded_text;
  baseline = {ngrams.number("perplexity"), ngrams.texts("notes")};
}

}  // namespace

std::string to_json(const LanguageEvaluation& e) {
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const WrittenSample& sample : e.samples) samples.push_back({sample.given, sample.written});
  nlohmann::ordered_json json{{"tokens", e.tokens},
                              {"loss", e.loss},
                              {"loss_by_position", e.loss_by_position},
                              {"text", to_json(e.text.text)},
                              {"coded",
                               {{"first", to_json(e.text.coded.first)},
                                {"targets", to_json(e.text.coded.targets.size)},
                                {"unknown", e.text.coded.targets.unknown}}},
                              {"bits_of", e.text.bits_of == BitsOf::whole_text ? kWholeText : kCodedText},
                              {"baseline", {{"perplexity", e.baseline.perplexity}, {"notes", e.baseline.notes}}},
                              {"samples", samples}};
  if (e.loss_error) json["loss_error"] = *e.loss_error;
  return json.dump();
}

std::optional<LanguageEvaluation> language_evaluation_from_json(const std::string& text) {
  try {
    const io::JsonFields json(text, "evaluation");
    LanguageEvaluation evaluation{json.count("tokens"), json.number("loss"), json.numbers_or_nan("loss_by_position")};
    read_text(json, evaluation.text, evaluation.baseline);
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
