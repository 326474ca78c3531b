#include "cachet/data/text/listops/listops_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "cachet/data/text/listops/listops.h"
#include "tests/support/listops_text.h"
#include "tests/support/test_data.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::vector<ListOpsExpression> generated(const ListOpsOptions& options) {
  std::vector<ListOpsExpression> expressions;
  generate_listops(options, [&](int64_t index, const ListOpsExpression& expression) {
    EXPECT_EQ(index, static_cast<int64_t>(expressions.size()));
    expressions.push_back(expression);
  });
  return expressions;
}

std::vector<std::string> generated_sources(const ListOpsOptions& options) {
  std::vector<std::string> sources;
  for (const ListOpsExpression& expression : generated(options)) sources.push_back(expression.source);
  return sources;
}

ListOpsOptions short_expressions() {
  return {.train = 300, .validation = 20, .test = 20, .depth = 5, .longer_than = 10, .shorter_than = 60, .seed = 4};
}

TEST(ListOpsGenerator, GivesUpAfterWorkNotAfterDraws) {
  // Hardly any tree of so many arguments is neither tiny nor endless, and each endless one costs 100,000 tokens.
  const ListOpsOptions options{.train = 10, .depth = 1000, .longer_than = 99'000, .shorter_than = 100'000};
  int64_t looks = 0;
  const std::string said = test::thrown_message<std::runtime_error>([&] {
    generate_listops(
        options, [](int64_t, const ListOpsExpression&) {}, [&](int64_t) { ++looks; });
  });
  EXPECT_NE(said.find("draws gave no new expression with a length within the bounds"), std::string::npos) << said;
  EXPECT_GT(looks, 0);
}

TEST(ListOpsGenerator, MayBeStoppedWhileItFindsNone) {
  const ListOpsOptions options{.train = 10, .depth = 1000, .longer_than = 99'000, .shorter_than = 100'000};
  const auto stop = [](int64_t done) {
    EXPECT_EQ(done, 0);
    throw std::domain_error("stopped");
  };
  EXPECT_THROW(generate_listops(
                   options, [](int64_t, const ListOpsExpression&) {}, stop),
               std::domain_error);
}

TEST(ListOpsGenerator, IsAFunctionOfTheSeedWhateverTheThreads) {
  ListOpsOptions options = short_expressions();
  const auto sources = generated_sources(options);
  EXPECT_EQ(sources.size(), 340u);
  options.threads = 3;
  EXPECT_EQ(generated_sources(options), sources);
  options.train = 100;
  EXPECT_EQ(generated_sources(options), std::vector<std::string>(sources.begin(), sources.begin() + 140));
  options.seed = 5;
  EXPECT_NE(generated_sources(options)[0], sources[0]);
}

TEST(ListOpsGenerator, KeepsLengthsDepthAndArgumentsWithinBounds) {
  const ListOpsOptions options = short_expressions();
  int64_t deepest = 0, most_arguments = 0, shortest = 1000, longest = 0;
  for (const ListOpsExpression& expression : generated(options)) {
    const auto tokens = parse_listops(expression.source);
    EXPECT_EQ(test::whole_listops_text(tokens), expression.source);
    EXPECT_EQ(expression.value, evaluate_listops(tokens));
    const auto length = static_cast<int64_t>(tokens.size());
    EXPECT_EQ(expression.tokens, length);
    for (size_t i = 0; i < expression.operators.size(); ++i)
      EXPECT_EQ(expression.operators[i], std::ranges::count(tokens, static_cast<Token>(kListOpsMin + i)));
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
    std::vector<int64_t> open;  // arguments of operators
    for (const Token token : tokens) {
      if (token >= kListOpsMin && token <= kListOpsSum) {
        open.push_back(0);
        deepest = std::max(deepest, static_cast<int64_t>(open.size()));
        continue;
      }
      if (token == kListOpsClose) {
        EXPECT_GE(open.back(), 2);
        most_arguments = std::max(most_arguments, open.back());
        open.pop_back();
      }
      if (!open.empty()) ++open.back();
    }
  }
  EXPECT_EQ(deepest, options.depth - 1);
  EXPECT_EQ(most_arguments, options.arguments);
  EXPECT_EQ(shortest, options.longer_than + 1);
  EXPECT_GT(longest, options.shorter_than - 8);
  EXPECT_LT(longest, options.shorter_than);
}

