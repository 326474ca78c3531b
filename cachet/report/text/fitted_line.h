#pragma once

#include <string>
#include <vector>

namespace cachet::report {

/// One field of a line, a text such as "loss 0.95". If the line is too long, the least important fields are left out.
struct LineField {
  std::string text;
  int importance = 0;   // the least important fields are left out first; the most important one always stays
  bool behind = false;  // whether the field is in the second half, after the bar
  bool joined = false;  // whether it follows the previous field after one space, and is shown only with that field
};

/// Returns `epoch 3/20  loss 0.95  |  validation 81.2 % (best 82.0 % in epoch 2)`: the fields in order. If the line is
/// wider than `columns`, the least important fields are left out. `columns` < 0 means no limit.
std::string fitted_line(const std::vector<LineField>& fields, int columns = -1);

}  // namespace cachet::report
