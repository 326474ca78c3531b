#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// The form of text for its output. The defaults suit files and pipes: whole tables, in UTF-8.
struct TextForm {
  int columns = 100;       // a wider table is turned if that makes it narrower
  bool whole = true;       // wider text stays so; if false, cells and sentences wrap, and columns are left out
  bool unicode = true;     // if false, ASCII wherever Cachet has the choice
  std::string whole_by{};  // the option that shows the columns that are left out: "--wide"

  /// Returns the form for a descriptor: for a terminal by its width and locale, else whole.
  static TextForm of(int descriptor);
};

/// Returns sentences as a paragraph that ends with a line break.
std::string text_paragraph(std::string_view text, const TextForm& form);

}  // namespace cachet::report
