#include <algorithm>
#include <map>

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
  constexpr size_t kMost = 6;
  std::string line = what + " " + std::to_string(names.size()) + ": ";
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) line += (i == 0 ? "" : ", ") + names[i];
  return line + (names.size() > kMost ? ", …" : "");
}

std::string where_from(const Report& report) {
  std::string text = report.format == io::WeightsFile::Format::pytorch ? "PyTorch" : "safetensors";
  if (!report.key.empty()) text += ", under '" + report.key + "'";
  if (!report.prefix.empty()) text += ", without '" + report.prefix + "'";
  return text + ", names of " + std::string(io::word(report.source));
}

/// The parts that names belong to, with how many tensors each has: the same part of all blocks is one.
std::vector<std::string> parts_of(const std::vector<std::string>& names) {
  std::map<std::string, int64_t> parts;
  for (const std::string& name : names) {
    std::string part;
    for (size_t from = 0; from < name.size();) {
      const size_t dot = std::min(name.find('.', from), name.size());
      const std::string word = name.substr(from, dot - from);
      const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
      part += (part.empty() ? "" : ".") + (is_number ? "*" : word);
      from = dot + 1;
    }
    ++parts[part];
  }
  std::vector<std::string> shown;
  for (const auto& [part, count] : parts) shown.push_back(count > 1 ? part + " (" + std::to_string(count) + ")" : part);
  return shown;
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
  add("fresh, as the file's model does not have them,", parts_of(parts));
  add("fresh, as the file is of a classifier,", parts_of(of_detector));
  add("of the classifier alone, left out,", report.classifying);
  add("missing", report.missing);
  add("left over", report.left_over);
  add("no tensors, left out,", report.not_tensors);
  return lines;
}

}  // namespace cachet::tasks
