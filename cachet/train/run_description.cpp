#include "cachet/train/run_description.h"

#include <nlohmann/json.hpp>

#include "cachet/io/parse_json.h"

namespace cachet::train {
namespace {

using DescriptionJson = nlohmann::ordered_json;

DescriptionJson metric_to_json(const report::MetricDescription& metric) {
  DescriptionJson json{{"name", metric.name},
                       {"title", metric.title},
                       {"form", report::word(metric.form)},
                       {"better", report::word(metric.better)},
                       {"decides", metric.decides}};
  if (!metric.unit.empty()) json["unit"] = metric.unit;
  if (metric.constant) json["constant"] = true;
  return json;
}

report::MetricDescription metric_from_json(const DescriptionJson& json) {
  const std::string name = json.at("name");
  return {name,
          json.value("title", name),
          report::form_from(json.value("form", "")),
          report::better_from(json.value("better", "")),
          json.value("decides", false),
          json.value("unit", ""),
          json.value("constant", false)};
}

}  // namespace

std::string to_json(const RunDescription& description) {
  const SampleWords& words = description.words;
  DescriptionJson metrics = DescriptionJson::array();
  for (const report::MetricDescription& metric : description.metrics) metrics.push_back(metric_to_json(metric));
  return DescriptionJson{
      {"task", description.task},
      {"words", {{"one", words.one}, {"many", words.many}, {"rate", words.rate}, {"held_out", words.held_out}}},
      {"model",
       {{"name", description.model},
        {"parameters", description.parameters},
        {"macs",
         {{"linear_convolution", description.linear_convolution_macs}, {"attention", description.attention_macs}}}}},
      {"metrics", std::move(metrics)}}
      .dump();
}

std::optional<RunDescription> run_description_from_json(const std::string& text) {
  try {
    const auto json = io::parse_json<DescriptionJson>(text);
    RunDescription description;
    description.task = json.at("task");
    const auto part = [&](const char* name, DescriptionJson missing) { return json.value(name, std::move(missing)); };
    const DescriptionJson words = part("words", DescriptionJson::object()),
                          model = part("model", DescriptionJson::object());
    description.words = {words.value("one", "sample"), words.value("many", "samples"), words.value("rate", "samples/s"),
                         words.value("held_out", "test")};
    description.model = model.value("name", "");
    description.parameters = model.value("parameters", int64_t{0});
    const auto macs = model.value("macs", DescriptionJson::object());
    description.linear_convolution_macs = macs.value("linear_convolution", int64_t{0});
    description.attention_macs = macs.value("attention", int64_t{0});
    for (const DescriptionJson& metric : part("metrics", DescriptionJson::array()))
      description.metrics.push_back(metric_from_json(metric));
    return description;
  } catch (const DescriptionJson::exception&) {
    return std::nullopt;
  }
}

const std::vector<report::MetricDescription>& trainer_metrics() {
  static const std::vector<report::MetricDescription> all{
      {"penalty", "penalty"}, {"lr", "learning rate"}, {"grad_norm", "gradient norm"}};
  return all;
}

}  // namespace cachet::train
