#include "cachet/baselines/kneser_ney.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

namespace cachet::baselines {
namespace {

using data::Token;
using NgramKey = unsigned __int128;

constexpr int kIdBits = 24;
constexpr int64_t kLongestNgram = 5;

NgramKey low_bits(int64_t ids) { return (NgramKey{1} << (kIdBits * ids)) - 1; }

/// Calls with_line(<s> and the tokens of the line) for each line.
void for_each_line(const data::TokenSequence& text, Token start, Token line_end,
                   const std::function<void(const std::vector<Token>& line)>& with_line) {
  constexpr int64_t kPiece = 1 << 16;
  std::vector<int64_t> piece(static_cast<size_t>(kPiece));
  std::vector<Token> line{start};
  for (int64_t first = 0; first < text.size(); first += kPiece) {
    const int64_t count = std::min(kPiece, text.size() - first);
    text.read(first, count, piece.data());
    for (int64_t i = 0; i < count; ++i) {
      line.push_back(static_cast<Token>(piece[static_cast<size_t>(i)]));
      if (line.back() != line_end) continue;
      with_line(line);
      line.assign(1, start);
    }
  }
  if (line.size() > 1) with_line(line);  // a text whose last line has no end
}

struct Counted {
  std::vector<NgramKey> keys;
  std::vector<uint32_t> counts;
  void add(NgramKey key, uint32_t count) {
    keys.push_back(key);
    counts.push_back(count);
  }
};

/// Each key once, ascending, and how often it was there.
Counted counted(std::vector<NgramKey> all) {
  std::sort(all.begin(), all.end());
  Counted result;
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end] == all[i]) ++end;
    result.add(all[i], static_cast<uint32_t>(end - i));
    i = end;
  }
  return result;
}

}  // namespace

double TextScore::perplexity() const { return std::exp(-log_probability / static_cast<double>(tokens)); }

void KneserNey::Level::make_discounts() {
  auto& n = discounts.counts_of_counts;
  for (const uint32_t count : counts)
    if (count >= 1 && count <= 4) ++n[count - 1];
  discounts.fallback = n[0] == 0 || n[1] == 0 || n[2] == 0;
  if (!discounts.fallback) {
    const auto number = [&](size_t count) { return static_cast<double>(n[count - 1]); };
    const double y = number(1) / (number(1) + 2 * number(2));
    for (size_t k = 1; k <= 3; ++k) {
      const auto count = static_cast<double>(k);
      discounts.discounts[k - 1] = count - (count + 1) * y * number(k + 1) / number(k);
    }
    discounts.fallback = std::ranges::any_of(discounts.discounts, [](double discount) { return discount <= 0; });
  }
  if (discounts.fallback) discounts.discounts = Discounts::kFallback;
}

double KneserNey::Level::discount(uint32_t count) const {
  return count == 0 ? 0.0 : discounts.discounts[std::min<uint32_t>(count, 3) - 1];
}

void KneserNey::Level::make_contexts() {
  for (size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i] >> kIdBits;
    if (contexts.empty() || contexts.back().key != key) contexts.push_back({key, static_cast<int64_t>(i)});
    Context& context = contexts.back();
    context.end = static_cast<int64_t>(i) + 1;
    context.total += counts[i];
    context.kept_back += discount(counts[i]);
  }
}

KneserNey::KneserNey(const data::TokenSequence& text, int64_t vocabulary, Token line_end, int64_t order)
    : vocabulary_(vocabulary), line_end_(line_end) {
  if (order < 1 || order > kLongestNgram)
    throw std::invalid_argument("n-grams must have 1 to " + std::to_string(kLongestNgram) + " tokens");
  if (vocabulary < 1 || vocabulary >= (int64_t{1} << kIdBits) - 1)
    throw std::invalid_argument("the vocabulary cannot have " + std::to_string(vocabulary) + " tokens");
  if (text.size() < 1) throw std::invalid_argument("the text has no tokens");
  std::vector<Counted> raw;
  for (int64_t length = 1; length <= order; ++length) {
    std::vector<Key> all;
    for_each_line(text, start(), line_end, [&](const std::vector<Token>& line) {
      Key key = 0;
      for (size_t i = 0; i < line.size(); ++i) {
        key = (key << kIdBits | static_cast<Key>(line[i])) & low_bits(length);
        const bool whole = static_cast<int64_t>(i) + 1 >= length;
        if (whole && !(length == 1 && i == 0)) all.push_back(key);  // <s> alone is not an n-gram
      }
    });
    raw.push_back(counted(std::move(all)));
  }
  levels_.resize(static_cast<size_t>(order));
  for (int64_t length = 1; length <= order; ++length) {
    const auto place = static_cast<size_t>(length - 1);
    Counted used;
    if (length == order) {
      used = std::move(raw[place]);
    } else {
      std::vector<Key> endings;
      for (const Key key : raw[place + 1].keys) endings.push_back(key & low_bits(length));
      used = counted(std::move(endings));
      // Those that start with <s>, the highest id, stand after all others.
      const Key first_of_line = static_cast<Key>(start()) << (kIdBits * (length - 1));
      for (size_t i = 0; i < raw[place].keys.size() && length > 1; ++i)
        if (raw[place].keys[i] >= first_of_line) used.add(raw[place].keys[i], raw[place].counts[i]);
    }
    Level& level = levels_[place];
    level.keys = std::move(used.keys);
    level.counts = std::move(used.counts);
    level.make_discounts();
    level.make_contexts();
  }
}

double KneserNey::log_probability(std::span<const Token> line, Token token, int64_t* matched) const {
  double probability = 1.0 / static_cast<double>(vocabulary_);
  int64_t longest = 1;
  Key context = 0;
  const auto most = std::min<int64_t>(order(), static_cast<int64_t>(line.size()) + 1);
  for (int64_t length = 1; length <= most; ++length) {
    if (length > 1) {
      const auto id = static_cast<Key>(line[line.size() - static_cast<size_t>(length) + 1]);
      context |= id << (kIdBits * (length - 2));
    }
    const Level& level = levels_[static_cast<size_t>(length - 1)];
    const auto found = std::lower_bound(level.contexts.begin(), level.contexts.end(), context,
                                        [](const Context& each, Key key) { return each.key < key; });
    if (found == level.contexts.end() || found->key != context) break;  // longer ones were not seen either
    const Key key = context << kIdBits | static_cast<Key>(token);
    const auto begin = level.keys.begin() + found->begin, end = level.keys.begin() + found->end;
    const auto place = std::lower_bound(begin, end, key);
    double own = 0;
    if (place != end && *place == key) {
      const uint32_t count = level.counts[static_cast<size_t>(place - level.keys.begin())];
      own = static_cast<double>(count) - level.discount(count);
      longest = length;
    }
    probability = own / found->total + found->kept_back / found->total * probability;
  }
  if (matched) *matched = longest;
  return std::log(probability);
}

TextScore KneserNey::score(const data::TokenSequence& text) const {
  TextScore score;
  score.matched_length.assign(static_cast<size_t>(order()), 0);
  for_each_line(text, start(), line_end_, [&](const std::vector<Token>& line) {
    for (size_t i = 1; i < line.size(); ++i) {
      int64_t matched = 0;
      score.log_probability += log_probability(std::span(line).first(i), line[i], &matched);
      ++score.matched_length[static_cast<size_t>(matched - 1)];
      ++score.tokens;
    }
  });
  return score;
}

}  // namespace cachet::baselines
