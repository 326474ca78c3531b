#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "cachet/data/split_overlap.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/data/text/sequences/sequence_dataset.h"

namespace cachet::data {

/// Finds evaluation samples whose text (by split_key()) is also in a training sample. If the kind of data has no texts,
/// compares the tokens of samples. Both data sets must store the names and keys of their samples (SequenceOrigins).
/// `split` is the name of the evaluation split.
SplitOverlap sequence_overlap(const SequenceDataset& training, const SequenceDataset& evaluation,
                              const std::string& split);

/// Finds the pairs of each given split that have a sentence of either language (by pair_keys()) in common with a
/// training pair. The training pairs are all pairs that data.fraction selects, including pairs that training leaves out
/// because of their length. Reads the training texts once, and reports the number of read pairs to `progress`. Throws
/// io::Error for unreadable texts. Ignores token files.
std::vector<SplitOverlap> parallel_overlaps(
    const ParallelOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

/// The minimum length of a line that is compared, in characters (code points of its split_key()). Lines with fewer
/// characters than the minimum, such as headings, are often equal in unrelated texts.
inline constexpr int64_t kMinComparedCharacters = 40;

/// Finds the lines of each given split that are also lines of the training text. A sample is a line of at least
/// kMinComparedCharacters. Ignores data.fraction and data.limit, because these count tokens, not lines.
std::vector<SplitOverlap> corpus_overlaps(
    const CorpusOptions& options, std::span<const SequenceSplit> splits, const LookProgress& progress = {},
    const std::filesystem::path& working_folder = std::filesystem::current_path());

}  // namespace cachet::data
