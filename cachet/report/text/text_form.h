#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// How text is to look where it goes. As it comes it suits files and pipes: whole, in UTF-8.
struct TextForm {
  int columns = 100;       // a wider table is turned, if that is narrower
  bool whole = true;       // what stays wider is left so; else cells and sentences are wrapped, columns left out
  bool unicode = true;     // else ASCII, where Cachet has the choice
  std::string whole_by{};  // what to type to see the columns that are left out: "--wide"

  /// That of text on a descriptor: of a terminal's width and locale, or whole.
  static TextForm of(int descriptor);
};

/// A sentence or more as a paragraph, with the line break at its end.
std::string text_paragraph(std::string_view text, const TextForm& form);

}  // namespace cachet::report
