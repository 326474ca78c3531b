#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// Escapes text for elements and quoted attributes of HTML and XML: `&<>"'` become references; invalid UTF-8 and the
/// control characters that XML forbids become U+FFFD.
std::string escaped(std::string_view text);

/// Formats a coordinate with at most two decimals, no trailing zeros and no exponent.
std::string coordinate(double value);

struct Attribute {
  std::string_view name;
  std::string value;
  Attribute(std::string_view name, std::string value) : name(name), value(std::move(value)) {}
  Attribute(std::string_view name, std::string_view value) : name(name), value(value) {}
  Attribute(std::string_view name, const char* value) : name(name), value(value) {}
  Attribute(std::string_view name, double value) : name(name), value(coordinate(value)) {}
};

/// Writes elements of HTML or SVG as well-formed XML. The caller must close elements in the correct order; the class
/// escapes all text.
class Markup {
 public:
  using Attributes = std::initializer_list<Attribute>;

  Markup& open(std::string_view tag, Attributes attributes = {});
  Markup& close();
  Markup& text(std::string_view text);
  /// Writes text in which a browser may break a line inside names, after a dot or underscore ("blocks.0." + "attn"). A
  /// name of at most ten characters is not broken across lines.
  Markup& breakable(std::string_view text);
  /// Writes an element that contains only text.
  Markup& element(std::string_view tag, Attributes attributes, std::string_view text);
  /// Writes a paragraph. A part of the text between two backticks is code: `train.seed`.
  Markup& paragraph(std::string_view css_class, std::string_view text);
  /// Writes an element without content: <path …/>.
  Markup& empty(std::string_view tag, Attributes attributes = {});
  /// Writes markup without escaping it.
  Markup& raw(std::string_view markup);

  /// Returns the written markup. Throws std::logic_error if an element is open.
  const std::string& str() const;

 private:
  void start(std::string_view tag, Attributes attributes);

  std::string markup_;
  std::vector<std::string> open_;
};

}  // namespace cachet::report
