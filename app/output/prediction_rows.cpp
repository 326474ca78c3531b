#include "app/output/prediction_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cachet/report/format.h"
#include "cachet/report/text/display_width.h"
#include "cachet/report/text/text_grid.h"

namespace cachet::app {
namespace {

using PredictionJson = nlohmann::ordered_json;

constexpr int kLongestSample = 40, kLongestTruth = 20;  // columns

/// The text in so many columns, cut or filled.
std::string padded(const std::string& text, int columns) {
  std::string fitted = report::fit_width(text, columns);
  const int width = report::display_width(fitted);
  return fitted.append(static_cast<size_t>(std::max(0, columns - width)), ' ');
}

std::string sample_of(const PredictionJson& json) {
  for (const char* name : {"file", "text"})
    if (json.contains(name)) return report::on_one_line(json[name].get<std::string>());
  return std::to_string(json.value("index", int64_t{0}));
}

/// "dots 98.2 %" for each of what a model finds, by the name of its number.
std::vector<std::string> found_in(const PredictionJson& list, const char* number) {
  std::vector<std::string> found;
  for (const auto& each : list)
    found.push_back(report::on_one_line(each.at("class").get<std::string>()) + " " +
                    report::format_percent(each.at(number).get<double>()));
  return found;
}

}  // namespace

PredictionRows::PredictionRows(std::vector<std::string> class_names, int columns)
    : class_names_(std::move(class_names)), columns_(columns) {}

std::string PredictionRows::line(const std::string& sample, const std::string& truth,
                                 const std::vector<std::string>& found) const {
  const int sample_columns = std::clamp(columns_ / 3, 8, kLongestSample);
  std::string text = padded(sample, sample_columns);
  if (has_truth_) text += "  " + padded(truth, std::clamp(columns_ / 6, 6, kLongestTruth));
  int room = columns_ - report::display_width(text);
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string next = "  " + found[i];
    const int width = report::display_width(next), mark = i + 1 < found.size() ? 2 : 0;
    if (room < width + mark && i > 0) {  // the most likely one stays
      if (room >= 2) text += " …";
      break;
    }
    room -= width;
    text += next;
  }
  return text + "\n";
}

std::string PredictionRows::row(const std::string& record) {
  const PredictionJson json = PredictionJson::parse(record, nullptr, /*allow_exceptions=*/false);
  const bool has_classes = json.is_object() && json.contains("top"),
             has_objects = json.is_object() && (json.contains("detections") || json.contains("error"));
  if (!has_classes && !has_objects) return record;  // of a task whose answers are of another kind
  std::string head;
  if (!std::exchange(has_head_, true)) {
    has_truth_ = json.contains("label");
    head = line("sample", "class", {"prediction"});
  }
  std::string truth;
  if (json.contains("label")) {
    const auto label = json["label"].get<size_t>();
    truth = label < class_names_.size() ? report::on_one_line(class_names_[label]) : std::to_string(label);
  }
  std::vector<std::string> found;
  if (has_classes)
    found = found_in(json["top"], "probability");
  else if (json.contains("error"))
    found = {"not read: " + report::on_one_line(json["error"].get<std::string>())};
  else
    found = found_in(json["detections"], "score");
  if (found.empty()) found = {"nothing found"};
  return head + line(sample_of(json), truth, found);
}

}  // namespace cachet::app
