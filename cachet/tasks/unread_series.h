#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cachet/train/runs/event_log.h"

namespace cachet::tasks {

/// The series of a training event, whose numbers are still on the model's device. read() copies the numbers of all
/// series to the host at once.
class UnreadSeries {
 public:
  /// A function that computes the values of a series from the numbers in the series' tensors. The function gets the
  /// numbers of each tensor as one span.
  using Values = std::function<std::vector<double>(const std::vector<std::span<const double>>& numbers)>;

  /// Adds a series whose values are the tensor's numbers.
  void add(std::string name, at::Tensor numbers);
  void add(std::string name, std::vector<at::Tensor> tensors, Values values);
  /// Returns the series with their values on the host, in the order of the calls of add().
  std::vector<train::Series> read() const;

 private:
  struct Unread {
    std::string name;
    std::vector<at::Tensor> tensors;
    Values values;
  };
  std::vector<Unread> all_;
};

}  // namespace cachet::tasks
