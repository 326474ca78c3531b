#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/data/folder_walk.h"
#include "cachet/data/split_overlap.h"

namespace cachet::tasks {

/// The facts that become known when the splits of a recipe's data are read.
struct DataLook {
  std::vector<data::SplitOverlap> overlaps{};   // overlap of each existing evaluation split with the training data
  std::vector<data::PassedOver> passed_over{};  // files passed over, for each split whose reader searches folders
  std::string not_compared{};                   // reason why the splits cannot be compared; empty if they were compared
};

/// The note for data whose texts no longer exist.
inline constexpr const char* kOnlyTokens = "the texts exist only as files of tokens";

/// Returns a line for the user on the splits that share samples with the training data: "12 of 1,000 test images are
/// also in the training data (the first: A = B)", or the reason why this is not known. Empty if no sample is shared.
std::optional<std::string> overlap_text(const DataLook& look);

/// Returns a line on the files that were passed over in all splits; empty if there are none.
std::optional<std::string> passed_over_text(const DataLook& look);

}  // namespace cachet::tasks
