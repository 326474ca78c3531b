#include "cachet/train/runs/run_description.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "cachet/io/json/json_fields.h"

namespace cachet::train {
namespace {

using DescriptionJson = nlohmann::ordered_json;

DescriptionJson metric_to_json(const report::MetricDescription& metric) {
  DescriptionJson json{{"name", metric.name},
                       {"title", metric.title},
                       {"form", report::to_string(metric.form)},
                       {"better", report::to_string(metric.better)},
                       {"decides", metric.decides}};
  if (!metric.unit.empty()) json["unit"] = metric.unit;
  if (metric.constant) json["constant"] = true;
  if (metric.condition) json["condition"] = true;
  if (metric.share) json["share"] = true;
  if (metric.headline) json["headline"] = true;
  if (!metric.family.empty()) json["family"] = metric.family;
  return json;
}

report::MetricDescription metric_from_json(const io::JsonFields& json) {
  const std::string name = json.text("name");
  return {name,
          json.text("title", name),
          report::form_from(json.text("form", "")),
          report::better_from(json.text("better", "")),
          json.flag("decides", false),
          json.text("unit", ""),
          json.flag("constant", false),
          json.flag("condition", false),
          json.flag("share", false),
          json.flag("headline", false),
          json.text("family", "")};
}

/// 0 where it is missing.
int64_t number_of(const io::JsonFields& json, const char* name) {
  return json.has(name) ? json.integer(name, 0, std::numeric_limits<int64_t>::max()) : 0;
}

/// The rule by which multiply–accumulates are counted now. The first rule, whose descriptions have no number, counted
/// the feature maps of kernels among linear layers, and a Transformer-XL without its memory.
constexpr int64_t kMacsRule = 2, kFirstMacsRule = 1;

DescriptionJson macs_to_json(const RunDescription& description) {
  if (!description.has_macs()) return {{"rule", kFirstMacsRule}};
  return {{"linear_convolution", description.linear_convolution_macs},
          {"attention", description.attention_macs},
          {"rule", kMacsRule}};
}

/// An object of the description; an empty one where it is missing.
io::JsonFields part_of(const io::JsonFields& json, const char* name) {
  return json.has(name) ? json.object(name) : io::JsonFields("{}", name);
}

}  // namespace

int64_t counted_samples(int64_t evaluated, const Metrics& evaluation) {
  const auto skipped = static_cast<int64_t>(evaluation.find(kSkippedSamples).value_or(0));
  return std::max<int64_t>(0, evaluated - skipped);
}

int64_t RunDescription::counted(const Metrics& evaluation) const { return counted_samples(evaluated, evaluation); }

std::string evaluated_text(const SampleWords& words, int64_t evaluated, int64_t split_size) {
  const std::string of = evaluated < split_size ? " of " + std::to_string(split_size) : "";
  return std::to_string(evaluated) + of + " " + words.held_out + " " + (split_size == 1 ? words.one : words.many);
}

std::string choice_note(const SampleWords& words) {
  return "The best checkpoint was chosen on the same " + words.held_out + " " + words.many +
         ", so the result may be too good.";
}

std::string to_json(const RunDescription& description) {
  const SampleWords& words = description.words;
  DescriptionJson metrics = DescriptionJson::array();
  for (const report::MetricDescription& metric : description.metrics) metrics.push_back(metric_to_json(metric));
  DescriptionJson json{
      {"task", description.task},
      {"words", {{"one", words.one}, {"many", words.many}, {"rate", words.rate}, {"held_out", words.held_out}}},
      {"model",
       {{"name", description.model}, {"parameters", description.parameters}, {"macs", macs_to_json(description)}}},
      {"metrics", std::move(metrics)}};
  if (description.evaluated > 0 || description.split_size > 0)
    json["evaluation"] = {{"samples", description.evaluated}, {"of", description.split_size}};
  if (description.reports_choice) json["reports_choice"] = true;
  return json.dump();
}

std::optional<RunDescription> run_description_from_json(const std::string& text) {
  try {
    const io::JsonFields json(text, "the description of a run");
    RunDescription description;
    description.task = json.text("task");
    const io::JsonFields words = part_of(json, "words"), model = part_of(json, "model"), macs = part_of(model, "macs");
    description.words = {words.text("one", "sample"), words.text("many", "samples"), words.text("rate", "samples/s"),
                         words.text("held_out", "test")};
    description.model = model.text("name", "");
    description.parameters = number_of(model, "parameters");
    description.linear_convolution_macs = number_of(macs, "linear_convolution");
    description.attention_macs = number_of(macs, "attention");
    if ((macs.has("attention") || macs.has("rule")) && number_of(macs, "rule") != kMacsRule)
      description.linear_convolution_macs = description.attention_macs = RunDescription::kNoMacs;
    if (json.has("metrics"))
      for (const io::JsonFields& metric : json.objects("metrics"))
        description.metrics.push_back(metric_from_json(metric));
    const io::JsonFields evaluation = part_of(json, "evaluation");
    description.evaluated = number_of(evaluation, "samples");
    description.split_size = number_of(evaluation, "of");
    description.reports_choice = json.flag("reports_choice", false);
    return description;
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

const std::vector<report::MetricDescription>& trainer_metrics() {
  static const std::vector<report::MetricDescription> all{
      {"penalty", "penalty"}, {"lr", "learning rate"}, {"grad_norm", "gradient norm"}};
  return all;
}

}  // namespace cachet::train
