#pragma once

#include <memory>
#include <string>

#include "cachet/data/text/listops/listops_generator.h"
#include "cachet/data/text/sequences/sequence_builder.h"
#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// Reads a file of the Long Range Arena: a header "Source\tTarget", then one expression and its value in each line.
/// Throws io::Error, which names the file and the line.
std::shared_ptr<const SequenceDataset> read_listops(const io::ByteSource& source, const std::string& name,
                                                    const SequenceRules& rules);

/// Reads <files>_train.tsv, <files>_val.tsv or <files>_test.tsv of a folder; the file may end in .gz or .xz.
std::shared_ptr<const SequenceDataset> read_listops_file(const std::filesystem::path& folder, const std::string& files,
                                                         SequenceSplit split, const SequenceRules& rules);

/// Generates basic_train.tsv, basic_val.tsv and basic_test.tsv in a new folder. The folder appears only when all three
/// files are complete. During the generation, generate_listops() calls `progress`. Throws io::Error if the folder is
/// not empty.
ListOpsStatistics write_listops_folder(const std::filesystem::path& folder, const ListOpsOptions& options,
                                       const WatchListOps& progress = {});

}  // namespace cachet::data
