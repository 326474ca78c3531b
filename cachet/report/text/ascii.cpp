#include "cachet/report/text/ascii.h"

#include <algorithm>
#include <array>

#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

struct Spelling {
  char32_t sign;
  std::string_view ascii;
};

// Double quotes are not among them: inside of JSON, ASCII ones would end a string.
constexpr std::array<Spelling, 21> kSpellings = {
    {{U'\u00A0', " "}, {U'±', "+-"}, {U'²', "^2"},    {U'µ', "u"},  {U'·', "*"},  {U'×', "x"}, {U'α', "alpha"},
     {U'λ', "lambda"}, {U'μ', "u"},  {U'σ', "sigma"}, {U'–', "-"},  {U'—', "-"},  {U'‘', "'"}, {U'’', "'"},
     {U'…', "..."},    {U'→', "->"}, {U'−', "-"},     {U'≤', "<="}, {U'≥', ">="}, {U'─', "-"}, {U'━', "-"}}};

}  // namespace

std::string_view ascii_spelling(char32_t code_point) {
  const auto found = std::ranges::find(kSpellings, code_point, &Spelling::sign);
  return found == kSpellings.end() ? std::string_view() : found->ascii;
}

std::string ascii_text(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    const std::string_view rest = text;
    const std::string_view spelling = ascii_spelling(take_code_point(text));
    ascii += spelling.empty() ? rest.substr(0, rest.size() - text.size()) : spelling;
  }
  return ascii;
}

}  // namespace cachet::report
