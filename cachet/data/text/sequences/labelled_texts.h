#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_builder.h"

namespace cachet::data {

/// What the file of a split is called: "train.tsv", "validation.tsv", "test.tsv".
std::string labelled_texts_file_name(SequenceSplit split);

/// Reads the file of a split, plain, .gz or .xz: a line a sample, the name of its class and its text with a tab between
/// them, no header, no quoting. Throws io::Error that names file and line, also for a class that is not among
/// `class_names`.
std::shared_ptr<const SequenceDataset> read_labelled_texts(const std::filesystem::path& folder, SequenceSplit split,
                                                           const std::vector<std::string>& class_names,
                                                           const TextEncoder& encoder, const SequenceRules& rules);

}  // namespace cachet::data
