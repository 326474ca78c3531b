#include "app/commands/import_json.h"

#include "app/arguments/one_of.h"
#include "app/output/json.h"

namespace cachet::app {
namespace {

using Report = tasks::WeightImportReport;

const char* reason_word(Report::Reason reason) {
  switch (reason) {
    case Report::Reason::other_classes:
      return "other_classes";
    case Report::Reason::new_part:
      return "new_part";
    case Report::Reason::of_detector:
      return "of_detector";
  }
  return "";
}

}  // namespace

void add_names_option(CLI::App& app, const std::string& flag, std::string& names, const std::string& help) {
  std::vector<std::string> words;
  for (const std::string_view word : io::name_source_words()) words.emplace_back(word);
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? ": " : ", ") + word;
  app.add_option(flag, names, help + all)->check(one_of(words))->type_name("CODE");
}

nlohmann::ordered_json import_json(const Report& report, const std::string& model, const std::string& file,
                                   const std::string& input, const std::string& output) {
  nlohmann::ordered_json resized = nlohmann::ordered_json::array(), fresh = nlohmann::ordered_json::array();
  for (const auto& each : report.resized)
    resized.push_back({{"name", each.name}, {"from", each.from}, {"to", each.to}});
  for (const auto& each : report.fresh) fresh.push_back({{"name", each.name}, {"reason", reason_word(each.reason)}});
  nlohmann::ordered_json json{{"schema", kSchema},
                              {"file", file},
                              {"format", report.format == io::WeightsFile::Format::pytorch ? "pytorch" : "safetensors"},
                              {"key", report.key},
                              {"prefix", report.prefix},
                              {"names", io::to_string(report.source)},
                              {"model", model},
                              {"loaded", report.loaded},
                              {"converted", report.converted},
                              {"resized", resized},
                              {"fresh", fresh},
                              {"missing", report.missing},
                              {"left_over", report.left_over},
                              {"not_tensors", report.not_tensors}};
  const auto of_input = nlohmann::ordered_json::parse(input);
  if (const auto found = of_input.find("preprocessing"); found != of_input.end()) json["preprocessing"] = *found;
  json["output"] = output;
  return json;
}

}  // namespace cachet::app
