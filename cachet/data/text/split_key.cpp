#include "cachet/data/text/split_key.h"

#include <utility>

#include "cachet/data/many_files.h"
#include "cachet/data/text/encoders/unicode_normalization.h"
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

std::vector<std::string> split_keys(std::span<const std::string> texts) {
  constexpr size_t kTextsOfThread = 512;
  std::vector<std::string> keys(texts.size());
  look_at_files(
      texts.size(), [&](size_t i) { keys[i] = split_key(texts[i]); }, kTextsOfThread);
  return keys;
}

std::array<std::string, 2> pair_keys(std::string source_key, std::string target_key) {
  std::array keys{std::move(source_key), std::move(target_key)};
  for (size_t side = 0; side < 2; ++side)
    if (!keys[side].empty()) keys[side].insert(0, side == 0 ? "0" : "1");
  return keys;
}

}  // namespace cachet::data
