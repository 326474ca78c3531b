#pragma once

#include <memory>
#include <string>

#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_builder.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// Reads pairs of texts in the form of the Long Range Arena's retrieval task, the ACL Anthology Network. The columns
/// are label (0 or 1, also written 0.0 or 1.0), id1, id2, text1 and text2, without header or quoting. Equal texts are
/// stored once. Throws io::Error, which names the file and the line.
std::shared_ptr<const SequenceDataset> read_matching(const io::ByteSource& source, const std::string& name,
                                                     const TextEncoder& encoder, const SequenceRules& rules);

/// Reads <files>.train.tsv, <files>.eval.tsv or <files>.test.tsv of a folder; the file may end in .gz or .xz.
std::shared_ptr<const SequenceDataset> read_matching_file(const std::filesystem::path& folder, const std::string& files,
                                                          SequenceSplit split, const TextEncoder& encoder,
                                                          const SequenceRules& rules);

/// Returns the name of the file of a split.
TsvFileName matching_file_name(const std::string& files, SequenceSplit split);

}  // namespace cachet::data
