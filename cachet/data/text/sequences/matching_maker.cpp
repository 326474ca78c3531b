#include "cachet/data/text/sequences/matching_maker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cachet/data/random.h"
#include "cachet/data/text/sequences/imdb.h"
#include "cachet/data/text/sequences/matching.h"
#include "cachet/data/text/split_key.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"

namespace cachet::data {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";

struct ReviewHalves {
  std::string id, first, second;
  std::string key;  // split_key() of the whole
};

std::string without_outer_spaces(const std::string& text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

/// The review cut at the space nearest its middle; nothing where it has none between words.
std::optional<ReviewHalves> halves_of(const Review& review) {
  const std::string whole = read_review(review);
  std::string text = without_outer_spaces(std::string(without_byte_order_mark(whole)));
  std::ranges::replace_if(
      text, [](char symbol) { return kSpaces.find(symbol) != std::string_view::npos; }, ' ');
  const size_t middle = text.size() / 2;
  const size_t before = text.rfind(' ', middle), behind = text.find(' ', middle);
  if (before == std::string::npos && behind == std::string::npos) return std::nullopt;
  const bool goes_back =
      behind == std::string::npos || (before != std::string::npos && middle - before < behind - middle);
  const size_t cut = goes_back ? before : behind;
  return ReviewHalves{review.id, without_outer_spaces(text.substr(0, cut)), without_outer_spaces(text.substr(cut)),
                      split_key(whole)};
}

void append_row(std::string& rows, int label, const ReviewHalves& first, const ReviewHalves& second) {
  rows +=
      std::to_string(label) + '\t' + first.id + "#1\t" + second.id + "#2\t" + first.first + '\t' + second.second + '\n';
}

/// Of each review, the one whose second half stands falsely next to its first: a neighbour in the order of the second
/// halves' lengths. Of halves about as long as each other, lengths do not reveal the label.
std::vector<size_t> partners_of_like_length(std::span<const ReviewHalves> reviews) {
  std::vector<size_t> order(reviews.size()), partners(reviews.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t review) { return reviews[review].second.size(); });
  for (size_t begin = 0; begin < order.size();) {
    const size_t left = order.size() - begin, together = left == 3 ? 3 : 2;
    for (size_t i = 0; i < together; ++i) partners[order[begin + i]] = order[begin + (i + 1) % together];
    begin += together;
  }
  return partners;
}

/// The file's rows in drawn order.
std::string matching_rows(std::span<const ReviewHalves> reviews, uint64_t seed, SequenceSplit split) {
  const std::vector<size_t> partners = partners_of_like_length(reviews);
  const auto count = static_cast<int64_t>(reviews.size());
  std::string rows;
  for (const int64_t row : permutation(2 * count, {seed, RandomStream::pairs, static_cast<uint64_t>(split), 1})) {
    const auto review = static_cast<size_t>(row / 2);
    const bool is_match = row % 2 == 1;
    append_row(rows, is_match ? 1 : 0, reviews[review], reviews[is_match ? review : partners[review]]);
  }
  return rows;
}

/// All reviews that can be cut and whose text was not `seen` before, in drawn order.
std::vector<ReviewHalves> drawn_halves(const std::filesystem::path& imdb, const std::string& split, uint64_t seed,
                                       std::unordered_set<std::string>& seen, MatchingCounts& counts) {
  const FoundReviews found = find_reviews(imdb, split);
  const std::vector<Review>& reviews = found.reviews;
  if (auto note = found.passed_over.note()) counts.notes.push_back(*std::move(note));
  std::vector<ReviewHalves> halves;
  const CounterRandom random{seed, RandomStream::pairs, split == "train" ? uint64_t{0} : uint64_t{1}, 0};
  for (const int64_t index : permutation(static_cast<int64_t>(reviews.size()), random)) {
    auto cut = halves_of(reviews[static_cast<size_t>(index)]);
    if (!cut)
      ++counts.left_out;
    else if (!seen.insert(std::exchange(cut->key, {})).second)
      ++counts.repeated;
    else
      halves.push_back(*std::move(cut));
  }
  return halves;
}

}  // namespace

MatchingCounts write_matching_folder(const std::filesystem::path& imdb, const std::filesystem::path& folder,
                                     const MatchingOptions& options) {
  if (!(options.evaluation_fraction > 0 && options.evaluation_fraction < 1))
    throw std::invalid_argument("the fraction of reviews for evaluation must be above 0 and below 1");
  io::NewFolder result(folder);
  MatchingCounts counts;
  std::unordered_set<std::string> seen;
  const auto write = [&](SequenceSplit split, std::span<const ReviewHalves> reviews) {
    if (reviews.size() < 2)
      throw io::Error(imdb.string() + ": has fewer than two reviews, so there are no pairs of different reviews");
    const std::string rows = matching_rows(reviews, options.seed, split);
    io::write_new_file(result.path() / matching_file_name("imdb_pairs", split).text(), std::as_bytes(std::span(rows)));
    return 2 * static_cast<int64_t>(reviews.size());
  };
  const std::vector<ReviewHalves> training = drawn_halves(imdb, "train", options.seed, seen, counts);
  const auto held_out =
      static_cast<size_t>(std::llround(options.evaluation_fraction * static_cast<double>(training.size())));
  counts.evaluation = write(SequenceSplit::validation, std::span(training).first(held_out));
  counts.train = write(SequenceSplit::train, std::span(training).subspan(held_out));
  counts.test = write(SequenceSplit::test, drawn_halves(imdb, "test", options.seed, seen, counts));
  result.finish();
  return counts;
}

}  // namespace cachet::data
