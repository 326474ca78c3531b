#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "cachet/data/split_overlap.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/data/text/sequences/sequence_dataset.h"

namespace cachet::data {

/// Finds evaluation samples that share a text (by split_key()) with a training sample; for kinds without texts, samples
/// with the same tokens. Both data sets must have stored their origins. `split` is the name of the evaluation split.
SplitOverlap sequence_overlap(const SequenceDataset& training, const SequenceDataset& evaluation,
                              const std::string& split);

/// Finds, for each of these splits, the pairs that share a sentence of either language (by pair_keys()) with a training
/// pair. Training pairs are those that data.fraction keeps, even if their length excludes them later. Reads the
/// training texts once; the progress counts pairs. Throws io::Error for unreadable texts, but ignores files of tokens.
std::vector<SplitOverlap> parallel_overlaps(
    const ParallelOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

/// The least number of characters (code points of its split_key()) that a line needs to be compared. Shorter lines,
/// such as headings, are often equal in unrelated texts.
inline constexpr int64_t kMinComparedCharacters = 40;

/// Finds, for each of these splits, the lines that are also lines of the training text. A line of at least
/// kMinComparedCharacters is a sample. Compares whole texts, because data.fraction and data.limit count tokens.
std::vector<SplitOverlap> corpus_overlaps(
    const CorpusOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

}  // namespace cachet::data