TEST(ListOpsGenerator, DrawsNoExpressionTwice) {
  // One operator with two arguments: 400 of these and no more.
  ListOpsOptions options{.train = 400, .validation = 0, .test = 0, .depth = 2, .arguments = 2, .longer_than = 3};
  options.shorter_than = 5;
  const auto sources = generated_sources(options);
  EXPECT_EQ(std::set<std::string>(sources.begin(), sources.end()).size(), 400u);
  options.train = 401;
  EXPECT_EQ(test::thrown_message<std::runtime_error>([&] { generated(options); }).substr(0, 26),
            "after 400 expressions, 419");
}

// 10^-4 is the chance that a right generator fails; the seed is fixed, so that it does not fail now and then.
void expect_same_distribution(const std::vector<int64_t>& ours, const std::vector<int64_t>& theirs, const char* what) {
  ASSERT_EQ(ours.size(), theirs.size());
  double a = 0, b = 0, chi = 0;
  for (const int64_t count : ours) a += static_cast<double>(count);
  for (const int64_t count : theirs) b += static_cast<double>(count);
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto x = static_cast<double>(ours[i]), y = static_cast<double>(theirs[i]);
    chi += std::pow(x * std::sqrt(b / a) - y * std::sqrt(a / b), 2) / (x + y);
  }
  // The quantile of chi-square (Wilson and Hilferty 1931).
  const auto degrees = static_cast<double>(ours.size() - 1);
  const double most = degrees * std::pow(1 - 2 / (9 * degrees) + 3.719 * std::sqrt(2 / (9 * degrees)), 3);
  EXPECT_LT(chi, most) << what;
  std::cout << "[ histogram] " << what << ": chi-square " << chi << " of " << degrees << " degrees of freedom, below "
            << most << std::endl;
}

template <class Counts>
std::vector<int64_t> counts_of(const Counts& counts) {
  return {counts.begin(), counts.end()};
}

// The file holds what benchmarks/listops_generation.py --histograms counts over 20,000 expressions of its own
// generator.
TEST(ListOpsGenerator, DrawsFromTheDistributionOfAnIndependentOne) {
  std::ifstream file(test::test_data() + "/text/listops_histograms.json");
  const auto theirs = nlohmann::json::parse(file);
  const ListOpsOptions options{.train = 10'000, .validation = 0, .test = 0};
  const ListOpsStatistics ours = generate_listops(options, [](int64_t, const ListOpsExpression&) {});
  expect_same_distribution(counts_of(ours.lengths), theirs["lengths"], "lengths");
  expect_same_distribution(counts_of(ours.operators), theirs["operators"], "operators");
  expect_same_distribution(counts_of(ours.values), theirs["values"], "values");
  EXPECT_GT(ours.attempts, 10'000);
}

TEST(ListOpsGenerator, NamesTheOptionThatIsOutOfRange) {
  const auto complaint = [](const ListOpsOptions& options) {
    return test::thrown_message<std::invalid_argument>([&] { check(options); });
  };
  EXPECT_EQ(complaint({.train = -1}), "train must be from 0 to 100000000, not -1");
  EXPECT_EQ(complaint({.depth = 0}), "depth must be from 1 to 1000, not 0");
  EXPECT_EQ(complaint({.arguments = 1}), "arguments must be from 2 to 1000, not 1");
  EXPECT_EQ(complaint({.longer_than = 500, .shorter_than = 501}), "shorter-than must be from 502 to 1000000, not 501");
  EXPECT_EQ(complaint({.longer_than = -1}), "longer-than must be from 0 to 1000000, not -1");
  EXPECT_EQ(complaint({.threads = 0}), "threads must be from 1 to 1024, not 0");
  EXPECT_EQ(complaint({}), "(nothing thrown)");
}

}  // namespace
}  // namespace cachet::data
