#include "cachet/train/optimizer/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cachet/io/files/read_file.h"
#include "cachet/train/options.h"
#include "tests/support/test_data.h"

namespace cachet::train {
namespace {

Options options_of(const std::string& recipe) {
  auto document = config::Document::from_text(recipe, "recipe");
  const Options options = read_options(document.root());
  document.finish();
  return options;
}

// tools/make_schedule_fixtures.py made the file: what other codes compute for the same recipe, in float64.
TEST(Schedule, IsTheOtherCodes) {
  const auto file = std::filesystem::path(test::test_data()) / "schedules.json";
  const auto fixtures = nlohmann::json::parse(io::read_text_file(file, 1 << 20));
  std::map<std::string, int> cases;
  for (const auto& fixture : fixtures.at("cases")) {
    const auto recipe = fixture.at("recipe").get<std::string>();
    SCOPED_TRACE(fixture.at("code").get<std::string>() + "\n" + recipe);
    const Options options = options_of(recipe);
    const double peak = options.optimizer.learning_rate;
    const Schedule schedule(options.schedule, peak, fixture.at("total_steps").get<int64_t>(),
                            fixture.at("steps_per_epoch").get<int64_t>());
    const auto steps = fixture.at("steps").get<std::vector<int64_t>>();
    const auto rates = fixture.at("rates").get<std::vector<double>>();
    ASSERT_EQ(steps.size(), rates.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      // PyTorch's cosine multiplies from step to step: 5,000 roundings.
      EXPECT_NEAR(schedule.learning_rate(steps[i]), rates[i], 1e-12 * peak) << "step " << steps[i];
      EXPECT_EQ(schedule.rates(steps[i]).momentum.has_value(), fixture.contains("momenta"));
      if (fixture.contains("momenta")) {
        EXPECT_NEAR(schedule.momentum(steps[i]).value(), fixture["momenta"][i].get<double>(), 1e-14)
            << "step " << steps[i];
      }
    }
    ++cases[fixture.dump()];
  }
  EXPECT_EQ(cases.size(), fixtures.at("cases").size()) << "no case comes twice";
}

// Where fairseq and the arena start, and where the option starts one update later.
TEST(Schedule, TheFirstUpdateMayTrain) {
  for (const std::string kind : {"inverse_sqrt", "arena"}) {
    const std::string recipe = "[schedule]\nkind = \"" + kind + "\"\nwarmup = \"4 steps\"\n";
    const auto first = [&](const std::string& more) {
      const Options options = options_of(recipe + more);
      return Schedule(options.schedule, 0.4, 100, 10).learning_rate(0);
    };
    EXPECT_EQ(first(""), 0) << kind;
    EXPECT_GT(first("first_update = 1"), 0) << kind;
    EXPECT_GT(first("warmup_from = 1e-7"), 0) << kind;
  }
}

/// What a recipe of the checkout trains with. Every one here has a limit in steps.
struct RecipeSchedule {
  explicit RecipeSchedule(const std::string& name)
      : options(options_of_file(name)),
        schedule(options.schedule, options.optimizer.learning_rate, options.train.limit->steps(1), 1) {}
  /// As a fraction of the peak.
  double rate(int64_t step) const { return schedule.learning_rate(step) / options.optimizer.learning_rate; }

  static Options options_of_file(const std::string& name) {
    const auto recipes = std::filesystem::path(test::test_data()).parent_path().parent_path() / "recipes";
    auto document = config::Document::from_file(recipes / name);
    return read_options(document.root());
  }
  Options options;
  Schedule schedule;
};

TEST(Schedule, OfARecipeIsThatOfItsSource) {
  // mlpen/Nystromformer, LRA/code: OneCycleLR with anneal_strategy "linear", eps 1e-6.
  const RecipeSchedule text("lra/lra_small_text.toml"), listops("lra/lra_small_listops.toml"),
      matching("lra/lra_small_matching.toml");
  EXPECT_NEAR(text.rate(19'000), 0.083254, 1e-6) << "a cosine would have 0.0170";
  EXPECT_DOUBLE_EQ(text.rate(7999), 1);
  EXPECT_DOUBLE_EQ(listops.rate(999), 1);
  EXPECT_DOUBLE_EQ(matching.rate(799), 1);
  for (const RecipeSchedule* recipe : {&text, &listops, &matching}) {
    EXPECT_DOUBLE_EQ(recipe->rate(0), 1.0 / 25);
    EXPECT_DOUBLE_EQ(recipe->schedule.momentum(0).value(), 0.95);
    EXPECT_EQ(recipe->options.optimizer.epsilon, 1e-6);
  }
  // fairseq from --warmup-init-lr, and the arena, whose first step has the rate 0.
  const RecipeSchedule iwslt("translation/iwslt14_de_en.toml"), arena("lra/lra_text.toml");
  EXPECT_DOUBLE_EQ(iwslt.schedule.learning_rate(0), 1e-7);
  EXPECT_DOUBLE_EQ(iwslt.rate(6000), 1);
  EXPECT_EQ(arena.rate(0), 0);
  EXPECT_DOUBLE_EQ(arena.rate(8000), 1 / std::sqrt(8000.0));
}

// PyTorch divides by zero there.
TEST(OneCycle, AWarmUpOfOneStepIsAtThePeak) {
  const OneCycle cycle({}, 0.5, 10, /*warmup=*/1);
  EXPECT_DOUBLE_EQ(cycle.learning_rate(0), 0.5);
  EXPECT_LT(cycle.learning_rate(1), 0.5);
  EXPECT_DOUBLE_EQ(cycle.momentum(0), 0.85);
}

TEST(OneCycle, AWarmUpLongerThanTheRunIsOnlyClimbed) {
  const OneCycle cycle({}, 0.5, 10, /*warmup=*/100);
  for (int64_t step = 1; step < 10; ++step) EXPECT_GT(cycle.learning_rate(step), cycle.learning_rate(step - 1));
}

TEST(OneCycle, AWarmUpOfNoStepsIsTheDefault) {
  const auto rates = [](const std::string& settings) {
    const Options options = options_of("[schedule]\nkind = \"one_cycle\"\n" + settings);
    const Schedule schedule(options.schedule, 0.002, 39, 13);
    std::vector<double> all;
    for (int64_t step = 0; step < 39; ++step) all.push_back(schedule.learning_rate(step));
    return all;
  };
  EXPECT_EQ(rates("warmup = \"0 steps\""), rates(""));
  EXPECT_EQ(rates("warmup = \"0 steps\"\npct_start = 0.5"), rates("pct_start = 0.5"));
  EXPECT_NE(rates("warmup = \"5 steps\""), rates(""));
}

TEST(OneCycle, StaysAtItsEnd) {
  const OneCycle cycle({}, 0.5, 10, /*warmup=*/3);
  EXPECT_DOUBLE_EQ(cycle.learning_rate(9), 0.5 / 25 / 1e4);
  EXPECT_DOUBLE_EQ(cycle.learning_rate(100), 0.5 / 25 / 1e4);
  EXPECT_DOUBLE_EQ(cycle.momentum(100), 0.95);
}

}  // namespace
}  // namespace cachet::train
