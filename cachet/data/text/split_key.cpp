#include "cachet/data/text/split_key.h"

#include "cachet/data/text/normalization.h"
#include "cachet/data/text/text_lines.h"

namespace cachet::data {

std::string split_key(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  std::string key;
  // NFKC makes a space of every blank that is not one of these.
  const std::string plain = normalized(without_byte_order_mark(text), TextNormalization::nfkc);
  for (size_t begin = plain.find_first_not_of(kBlanks); begin != std::string::npos;) {
    const size_t end = plain.find_first_of(kBlanks, begin);
    if (!key.empty()) key += ' ';
    key += plain.substr(begin, end - begin);
    begin = plain.find_first_not_of(kBlanks, end);
  }
  return key;
}

}  // namespace cachet::data
