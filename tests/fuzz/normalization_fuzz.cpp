// Texts brought into forms of Unicode: what comes out is in that form already, has the line ends and the zero bytes of
// what went in, and is that of its parts where an ASCII character begins one. The first byte chooses the form.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "cachet/data/text/encoders/unicode_normalization.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  using enum data::TextNormalization;
  const std::string_view text{reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1};
  const auto form = input[0] % 2 == 0 ? nfc : nfkc;
  const std::string once = data::normalized(text, form);
  if (data::normalized(once, form) != once || data::normalized(once, nfc) != once) std::abort();
  for (const char kept : {'\n', '\r', '\0'})
    if (std::ranges::count(text, kept) != std::ranges::count(once, kept)) std::abort();
  const auto ascii = std::ranges::find_if(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  const auto first = static_cast<size_t>(ascii - text.begin());
  if (data::normalized(text.substr(0, first), form) + data::normalized(text.substr(first), form) != once) std::abort();
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {"\1Vie\u0323\u0302t \u00BD\n\0\u1112\u1161\u11AB"s, "\2e\u0301\xFF\u0301 \uFDFA\u0344\u212B"s,
          "\2a\u0315\u0300\u05AE\u0300\u0062\U0001D15E\r\n"s};
}

}  // namespace cachet::fuzz
