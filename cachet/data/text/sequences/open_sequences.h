#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/data/text/sequences/sequence_options.h"

namespace cachet::data {

/// What should lie in the folder, in words.
std::string expected_files(const SequenceDatasetOptions& options);

/// The folder that `root` means. Throws io::Error that names the paths that were tried and the files that should be
/// there.
std::filesystem::path find_sequence_root(const SequenceDatasetOptions& options,
                                         const std::filesystem::path& working_folder);

/// Whether a data set knows what its sequences were made of (SequenceOrigins), so that splits can be compared.
enum class KeepOrigins { no, yes };

/// Reads one split. If options.class_names is not empty, labels are the classes of that list, found by name
/// (class_matching.h). Throws io::Error that names the file and the line or what else is wrong.
std::shared_ptr<const SequenceDataset> open_sequence_dataset(
    const SequenceDatasetOptions& options, SequenceSplit split,
    const std::filesystem::path& working_folder = std::filesystem::current_path(), KeepOrigins keep = KeepOrigins::no);

}  // namespace cachet::data
