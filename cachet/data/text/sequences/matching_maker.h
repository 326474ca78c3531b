#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cachet::data {

/// Options for making a matching task from the IMDb reviews.
struct MatchingOptions {
  double evaluation_fraction = 0.1;  // fraction of the training reviews that become evaluation pairs; in (0, 1)
  uint64_t seed = 0;
};

struct MatchingCounts {
  int64_t train = 0, evaluation = 0, test = 0;  // numbers of pairs
  int64_t left_out = 0;                         // number of reviews with fewer than two words
  int64_t repeated = 0;                         // number of reviews left out because another review has the same text
  std::vector<std::string> notes{};             // notes about files that are not reviews
};

/// Writes imdb_pairs.train.tsv, .eval.tsv and .test.tsv (the form of read_matching) into a new folder, which appears
/// when all three files are complete. A review is cut in two at the space nearest its middle; tabs and line ends become
/// spaces. Each first half occurs twice: with its own second half (label 1), and with a second half of another review
/// of the same file (label 0). Each second half of a review also occurs in one pair with label 1 and in one pair with
/// label 0, so that no half alone reveals the label. The two reviews of a pair have similar lengths, so that the
/// lengths do not reveal the label. The test pairs are made of test reviews. If several reviews have equal texts (by
/// split_key()), only one is used, a training review if possible. Throws io::Error and std::invalid_argument.
MatchingCounts write_matching_folder(const std::filesystem::path& imdb, const std::filesystem::path& folder,
                                     const MatchingOptions& options);

}  // namespace cachet::data
