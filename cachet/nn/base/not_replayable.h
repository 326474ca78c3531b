#pragma once

#include <torch/nn/module.h>

#include <optional>
#include <string>

namespace cachet::nn {

/// A module whose forward pass may read a value on the host, or have sizes that depend on values. The operations of
/// such a pass cannot be recorded and replayed with other values.
class NotReplayable {
 public:
  virtual ~NotReplayable() = default;
  /// Returns the reason as a clause ("the clusters of words have sizes that depend on the tokens"), or std::nullopt if
  /// passes with the options of this module can be replayed.
  virtual std::optional<std::string> why_not_replayed() const = 0;
};

/// Returns the reason of the first module of a tree that has one, or std::nullopt.
std::optional<std::string> why_not_replayed(const torch::nn::Module& root);

}  // namespace cachet::nn
