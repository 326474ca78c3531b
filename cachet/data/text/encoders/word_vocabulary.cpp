#include "cachet/data/text/encoders/word_vocabulary.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "cachet/config/utf8.h"
#include "cachet/data/text/text_pieces.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

/// Calls with_word for each word of a line.
template <class WithWord>
void for_each_word(std::string_view line, const WithWord& with_word) {
  for (size_t at = 0; (at = line.find_first_not_of(kWordBlanks, at)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kWordBlanks, at), line.size());
    with_word(line.substr(at, end - at));
    at = end;
  }
}

[[noreturn]] void fail(const std::string& name, int64_t line, const std::string& problem) {
  throw io::Error(name + ":" + std::to_string(line) + ": " + problem);
}

std::string shown(std::string_view word) { return "'" + config::printable(word.substr(0, 60)) + "'"; }

CountedWord parse_line(std::string_view line, const std::string& name, int64_t number) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) fail(name, number, "must be a word, a tab and a count, not " + shown(line));
  const std::string_view word = line.substr(0, tab), digits = line.substr(tab + 1);
  if (word.empty() || word.size() > kMaxWordBytes || word.find_first_of(kWordBlanks) != std::string_view::npos)
    fail(name, number,
         "a word must have 1 to " + std::to_string(kMaxWordBytes) + " bytes and no space, not " + shown(word));
  int64_t count = -1;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (problem != std::errc() || end != digits.data() + digits.size() || count < 0)
    fail(name, number, "the count must be a number, not " + shown(digits));
  return {std::string(word), count};
}

}  // namespace

void WordCounter::add_line(std::string_view line) {
  for_each_word(line, [&](std::string_view word) {
    if (word.size() > kMaxWordBytes)
      throw io::Error("line " + std::to_string(lines_ + 1) + ": a word has " + std::to_string(word.size()) +
                      " bytes; the maximum for a word of a vocabulary is " + std::to_string(kMaxWordBytes));
    Seen& seen = seen_.try_emplace(std::string(word), Seen{0, static_cast<int64_t>(seen_.size())}).first->second;
    ++seen.count;
    ++tokens_;
  });
  ++tokens_;
  ++lines_;
}

std::vector<CountedWord> WordCounter::words(int64_t most, int64_t least) const {
  std::vector<std::pair<std::string_view, Seen>> ordered(seen_.begin(), seen_.end());
  std::erase_if(ordered, [](const auto& each) { return each.first == kEndOfLineWord; });
  std::ranges::sort(ordered, [](const auto& left, const auto& right) {
    return left.second.count != right.second.count ? left.second.count > right.second.count
                                                   : left.second.order < right.second.order;
  });
  const auto written = seen_.find(std::string(kEndOfLineWord));
  std::vector<CountedWord> words{
      {std::string(kEndOfLineWord), lines_ + (written == seen_.end() ? 0 : written->second.count)}};
  const bool has_unknown = seen_.contains(std::string(kUnknownWord));
  // <unk> has its position whether it is frequent or not.
  int64_t room = most - 2, unknown = 0;
  size_t place = 0;
  for (const auto& [word, seen] : ordered) {
    if (word == kUnknownWord) {
      place = words.size();
      words.push_back({std::string(word), seen.count});
    } else if (room > 0 && seen.count >= least) {
      --room;
      words.push_back({std::string(word), seen.count});
    } else {
      unknown += seen.count;
    }
  }
  if (has_unknown)
    words[place].count += unknown;
  else
    words.push_back({std::string(kUnknownWord), unknown});
  return words;
}

std::string words_text(const std::vector<CountedWord>& words) {
  std::string text;
  for (const CountedWord& each : words) text += each.word + '\t' + std::to_string(each.count) + '\n';
  return text;
}

std::vector<CountedWord> parse_words(std::string_view text, const std::string& name) {
  std::vector<CountedWord> words;
  std::unordered_map<std::string_view, int64_t> lines;
  int64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    ++number;
    if (number > kMaxTokens)
      fail(name, number, "a vocabulary must have at most " + std::to_string(kMaxTokens) + " words");
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) fail(name, number, "the last line has no line end: the file may be truncated");
    const std::string_view line = text.substr(at, end - at);
    words.push_back(parse_line(line, name, number));
    const auto [first, is_new] = lines.emplace(line.substr(0, line.find('\t')), number);
    if (!is_new) fail(name, number, shown(first->first) + " is already in line " + std::to_string(first->second));
    at = end + 1;
  }
  if (words.empty()) throw io::Error(name + ": contains no words; make the file with `cachet data words`");
  if (words.front().word != kEndOfLineWord)
    fail(name, 1, "must be <eos>, which marks the end of each line of a text, not " + shown(words.front().word));
  if (!lines.contains(kUnknownWord)) throw io::Error(name + ": must contain <unk>, which replaces unknown words");
  return words;
}

WordEncoder::WordEncoder(std::string_view file, const std::string& name) : words_(parse_words(file, name)) {
  for (size_t i = 0; i < words_.size(); ++i) ids_.emplace(words_[i].word, static_cast<Token>(i));
  vocabulary_.size = static_cast<int64_t>(words_.size());
  vocabulary_.fingerprint = io::sha256_hex(file);
  vocabulary_.special.unknown = ids_.at(kUnknownWord);
}

EncodedText WordEncoder::encode(std::string_view text, int64_t most) const {
  EncodedText encoded;
  const Token unknown = *vocabulary_.special.unknown;
  while (!text.empty() && static_cast<int64_t>(encoded.tokens.size()) <= most) {
    const size_t end = text.find('\n');
    for_each_word(text.substr(0, end), [&](std::string_view word) {
      const auto found = ids_.find(word);
      if (found == ids_.end()) encoded.unknown.push_back(encoded.tokens.size());
      encoded.tokens.push_back(found == ids_.end() ? unknown : found->second);
    });
    if (end == std::string_view::npos) break;
    encoded.tokens.push_back(kEndOfLine);
    text.remove_prefix(end + 1);
  }
  return encoded;
}

std::string WordEncoder::decode_known(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) {
    if (token == kEndOfLine) {
      text += '\n';
      continue;
    }
    if (!text.empty() && text.back() != '\n') text += ' ';
    text += words_[static_cast<size_t>(token)].word;
  }
  return text;
}

}  // namespace cachet::data
