#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cachet/report/content.h"

/// Functions that write results of analyses as JSON and read them. Only source files include this header.
namespace cachet::tasks {

using nlohmann::ordered_json;

/// Reads a number. If the number was not finite when it was written, returns NaN.
inline double number_in(const ordered_json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

inline std::vector<double> numbers_in(const ordered_json& values) {
  std::vector<double> numbers;
  for (const ordered_json& value : values) numbers.push_back(number_in(value));
  return numbers;
}

/// Returns a matrix as a list of rows, and a vector as a list of numbers.
inline ordered_json json_of(const at::Tensor& tensor) {
  ordered_json list = ordered_json::array();
  if (tensor.dim() == 1) {
    for (int64_t i = 0; i < tensor.size(0); ++i) list.push_back(tensor[i].item<double>());
  } else {
    for (int64_t i = 0; i < tensor.size(0); ++i) list.push_back(json_of(tensor[i]));
  }
  return list;
}

/// Returns all numbers of a list of rows, row by row.
inline std::vector<double> matrix_in(const ordered_json& rows) {
  std::vector<double> all;
  for (const ordered_json& row : rows)
    for (const double value : numbers_in(row)) all.push_back(value);
  return all;
}

/// The two axes of a map of similarities.
enum class SimilarityOf {
  one_set,  // the items of one set with each other: the diagonal is 1
  two_sets  // the items of one set with those of another, which can have the same names
};

/// Returns the heat map `map` of similarities, with square cells. The colour scale goes from the smallest to the
/// largest value, so that small differences are visible. For SimilarityOf::one_set, the scale ignores the values on the
/// diagonal, so these values can exceed the scale.
inline report::HeatMap similarity_map(report::HeatMap map, SimilarityOf of) {
  map.square = true;
  map.least.reset();
  map.most.reset();
  for (size_t i = 0; i < map.values.size(); ++i) {
    const bool on_diagonal = i / map.columns.size() == i % map.columns.size();
    if (!std::isfinite(map.values[i]) || (of == SimilarityOf::one_set && on_diagonal)) continue;
    map.least = std::min(map.least.value_or(map.values[i]), map.values[i]);
    map.most = std::max(map.most.value_or(map.values[i]), map.values[i]);
  }
  if (of == SimilarityOf::one_set && map.least)
    map.note += (map.note.empty() ? "" : " ") + std::string(
                                                    "The colour scale goes from the smallest to the largest value "
                                                    "outside the diagonal. Values beyond the scale have no colour.");
  return map;
}

/// Marks the step of the analysed checkpoint in a chart over steps. Returns a sentence that explains the mark in the
/// chart. If the step is not known, the sentence is empty.
inline std::string marked_step(const ordered_json& values, report::LineChart& chart) {
  const auto step = values.find("step");
  if (step == values.end() || !step->is_number()) return {};
  chart.marks = {number_in(*step)};
  return "The dashed vertical line is the analysed checkpoint, step " + std::to_string(step->get<int64_t>()) + ".";
}

/// Returns the step of a checkpoint as a value, or null if it is not known.
inline ordered_json step_json(std::optional<int64_t> step) { return step ? ordered_json(*step) : ordered_json(); }

/// Returns `count` names: `before` followed by "0", "1", ….
inline std::vector<std::string> counted_names(size_t count, const std::string& before = "") {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(before + std::to_string(i));
  return names;
}

/// Returns the numbers 1, 2, …, `count`.
inline std::vector<double> counted_steps(size_t count) {
  std::vector<double> steps;
  for (size_t i = 0; i < count; ++i) steps.push_back(static_cast<double>(i + 1));
  return steps;
}

}  // namespace cachet::tasks
