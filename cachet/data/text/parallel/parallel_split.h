#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cachet::data {

/// How pairs in one file become the files of three splits.
struct PairSplitOptions {
  std::vector<std::string> columns{};  // the language of each column; "-" for one that is passed over; two have one
  std::string by{};                    // the language whose sentences are counted; empty: the first column's
  int64_t held_out = 1000;             // sentences of that language for validation, and as many for the test
  uint64_t seed = 0;
};

struct PairSplitCounts {
  int64_t train = 0, validation = 0, test = 0;  // pairs
  int64_t sentences = 0;                        // different ones of the language that is counted
  int64_t groups = 0;                           // of pairs that stay together
  int64_t largest_group = 0;                    // its pairs
  int64_t empty = 0;                            // rows left out for an empty side
  int64_t repeated = 0;                         // rows left out that stand there word for word before
  bool byte_order_mark = false;                 // whether one stood before the first row
};

/// Splits a .tsv file (plain, .gz or .xz) of sentences and translations at random. Pairs that share a sentence on
/// either side stay in one split (SampleGroups; sentences are compared by split_key()), so that no sentence of either
/// language is both trained on and tested. Writes train, valid and test, a file a language each ("train.de"), in random
/// order, into a new folder, which appears as a whole. Throws io::Error for damaged rows and for too few sentences,
/// std::invalid_argument for options that make no sense.
PairSplitCounts write_pair_folder(const std::filesystem::path& tsv, const std::filesystem::path& folder,
                                  const PairSplitOptions& options, bool replace = false);

/// Whether a folder holds what write_pair_folder() makes of these languages, and nothing else.
bool is_pair_folder(const std::filesystem::path& folder, const std::vector<std::string>& columns);

}  // namespace cachet::data
