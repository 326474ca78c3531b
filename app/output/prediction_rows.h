#pragma once

#include <string>
#include <vector>

namespace cachet::app {

/// Predictions as rows for people: the sample, its true class if it is known, and the model's predictions, the most
/// likely first, as many as fit into a line.
class PredictionRows {
 public:
  /// `class_names`: if empty, true classes are shown as numbers. `columns`: the width of a line.
  PredictionRows(std::vector<std::string> class_names, int columns);

  /// Returns the row of a record, with its line end. The first row comes after the head of the table.
  std::string row(const std::string& record);

 private:
  std::string line(const std::string& sample, const std::string& truth, const std::vector<std::string>& found) const;

  std::vector<std::string> class_names_;
  int columns_;
  bool has_head_ = false, has_truth_ = false;
};

}  // namespace cachet::app
