#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/data/folder_walk.h"
#include "cachet/data/split_overlap.h"

namespace cachet::tasks {

/// What a look at the splits of a recipe's data shows.
struct DataLook {
  std::vector<data::SplitOverlap> overlaps{};   // of each evaluation split that is there with the training data
  std::vector<data::PassedOver> passed_over{};  // of each split whose reader goes through folders
  std::string not_compared{};                   // why the splits cannot be compared; empty if they are
};

/// The note for data whose texts do not exist any more.
inline constexpr const char* kOnlyTokens = "the texts are there as files of tokens only";

/// A line for the user: "12 of 1,000 test images are also in the training data (the first: A = B)", of all splits that
/// share samples with the training data, or why that is not known. Nothing if no sample is shared.
std::optional<std::string> overlap_text(const DataLook& look);

/// A line about the files that were passed over in all splits; nothing if there are none.
std::optional<std::string> passed_over_text(const DataLook& look);

}  // namespace cachet::tasks
