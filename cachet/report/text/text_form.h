#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// How text is laid out for a terminal, a file or a pipe: the width, the wrapping, and the characters. The default
/// values suit files and pipes: wide tables stay whole, and text is in UTF-8.
struct TextForm {
  int columns = 100;       // maximum width; a wider table is turned (rows become columns) if that makes it narrower
  bool whole = true;       // whether wider text stays whole; if not, cells and sentences wrap and columns are left out
  bool unicode = true;     // if false, Cachet writes ASCII wherever it can choose
  std::string whole_by{};  // the option that shows the columns that are left out: "--wide"

  /// Returns the TextForm of the file descriptor `descriptor`. For a terminal, the result depends on its width and the
  /// locale. For a descriptor that is not a terminal, wide text stays whole.
  static TextForm of(int descriptor);
};

/// Returns sentences as a paragraph that ends with a line break.
std::string text_paragraph(std::string_view text, const TextForm& form);

}  // namespace cachet::report
