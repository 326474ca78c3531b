#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// The files with the pairs of a split: two files with matching lines, or one .tsv file (then both paths are the same).
struct ParallelFiles {
  std::filesystem::path source{}, target{};
  bool is_tsv() const { return source == target; }
  std::string name() const;  // "train.de and train.en", with the common folder before them
};

/// Finds the files of a split, in the order in which they are read. Throws io::Error if the split has no files, or if
/// one side of the parallel text is missing.
std::vector<ParallelFiles> find_parallel_files(const ParallelOptions& options, SequenceSplit split,
                                               const std::filesystem::path& root);

/// Finds the files of tokens of a training text ("train.de.tokens-cachet", made by `cachet data tokens`), in the order
/// of the text's files. If the file of tokens of any part of the text is missing, in either language, the list
/// is empty.
std::vector<ParallelFiles> find_parallel_token_files(const ParallelOptions& options, const std::filesystem::path& root);
std::string parallel_token_file_name(const std::string& stem, const std::string& language);

/// Returns the prefixes of a split's file names: the prefixes in `options`, or else the first default prefix (such as
/// "train") with files. Throws io::Error if `options` has no prefixes and no default prefix has files.
std::vector<std::string> parallel_stems(const ParallelOptions& options, SequenceSplit split,
                                        const std::filesystem::path& root);

/// A function that receives a sentence and its translation, exactly as they are in the files.
using TakePair = std::function<void(std::string_view source, std::string_view target)>;

/// Calls `take` with each pair. Plain files are read in pieces; .gz and .xz files are unpacked as a whole, up to 8 GiB.
/// Throws io::Error, which names the file and the line, for files of unequal length, empty files, rows with another
/// number of columns, and lines of more than 16 MiB.
void read_pairs(const ParallelFiles& files, const ParallelOptions& options, const TakePair& take);

/// Calls `take` with each pair of corresponding lines of two texts. Error messages begin with the names of the texts.
void read_pair_lines(const io::ByteSource& source, const std::string& source_name, const io::ByteSource& target,
                     const std::string& target_name, const TakePair& take);
/// Reads a text with a sentence and its translation in each line, like read_pairs(). Throws std::invalid_argument if a
/// column is missing.
void read_pair_rows(const io::ByteSource& text, const std::string& name, const ParallelOptions& options,
                    const TakePair& take);

}  // namespace cachet::data
