#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_builder.h"

namespace cachet::data {

/// Returns the name of a split's file: "train.tsv", "validation.tsv", "test.tsv".
std::string labelled_texts_file_name(SequenceSplit split);

/// Reads the file of a split; the file may end in .gz or .xz. Each line is a sample: the name of its class, a tab, and
/// its text. The file of a split has no header line, and its fields are not quoted. Throws io::Error, which names the
/// file and the line, for an invalid line and for a class that is not in `class_names`.
std::shared_ptr<const SequenceDataset> read_labelled_texts(const std::filesystem::path& folder, SequenceSplit split,
                                                           const std::vector<std::string>& class_names,
                                                           const TextEncoder& encoder, const SequenceRules& rules);

}  // namespace cachet::data
