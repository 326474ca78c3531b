#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cachet::data {

/// How a matching task is made of the IMDb reviews.
struct MatchingOptions {
  double evaluation_fraction = 0.1;  // fraction of the training reviews with pairs for evaluation, in (0, 1)
  uint64_t seed = 0;
};

struct MatchingCounts {
  int64_t train = 0, evaluation = 0, test = 0;  // pairs
  int64_t left_out = 0;                         // reviews without two words
  int64_t repeated = 0;                         // reviews whose text another has, which were left out
  std::vector<std::string> notes{};             // about files that are not reviews
};

/// Writes imdb_pairs.train.tsv, .eval.tsv and .test.tsv (the form of read_matching) in a new folder, which appears when
/// all three are whole. A review is cut in two at the space nearest its middle; tabs and line ends become spaces. Each
/// first half occurs twice, with its own second half (label 1) and with that of another review of the same file (label
/// 0), as each second half does: no half alone reveals its label. The other review is about as long, so lengths do not
/// reveal it, either. Those
/// of test are test reviews. No text serves twice: of reviews with one text (by split_key()) one is used, a training
/// review if there is one. Throws io::Error, std::invalid_argument.
MatchingCounts write_matching_folder(const std::filesystem::path& imdb, const std::filesystem::path& folder,
                                     const MatchingOptions& options);

}  // namespace cachet::data
