#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cachet::train {

/// Named numbers such as "loss", "top1" and "perplexity", in the order in which they were first set.
class Metrics {
 public:
  Metrics() = default;
  Metrics(std::initializer_list<std::pair<std::string, double>> values);

  void set(std::string_view name, double value);
  std::optional<double> find(std::string_view name) const;
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool operator==(const Metrics&) const = default;

 private:
  std::vector<std::pair<std::string, double>> values_;
};

/// An unfinished mean: a total and the count that divides it.
struct MetricSum {
  std::string name;  // "top1"
  double total = 0;  // number of right answers
  double count = 0;  // number of answers
};

/// Numbers of one step that belong together, such as σ(λ) of a layer's heads, or the filtered steps of a norm.
struct Series {
  std::string name;  // "share/blocks.0.attn"
  std::vector<double> values;
};

}  // namespace cachet::train
