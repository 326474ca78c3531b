#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "cachet/data/split_overlap.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/data/text/sequences/sequence_dataset.h"

namespace cachet::data {

/// Evaluation samples that share a text (split_key()) with a training sample; of kinds without texts, all of their
/// tokens. Both have stored their origins. `split` names the evaluation samples.
SplitOverlap sequence_overlap(const SequenceDataset& training, const SequenceDataset& evaluation,
                              const std::string& split);

/// Of each of these splits, pairs that share a sentence of either language (pair_keys()) with a training pair that
/// data.fraction keeps, also one that is left out later because of its length. The training texts are read once; the
/// progress counts pairs. Throws io::Error for texts that cannot be read: files of tokens are not looked at.
std::vector<SplitOverlap> parallel_overlaps(
    const ParallelOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

/// A line of a text is compared if it has so many characters (code points of its split_key()): short ones, such as
/// headings, are often the same in texts that have nothing else in common.
inline constexpr int64_t kMinComparedCharacters = 40;

/// The same of the lines of a text. A line with kMinComparedCharacters is a sample. Whole texts are compared:
/// data.fraction and data.limit count tokens.
std::vector<SplitOverlap> corpus_overlaps(
    const CorpusOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

}  // namespace cachet::data
