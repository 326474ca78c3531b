#include "cachet/data/text/sequences/imdb.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "cachet/data/data_digest.h"
#include "cachet/data/ordered_prefetch.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kReviewFolders{"neg", "pos"};
constexpr uint64_t kMaxReviewBytes = uint64_t{1} << 20;
constexpr int64_t kReviewsAhead = 64;  // of each thread

FoundTexts review_files(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw io::Error(folder.string() +
                    ": there is no such folder; the reviews must be in the folders train and test, each with folders "
                    "neg and pos of .txt files");
  return text_files_below(folder);
}

}  // namespace

FoundReviews find_reviews(const fs::path& root, const std::string& split) {
  FoundReviews found;
  FoundTexts all;
  for (size_t label = 0; label < kReviewFolders.size(); ++label) {
    FoundTexts of_label = review_files(root / split / kReviewFolders[label]);
    for (const fs::path& path : of_label.files) {
      std::string id = path.lexically_relative(root).replace_extension().generic_string();
      found.reviews.push_back({path, std::move(id), static_cast<int64_t>(label)});
    }
    all.add(std::move(of_label));
  }
  found.passed_over = std::move(all.passed_over);
  return found;
}

std::string read_review(const Review& review) { return io::read_text_file(review.path, kMaxReviewBytes); }

std::shared_ptr<const SequenceDataset> read_imdb(const fs::path& root, const std::string& split,
                                                 const TextEncoder& encoder, const SequenceRules& rules) {
  const FoundReviews found = find_reviews(root, split);
  const std::vector<Review>& reviews = found.reviews;
  // Subwords take milliseconds a review.
  const auto threads = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  struct ReadReview {
    EncodedText text;
    std::string digest, key;
  };
  OrderedPrefetch<ReadReview> texts(
      0, static_cast<int64_t>(reviews.size()),
      [&](int64_t i) {
        const std::string bytes = read_review(reviews[static_cast<size_t>(i)]);
        return ReadReview{encoder.encode(bytes, rules.max_length), digest_of(bytes), text_key(bytes, rules)};
      },
      threads, kReviewsAhead * threads);
  SequenceBuilder builder(encoder.vocabulary(), rules);
  builder.pass_over(found.passed_over);
  SequenceOrigins origins;
  for (int64_t place = 0; const Review& review : reviews) {
    auto [text, digest, key] = *texts.next();
    if (rules.keep_origins) origins.files.push_back(review.path.string());
    builder.add_text(review.id);
    builder.add_text(digest);
    builder.count_replaced(text.replaced);
    try {
      const auto number = builder.add_sequence(std::move(text.tokens), std::move(key));
      number ? builder.add_sample({.tokens = *number, .label = review.label, .place = place}) : builder.skip_sample();
    } catch (const io::Error& problem) {
      throw io::Error(review.path.string() + ": " + problem.what());
    }
    ++place;
  }
  return builder.finish((root / split).string(), kImdb.class_names(), std::move(origins));
}

}  // namespace cachet::data
