#include "cachet/models/language/token_sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/oracle_folder.h"

namespace cachet {
namespace {

using models::SamplingOptions;

TEST(SamplingOracle, DistributionsAndDrawsAreReproduced) {
  const auto fixture = nlohmann::json::parse(std::ifstream(test::oracle_folder() / "sampling.json"));
  ASSERT_FALSE(fixture.at("cases").empty());
  for (const auto& given : fixture.at("cases")) {
    const auto scores = fixture.at("logits").at(given.at("logits").get<std::string>()).get<std::vector<double>>();
    const auto previous = given.at("previous").get<std::vector<int64_t>>();
    const SamplingOptions options{given.at("penalty"), given.at("temperature"), given.at("top_k"), given.at("top_p")};
    const auto probabilities = models::sampling_distribution(scores, previous, options);
    const auto expected = given.at("probabilities").get<std::vector<double>>();
    const std::string label = given.dump().substr(0, 120);
    ASSERT_EQ(probabilities.size(), expected.size()) << label;
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(probabilities[i], expected[i], 1e-9) << label;
    EXPECT_EQ(std::ranges::count_if(probabilities, [](double p) { return p > 0; }),
              std::ranges::count_if(expected, [](double p) { return p > 0; }))
        << label;
    EXPECT_EQ(models::greedy_token(scores, previous, options.repetition_penalty), given.at("greedy")) << label;
    const auto uniforms = given.at("uniforms").get<std::vector<double>>();
    const auto drawn = given.at("drawn").get<std::vector<int64_t>>();
    for (size_t i = 0; i < uniforms.size(); ++i)
      EXPECT_EQ(models::drawn_token(probabilities, uniforms[i]), drawn[i]) << label << ", uniform " << uniforms[i];
  }
}

TEST(Sampling, RefusesOptionsThatMakeNoSense) {
  const std::vector<double> scores{1, 2};
  for (const SamplingOptions& options :
       {SamplingOptions{0.0}, SamplingOptions{1.0, -0.1}, SamplingOptions{1.0, 1.0, -1},
        SamplingOptions{1.0, 1.0, 0, 0.0}, SamplingOptions{1.0, 1.0, 0, 1.1}})
    EXPECT_THROW(models::sampling_distribution(scores, {}, options), std::invalid_argument);
  const std::vector<int64_t> unknown{2};
  EXPECT_THROW(models::sampling_distribution(scores, unknown, {2.0}), std::invalid_argument);
}

}  // namespace
}  // namespace cachet
