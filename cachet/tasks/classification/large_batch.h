#pragma once

#include <cstdint>
#include <string>

#include "cachet/config/counted.h"
#include "cachet/train/options.h"

namespace cachet::tasks {

/// Returns the error message for a batch that has more samples than the training data. The message names the `options`
/// of the data that leave out samples. `one` and `many` are words such as "training image" and "training images".
template <class DataOptions>
std::string large_batch_text(const train::TrainOptions& training, int64_t samples, const DataOptions& options,
                             const char* one, const char* many) {
  std::string keys;
  const auto add = [&](const char* key) { keys += (keys.empty() ? "" : " and ") + std::string(key); };
  if (options.validation_fraction > 0) add("data.validation_fraction");
  if (options.fraction < 1) add("data.fraction");
  if (options.limit > 0) add("data.limit");
  return train::shared_batch_text(training) + " is more than the " + config::counted(samples, one, many) +
         (keys.empty() ? "" : " that remain after " + keys) + "; lower train.batch_size";
}

}  // namespace cachet::tasks
