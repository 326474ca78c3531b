#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/data/text/sequences/sequence_options.h"

namespace cachet::data {

/// Returns a description of the files that the folder of the data should have.
std::string expected_files(const SequenceDatasetOptions& options);

/// Finds the folder of `root`. If the folder is missing, throws io::Error, which names the paths that were tried and
/// the files that the folder should hold.
std::filesystem::path find_sequence_root(const SequenceDatasetOptions& options,
                                         const std::filesystem::path& working_folder);

/// Whether a data set stores the names and keys of its sequences (SequenceOrigins). Functions that compare the splits
/// of a data set need the stored names and keys of the sequences.
enum class KeepOrigins { no, yes };

/// Reads one split. If options.class_names is not empty, labels are indices in that list, matched by name
/// (class_matching.h). On any fault, throws io::Error, which names the file and, if known, the line.
std::shared_ptr<const SequenceDataset> open_sequence_dataset(
    const SequenceDatasetOptions& options, SequenceSplit split,
    const std::filesystem::path& working_folder = std::filesystem::current_path(), KeepOrigins keep = KeepOrigins::no);

}  // namespace cachet::data
