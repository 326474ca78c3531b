#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cachet/metrics/bleu.h"
#include "tests/support/test_data.h"

namespace cachet::test {

inline nlohmann::json json_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return nlohmann::json::parse(file);
}

/// What tools/make_text_metric_fixtures.py wrote.
inline nlohmann::json sacrebleu_fixtures() { return json_of(test::test_data() + "/sacrebleu.json"); }

inline double allowed(double expected) { return 1e-9 * std::max(1.0, std::abs(expected)); }

inline void expect_bleu(const metrics::Bleu& actual, const nlohmann::json& expected) {
  for (size_t i = 0; i < metrics::kBleuOrders; ++i) {
    EXPECT_EQ(actual.counts.correct[i], expected.at("counts")[i].get<int64_t>());
    EXPECT_EQ(actual.counts.total[i], expected.at("totals")[i].get<int64_t>());
    const double precision = expected.at("precisions")[i];
    EXPECT_NEAR(actual.precisions[i], precision, allowed(precision));
  }
  EXPECT_EQ(actual.counts.hypothesis_length, expected.at("sys_len").get<int64_t>());
  EXPECT_EQ(actual.counts.reference_length, expected.at("ref_len").get<int64_t>());
  EXPECT_NEAR(actual.brevity_penalty, expected.at("bp").get<double>(), 1e-9);
  EXPECT_NEAR(actual.score, expected.at("score").get<double>(), allowed(expected.at("score")));
  EXPECT_EQ(actual.text(), expected.at("text").get<std::string>());
}

}  // namespace cachet::test
