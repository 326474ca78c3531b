#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/report/text/display_width.h"

namespace cachet::report::test {

/// What a terminal shows after some output: rows of text that break at its width, with the few controls that a progress
/// line may use. Anything else stays as text, where a test will see it.
class Screen {
 public:
  explicit Screen(int columns) : columns_(columns) {}

  void feed(std::string_view text) {
    while (!text.empty()) {
      if (text.starts_with("\033[")) {
        const size_t end = text.find_first_of("AJm");
        const int count = std::max(std::atoi(std::string(text.substr(2, end - 2)).c_str()), 1);
        if (text[end] == 'A') row_ = std::max<int>(row_ - count, 0);
        if (text[end] == 'J') rows_.resize(row_ + 1), rows_[row_].resize(column_);
        text.remove_prefix(end + 1);
        continue;
      }
      const char32_t c = take_code_point(text);
      if (c == U'\r') {
        column_ = 0;
      } else if (c == U'\n') {
        next_row();
      } else {
        if (column_ == columns_) next_row(), column_ = 0;
        std::u32string& line = rows_[row_];
        line.resize(std::max<size_t>(line.size(), column_ + 1), U' ');
        line[column_++] = c;
      }
    }
  }

  /// Breaks rows anew, as terminals do; the cursor stays after the last character.
  void resize(int columns) {
    std::vector<std::u32string> rows;
    for (const std::u32string& row : rows_) {
      for (size_t at = 0; at == 0 || at < row.size(); at += columns) rows.push_back(row.substr(at, columns));
    }
    rows_ = rows;
    columns_ = columns;
    row_ = static_cast<int>(rows_.size()) - 1;
    column_ = static_cast<int>(rows_.back().size());
  }

  std::vector<std::string> rows() const {
    std::vector<std::string> rows;
    for (const std::u32string& row : rows_) {
      rows.emplace_back();
      for (char32_t c : row) append_code_point(rows.back(), c);
    }
    return rows;
  }

 private:
  void next_row() {
    if (++row_ == static_cast<int>(rows_.size())) rows_.emplace_back();
  }

  int columns_, row_ = 0, column_ = 0;
  std::vector<std::u32string> rows_ = std::vector<std::u32string>(1);
};

}  // namespace cachet::report::test
