#pragma once

#include <memory>
#include <string>

#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_builder.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// Reads pairs of texts in the form of the arena's retrieval task, the ACL Anthology Network. Columns: label (0 or 1,
/// or 0.0 and 1.0), id1, id2, text1, text2; no header, no quoting. Equal texts are stored once. Throws io::Error that
/// names file and line.
std::shared_ptr<const SequenceDataset> read_matching(const io::ByteSource& source, const std::string& name,
                                                     const TextEncoder& encoder, const SequenceRules& rules);

/// Reads <files>.train.tsv, .eval.tsv or .test.tsv of a folder, plain, .gz or .xz.
std::shared_ptr<const SequenceDataset> read_matching_file(const std::filesystem::path& folder, const std::string& files,
                                                          SequenceSplit split, const TextEncoder& encoder,
                                                          const SequenceRules& rules);

/// Returns the name of a split's file.
TsvFileName matching_file_name(const std::string& files, SequenceSplit split);

}  // namespace cachet::data
