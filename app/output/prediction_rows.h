#pragma once

#include <string>
#include <vector>

namespace cachet::app {

/// Predictions as rows for people: which sample, its true class if that is known, and what the model finds, the most
/// likely first, as far as a line has room.
class PredictionRows {
 public:
  /// `class_names` may be empty: then a true class is shown by its number. `columns` is the width of a line.
  PredictionRows(std::vector<std::string> class_names, int columns);

  /// The row of a record, with its line end; before the first one, the head.
  std::string row(const std::string& record);

 private:
  std::string line(const std::string& sample, const std::string& truth, const std::vector<std::string>& found) const;

  std::vector<std::string> class_names_;
  int columns_;
  bool has_head_ = false, has_truth_ = false;
};

}  // namespace cachet::app
