#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cachet/io/tensors/safetensors/safetensors.h"
#include "tests/support/oracle_folder.h"

namespace cachet::test {

/// A fixture of numbers to reproduce: tensors by name, and its configuration as metadata
/// (tests/data/oracles/README.md).
struct Oracle {
  std::string name;
  io::TensorMap tensors;
  nlohmann::json metadata;  // numbers, lists and objects parsed; booleans 1 or 0

  bool has(const std::string& key) const { return tensors.count(key) > 0; }
  /// The tensor in float64 where it is floating.
  at::Tensor operator[](const std::string& key) const {
    const at::Tensor& tensor = tensors.at(key);
    return tensor.is_floating_point() ? tensor.to(at::kDouble) : tensor;
  }
  at::Tensor step(int64_t i, const std::string& key) const { return (*this)["step" + std::to_string(i) + "." + key]; }
  bool has_step(int64_t i, const std::string& key) const { return has("step" + std::to_string(i) + "." + key); }
  int64_t integer(const std::string& key) const { return metadata.at(key).get<int64_t>(); }
  double real(const std::string& key) const { return metadata.at(key).get<double>(); }
  bool flag(const std::string& key) const { return metadata.contains(key) && metadata[key] == 1; }

  /// The tensors below a prefix, without it, in float64.
  io::TensorMap below(const std::string& prefix) const {
    io::TensorMap found;
    for (const auto& [key, tensor] : tensors)
      if (key.starts_with(prefix)) found.emplace(key.substr(prefix.size()), (*this)[key]);
    return found;
  }
};

inline Oracle load_oracle(const std::string& name) {
  io::Safetensors file = io::read_safetensors(oracle_folder() / (name + ".safetensors"));
  Oracle oracle{name, std::move(file.tensors), {}};
  for (const auto& [key, text] : file.metadata) {
    auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    oracle.metadata[key] = value.is_discarded() ? nlohmann::json(text) : value;
  }
  return oracle;
}

/// The names of all fixtures that begin with one of the prefixes and, where given, satisfy `keep`.
template <class Keep>
std::vector<std::string> oracles_where(const std::vector<std::string>& prefixes, const Keep& keep) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(oracle_folder())) {
    const std::string name = entry.path().stem().string();
    const bool wanted =
        std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& p) { return name.starts_with(p); });
    if (wanted && entry.path().extension() == ".safetensors" && keep(load_oracle(name))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::string> oracles(const std::vector<std::string>& prefixes) {
  return oracles_where(prefixes, [](const Oracle&) { return true; });
}

/// Holds results to a fixture at its tolerance, |a − b| ≤ 1e-9 · max(1, max|b|), which the fixtures' README gives as
/// the distance of float64 implementations that order their sums differently. Prints the largest error seen.
class Comparison {
 public:
  /// Fused operators compute in float32: tolerance kFloat32 is that of its roundings over a few chained products.
  static constexpr double kFloat64 = 1e-9, kFloat32 = 1e-5;
  explicit Comparison(std::string name, double tolerance = kFloat64) : name_(std::move(name)), tolerance_(tolerance) {}
  ~Comparison() {
    std::cout << "[  oracle  ] " << std::left << std::setw(26) << name_ << " largest error " << std::scientific
              << std::setprecision(1) << largest_ << " over " << compared_ << " tensors" << std::defaultfloat
              << std::endl;
    EXPECT_GT(compared_, 0) << name_ << " compared nothing";
  }

  void close(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
    ++compared_;
    ASSERT_TRUE(actual.defined()) << name_ << ' ' << what << " is undefined";
    ASSERT_EQ(actual.sizes(), expected.sizes()) << name_ << ' ' << what;
    if (expected.numel() == 0) return;
    const double scale = std::max(1.0, expected.abs().max().item<double>());
    const double error = (actual.to(expected.scalar_type()) - expected).abs().max().item<double>() / scale;
    largest_ = std::max(largest_, error);
    EXPECT_LE(error, tolerance_) << name_ << ' ' << what;
  }

 private:
  std::string name_;
  double tolerance_;
  double largest_ = 0;
  int64_t compared_ = 0;
};

}  // namespace cachet::test
