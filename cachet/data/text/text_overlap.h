#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "cachet/data/split_overlap.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/data/text/sequences/sequence_dataset.h"

namespace cachet::data {

/// Finds evaluation samples that share a text (split_key()) with a training sample; for kinds without texts, all of
/// their tokens. Both data sets must have stored their origins. `split` is the name of the evaluation split.
SplitOverlap sequence_overlap(const SequenceDataset& training, const SequenceDataset& evaluation,
                              const std::string& split);

/// Finds, for each of these splits, pairs that share a sentence of either language (pair_keys()) with a training pair
/// that data.fraction keeps (also one that is left out later because of its length). Reads the training texts once. The
/// progress counts pairs. Throws io::Error for texts that cannot be read, but ignores files of tokens.
std::vector<SplitOverlap> parallel_overlaps(
    const ParallelOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

/// The least number of characters (code points of its split_key()) of a line that is compared. Shorter lines, such as
/// headings, are often equal in texts that have nothing else in common.
inline constexpr int64_t kMinComparedCharacters = 40;

/// Does the same for the lines of texts. A line of at least kMinComparedCharacters is a sample. Whole texts are
/// compared, because data.fraction and data.limit count tokens.
std::vector<SplitOverlap> corpus_overlaps(
    const CorpusOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

}  // namespace cachet::data
