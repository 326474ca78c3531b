#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/data/folder_walk.h"
#include "cachet/data/split_overlap.h"

namespace cachet::tasks {

/// Facts about the splits of a recipe's data, found when the data are read.
struct DataLook {
  std::vector<data::SplitOverlap> overlaps{};   // overlap of each existing evaluation split with the training data
  std::vector<data::PassedOver> passed_over{};  // files that readers of folders passed over, by split
  std::string not_compared{};                   // reason why the splits cannot be compared; empty if they were compared
};

/// The reason why splits were not compared, for texts that exist only as files of tokens.
inline constexpr const char* kOnlyTokens = "the texts exist only as files of tokens";

/// Returns a line for the user about the splits that share samples with the training data: "12 of 1,000 test images are
/// also in the training data (the first: A = B)", or why the overlap is unknown. Returns std::nullopt without overlap.
std::optional<std::string> overlap_text(const DataLook& look);

/// Returns a line with the number of files that were skipped when folders were read, added up over all splits. Returns
/// std::nullopt if no file was skipped.
std::optional<std::string> passed_over_text(const DataLook& look);

}  // namespace cachet::tasks
