#include "cachet/metrics/bleu_tokenizer.h"

#include <array>
#include <utility>

#include "cachet/metrics/blanks.h"

namespace cachet::metrics {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_point_or_comma(char byte) { return byte == '.' || byte == ','; }

// ASCII punctuation and the space, but for the apostrophe, comma, hyphen and full stop.
constexpr std::array<bool, 256> symbols_of_13a() {
  std::array<bool, 256> table{};
  constexpr std::array<std::pair<char, char>, 6> kRanges{
      {{'{', '~'}, {'[', '`'}, {' ', '&'}, {'(', '+'}, {':', '@'}, {'/', '/'}}};
  for (const auto& [first, last] : kRanges)
    for (int byte = first; byte <= last; ++byte) table[static_cast<size_t>(byte)] = true;
  return table;
}
constexpr std::array<bool, 256> kSymbols = symbols_of_13a();

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string_view without_blanks_behind(std::string_view text) {
  size_t end = text.size();
  for (bool more = true; more && end > 0;) {
    more = false;
    for (size_t bytes = 1; bytes <= 3 && bytes <= end && !more; ++bytes) {
      more = blank_at(text, end - bytes) == bytes;
      if (more) end -= bytes;
    }
  }
  return text.substr(0, end);
}

// The four substitutions of the original. Each goes over the whole text before the next, and takes up a byte at most
// once, as regular expressions do: "1.,2" depends on it.

void separate_symbols(std::string_view text, std::string& out) {
  out.assign(1, ' ');
  for (const char byte : text) {
    if (kSymbols[static_cast<unsigned char>(byte)]) {
      out += ' ';
      out += byte;
      out += ' ';
    } else {
      out += byte;
    }
  }
  out += ' ';
}

template <class IsFirst, class IsSecond>
void separate_pairs(std::string_view text, const IsFirst& is_first, const IsSecond& is_second, bool before,
                    std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !is_first(text[i]) || !is_second(text[i + 1])) {
      out += text[i];
      continue;
    }
    if (before) out += ' ';
    out += text[i];
    out += ' ';
    out += text[++i];
    if (!before) out += ' ';
  }
}

}  // namespace

std::string_view BleuTokenizer::separate(std::string_view sentence) {
  sentence = without_blanks_behind(sentence);
  if (sentence.find_first_of("<\n&") != std::string_view::npos) {
    right_ = sentence;
    replace_all(right_, "<skipped>", "");
    replace_all(right_, "-\n", "");
    replace_all(right_, "\n", " ");
    replace_all(right_, "&quot;", "\"");
    replace_all(right_, "&amp;", "&");
    replace_all(right_, "&lt;", "<");
    replace_all(right_, "&gt;", ">");
    sentence = right_;
  }
  const auto is_no_digit = [](char byte) { return !is_digit(byte); };
  const auto is_hyphen = [](char byte) { return byte == '-'; };
  separate_symbols(sentence, left_);
  separate_pairs(left_, is_no_digit, is_point_or_comma, false, right_);
  separate_pairs(right_, is_point_or_comma, is_no_digit, true, left_);
  separate_pairs(left_, is_digit, is_hyphen, false, right_);
  return right_;
}

const std::vector<std::string_view>& BleuTokenizer::words(std::string_view sentence) {
  split_at_blanks(tokens_ == BleuTokens::mteval_13a ? separate(sentence) : sentence, words_);
  return words_;
}

std::string BleuTokenizer::text(std::string_view sentence) {
  std::string joined;
  for (const std::string_view word : words(sentence)) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

}  // namespace cachet::metrics
