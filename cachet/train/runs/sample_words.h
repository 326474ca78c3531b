#pragma once

#include <string>

namespace cachet::train {

/// What a task calls its samples.
struct SampleWords {
  std::string one = "sample", many = "samples";
  std::string rate = "samples/s";
  std::string held_out = "test";  // the split that evaluation looks at

  bool operator==(const SampleWords&) const = default;
};

}  // namespace cachet::train
