#pragma once

#include <string>

namespace cachet::train {

/// The words for the samples of a task, such as "sample" and "samples/s".
struct SampleWords {
  std::string one = "sample", many = "samples";
  std::string rate = "samples/s";
  std::string held_out = "test";  // name of the split that evaluations use

  bool operator==(const SampleWords&) const = default;
};

}  // namespace cachet::train
