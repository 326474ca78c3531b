#include "cachet/tasks/unread_series.h"

#include <utility>

#include "cachet/train/step/host_copy.h"

namespace cachet::tasks {

void UnreadSeries::add(std::string name, at::Tensor numbers) {
  add(std::move(name), {std::move(numbers)}, [](const std::vector<std::span<const double>>& read) {
    return std::vector<double>(read[0].begin(), read[0].end());
  });
}

void UnreadSeries::add(std::string name, std::vector<at::Tensor> tensors, Values values) {
  all_.push_back({std::move(name), std::move(tensors), std::move(values)});
}

std::vector<train::Series> UnreadSeries::read() const {
  std::vector<at::Tensor> tensors;
  for (const Unread& one : all_) tensors.insert(tensors.end(), one.tensors.begin(), one.tensors.end());
  const std::vector<double> numbers = train::copy_to_host(tensors);
  std::span<const double> left = numbers;
  std::vector<train::Series> series;
  for (const Unread& one : all_) {
    std::vector<std::span<const double>> read;
    for (const at::Tensor& tensor : one.tensors) {
      const auto count = static_cast<size_t>(tensor.numel());
      read.push_back(left.first(count));
      left = left.subspan(count);
    }
    series.push_back({one.name, one.values(read)});
  }
  return series;
}

}  // namespace cachet::tasks
