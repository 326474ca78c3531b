#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/folder_walk.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_builder.h"

namespace cachet::data {

/// One of the IMDb reviews (Maas et al. 2011). Each review is a file.
struct Review {
  std::filesystem::path path;
  std::string id;     // such as "train/pos/0_9"
  int64_t label = 0;  // 0 = negative, 1 = positive
};

struct FoundReviews {
  std::vector<Review> reviews{};
  PassedOver passed_over{"a .txt file", ".txt files"};
};

/// Finds the .txt files below <root>/<split>/neg and <root>/<split>/pos, ordered by label and name. `split` is "train"
/// or "test". Ignores hidden files. Throws io::Error if a folder is missing or has no .txt file.
FoundReviews find_reviews(const std::filesystem::path& root, const std::string& split);

/// Reads the bytes of a review. Throws io::Error if the review has more than 1 MiB.
std::string read_review(const Review& review);

/// Reads the reviews of one split: the folder "train" or "test".
std::shared_ptr<const SequenceDataset> read_imdb(const std::filesystem::path& root, const std::string& split,
                                                 const TextEncoder& encoder, const SequenceRules& rules);

}  // namespace cachet::data
