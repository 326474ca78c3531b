#pragma once

#include <string>

namespace cachet::train {

/// The names of a task's samples.
struct SampleWords {
  std::string one = "sample", many = "samples";
  std::string rate = "samples/s";
  std::string held_out = "test";  // the split of evaluations

  bool operator==(const SampleWords&) const = default;
};

}  // namespace cachet::train
