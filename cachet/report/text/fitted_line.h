#pragma once

#include <string>
#include <vector>

namespace cachet::report {

/// A piece of a line that is left out if there is no room for it.
struct LineField {
  std::string text;
  int importance = 0;   // the least go first, the greatest stays whatever the width is
  bool behind = false;  // whether the field is of the second half, which a bar separates from the first
  bool joined = false;  // whether one space separates it from the field before it, without which it is not shown
};

/// `epoch 3/20  loss 0.95  |  validation 81.2 % (best 82.0 % in epoch 2)`: the fields in their order, without the least
/// important ones if the line is wider than `columns`. `columns` < 0 is as much room as the line needs.
std::string fitted_line(const std::vector<LineField>& fields, int columns = -1);

}  // namespace cachet::report
