#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cachet::data {

/// Options for splitting the pairs of one file into three splits.
struct PairSplitOptions {
  std::vector<std::string> columns{};  // language of each column; "-" for an ignored column; two have a language
  std::string by{};                    // language whose sentences are counted; empty: the first column's language
  int64_t held_out = 1000;             // number of counted sentences for validation, and as many for the test
  uint64_t seed = 0;
};

struct PairSplitCounts {
  int64_t train = 0, validation = 0, test = 0;  // numbers of pairs
  int64_t sentences = 0;                        // number of different sentences of the counted language
  int64_t groups = 0;                           // number of groups of pairs that stay together
  int64_t largest_group = 0;                    // number of pairs of the largest group
  int64_t empty = 0;                            // number of rows left out for an empty side
  int64_t repeated = 0;                         // number of rows left out because an earlier row is equal
  bool byte_order_mark = false;                 // whether the file begins with a byte-order mark
};

/// Splits a .tsv file (plain, .gz or .xz) of sentences and translations at random. Pairs that share a sentence on
/// either side stay in one split (SampleGroups; sentences are compared by split_key()). So no sentence of either
/// language is used both for training and for testing. Writes the splits train, valid and test into a new folder, with
/// a file for each language ("train.de") and pairs in random order. The new folder appears only when all its files are
/// complete. Throws io::Error for damaged rows and too few sentences, and std::invalid_argument for invalid options.
PairSplitCounts write_pair_folder(const std::filesystem::path& tsv, const std::filesystem::path& folder,
                                  const PairSplitOptions& options, bool replace = false);

/// Whether a folder holds only files that write_pair_folder() makes for the languages `columns`.
bool is_pair_folder(const std::filesystem::path& folder, const std::vector<std::string>& columns);

}  // namespace cachet::data
