#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cachet::analysis {

/// Values for each layer, in the order in which the layers were first used: the order of the model's forward
/// pass.
template <class T>
class ByLayer {
 public:
  /// Creates a new entry if the layer has not been seen yet.
  T& operator[](const std::string& layer) {
    return find_or_add(layer, [] { return T(); });
  }
  template <class Make>
  T& find_or_add(const std::string& layer, const Make& make) {
    const auto found = std::ranges::find(layers_, layer, &std::pair<std::string, T>::first);
    if (found != layers_.end()) return found->second;
    return layers_.emplace_back(layer, make()).second;
  }

  bool empty() const { return layers_.empty(); }
  size_t size() const { return layers_.size(); }
  auto begin() const { return layers_.begin(); }
  auto end() const { return layers_.end(); }

 private:
  std::vector<std::pair<std::string, T>> layers_;
};

}  // namespace cachet::analysis
