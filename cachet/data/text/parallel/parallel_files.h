#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// Where pairs of a split lie: two files, line by line, or a .tsv file (then both paths are its).
struct ParallelFiles {
  std::filesystem::path source{}, target{};
  bool is_tsv() const { return source == target; }
  std::string name() const;  // "train.de and train.en", with the folder before them once
};

/// The files of a split, in order. Throws io::Error if there are none, or if one side is missing.
std::vector<ParallelFiles> find_parallel_files(const ParallelOptions& options, SequenceSplit split,
                                               const std::filesystem::path& root);

/// Files of tokens of a training text ("train.de.tokens-cachet"), which `cachet data tokens` makes, in the same order;
/// empty unless there are some of each side of all of it.
std::vector<ParallelFiles> find_parallel_token_files(const ParallelOptions& options, const std::filesystem::path& root);
std::string parallel_token_file_name(const std::string& stem, const std::string& language);

/// The beginnings of the names of a split's files: those of the options, otherwise the usual one that exists. Throws
/// io::Error if there is none.
std::vector<std::string> parallel_stems(const ParallelOptions& options, SequenceSplit split,
                                        const std::filesystem::path& root);

/// Takes a sentence and its translation, as they lie in the files.
using TakePair = std::function<void(std::string_view source, std::string_view target)>;

/// Calls `take` with each pair: plain files in pieces, .gz and .xz unpacked as a whole, up to 8 GiB. Throws io::Error
/// that names file and line: files of unequal length, empty ones, rows of another number of columns, lines of more than
/// 16 MiB.
void read_pairs(const ParallelFiles& files, const ParallelOptions& options, const TakePair& take);

/// The same of two texts. The names begin the messages.
void read_pair_lines(const io::ByteSource& source, const std::string& source_name, const io::ByteSource& target,
                     const std::string& target_name, const TakePair& take);
/// The same of a text with both sides in a line. Throws std::invalid_argument unless the columns name both languages.
void read_pair_rows(const io::ByteSource& text, const std::string& name, const ParallelOptions& options,
                    const TakePair& take);

}  // namespace cachet::data
