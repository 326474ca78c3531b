#include "cachet/tasks/weights/tensor_parts.h"
#include "cachet/tasks/weights/weight_import.h"

namespace cachet::tasks {
namespace {

using Report = WeightImportReport;

std::string sizes_text(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

std::string named(const std::string& what, const std::vector<std::string>& names) {
  return what + " " + std::to_string(names.size()) + ": " + first_names(names);
}

std::string where_from(const Report& report) {
  std::string text = report.format == io::WeightsFile::Format::pytorch ? "PyTorch" : "safetensors";
  if (!report.key.empty()) text += ", under '" + report.key + "'";
  if (!report.prefix.empty()) text += ", without '" + report.prefix + "'";
  return text + ", names of " + std::string(io::word(report.source));
}

}  // namespace

std::vector<std::string> report_lines(const WeightImportReport& report, const std::filesystem::path& path) {
  std::vector<std::string> lines;
  const size_t all = report.loaded.size() + report.fresh.size() + report.missing.size();
  lines.push_back("loaded " + std::to_string(report.loaded.size()) + " of " + std::to_string(all) + " tensors from " +
                  path.string() + " (" + where_from(report) + ")");
  std::vector<std::string> resized, head, parts, of_detector;
  for (const auto& each : report.resized)
    resized.push_back(each.name + " (" + sizes_text(each.from) + " -> " + sizes_text(each.to) + ")");
  for (const auto& each : report.fresh) {
    const bool classes = each.reason == Report::Reason::other_classes;
    (classes ? head : each.reason == Report::Reason::new_part ? parts : of_detector).push_back(each.name);
  }
  const auto add = [&lines](const std::string& what, const std::vector<std::string>& names) {
    if (!names.empty()) lines.push_back(named(what, names));
  };
  add("resized", resized);
  add("converted", report.converted);
  add("fresh, as the number of classes is another,", head);
  add("fresh, as the file's model does not have them,", tensor_parts(parts));
  add("fresh, as the file is of a classifier,", tensor_parts(of_detector));
  add("of the classifier alone, left out,", report.classifying);
  add("missing", report.missing);
  add("left over", report.left_over);
  add("no tensors, left out,", report.not_tensors);
  return lines;
}

}  // namespace cachet::tasks
