#include "cachet/train/options.h"

#include <gtest/gtest.h>

#include <chrono>

#include "cachet/ops/support/processor.h"
#include "cachet/train/optimizer/schedule.h"
#include "cachet/train/step/precision.h"
#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

Options train_options_of(const std::string& recipe) {
  config::Document document = config::Document::from_text(recipe, "r.toml");
  const Options options = read_options(document.root());
  document.finish();
  return options;
}

TEST(TrainOptions, AreReadFromTheirTables) {
  const Options options = train_options_of(R"(
[train]
epochs = 7
accumulate = 3
precision = "bf16"
log_every = "10 steps"
evaluate_every = "2 epochs"
limit = "500 steps"
patience = 4
[optimizer]
kind = "sgd"
lr = 0.5
nesterov = true
[schedule]
kind = "linear"
warmup = "1 epoch"
)");
  EXPECT_EQ(options.train.epochs, 7);
  EXPECT_EQ(options.train.accumulate, 3);
  EXPECT_EQ(options.train.precision, Precision::bfloat16);
  EXPECT_EQ(options.train.log_every, (Duration{10, Duration::Unit::steps}));
  EXPECT_EQ(options.train.evaluate_every, (Duration{2, Duration::Unit::epochs}));
  EXPECT_EQ(options.train.limit, (Duration{500, Duration::Unit::steps}));
  EXPECT_EQ(options.train.patience, 4);
  EXPECT_EQ(options.optimizer.kind, OptimizerOptions::Kind::sgd);
  EXPECT_TRUE(options.optimizer.nesterov);
  EXPECT_EQ(options.schedule.kind, ScheduleOptions::Kind::linear);
  EXPECT_EQ(options.schedule.warmup.steps(40), 40);
}

TEST(TrainOptions, AnEmptyLimitTakesThatOfABaseAway) {
  config::Document document = config::Document::from_text("[train]\nlimit = \"500 steps\"", "base.toml");
  document.set("train.limit=\"\"");
  EXPECT_FALSE(read_options(document.root()).train.limit);
  EXPECT_NO_THROW(document.finish());
}

TEST(TrainOptions, KeepWhatTheMachineChose) {
  config::Document document = config::Document::from_text("[train]\nprecision = \"auto\"", "r.toml");
  const Precision chosen = read_options(document.root()).train.precision;
  EXPECT_EQ(chosen, precision_of_machine({}));
  const std::string text = document.resolved_toml(/*with_origins=*/false);
  EXPECT_NE(text.find(chosen == Precision::bfloat16 ? "precision = \"bf16\"" : "precision = \"fp32\""),
            std::string::npos)
      << text;
  EXPECT_EQ(precision_of_machine({DeviceChoice::Kind::cuda}), Precision::bfloat16);
  EXPECT_EQ(precision_of_machine({DeviceChoice::Kind::cpu}),
            ops::has_bfloat16_products() ? Precision::bfloat16 : Precision::float32);
}

TEST(Bfloat16TimeRatio, IsARatioInLessThanASecond) {
  const auto start = std::chrono::steady_clock::now();
  const double ratio = bfloat16_time_ratio();
  EXPECT_GT(ratio, 0.01);
  EXPECT_LT(ratio, 100);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));  // on a busy machine
}

TEST(TrainOptions, NameWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[train]\nbatch_size = 0", "train.batch_size"},
      {"[train]\nbatch_size = -1", "train.batch_size"},
      {"[train]\nepochs = 1.5", "train.epochs"},
      {"[train]\nprecision = \"fp16\"", "train.precision"},
      {"[train]\nlog_every = \"5\"", "train.log_every"},
      {"[train]\nlog_every = \"0 steps\"", "train.log_every"},
      {"[train]\nlimit = \"3 weeks\"", "train.limit"},
      {"[train]\nema_decay = 1.0", "train.ema_decay"},
      {"[train]\nema_warmup = true", "train.ema_warmup: has no effect without averaged weights"},
      {"[train]\nema_renew_states = 5", "train.ema_renew_states: has no effect without averaged weights"},
      {"[train]\nema_decay = 0.9\nema_renew_states = -1", "train.ema_renew_states"},
      {"[train]\nepoch = 3", "train.epoch"},
      {"[optimizer]\nlr = 0", "optimizer.lr"},
      {"[optimizer]\nlr = nan", "optimizer.lr"},
      {"[optimizer]\nbetas = [0.9]", "optimizer.betas"},
      {"[optimizer]\nbetas = [0.9, 1.0]", "optimizer.betas"},
      {"[optimizer]\nkind = \"sgd\"\nmomentum = 0\nnesterov = true", "optimizer.nesterov"},
      {"[optimizer]\nmomentum = 0.9", "optimizer.momentum"},
      {"[schedule]\nminimum = 1.0", "schedule.minimum"},
      {"[schedule]\nkind = \"arena\"", "schedule.warmup"},
      {"[schedule]\nkind = \"step\"", "schedule.milestones"},
      {"[schedule]\nkind = \"step\"\nmilestones = []", "schedule.milestones"},
      {"[schedule]\nkind = \"step\"\nmilestones = [8, 11]",
       "schedule.milestones: \"8\" is not a duration of training; set a number of at least 1 with a unit"},
      {"[schedule]\nkind = \"step\"\nmilestones = [\"8 weeks\"]", "\"8 weeks\" is not a duration of training"},
      {"[schedule]\nkind = \"step\"\nmilestones = [\"0 epochs\"]", "a number of at least 1"},
      {"[schedule]\nkind = \"step\"\nmilestones = [\"11 epochs\", \"8 epochs\"]", "is not after \"11 epochs\""},
      {"[schedule]\nkind = \"step\"\nmilestones = [\"8 epochs\"]\nfactor = 1.5", "schedule.factor"},
      {"[schedule]\nkind = \"step\"\nmilestones = [\"8 epochs\"]\nwarmup_factor = -1.0", "schedule.warmup_factor"},
      {"[schedule]\nkind = \"step\"\nmilestones = [\"8 epochs\"]\nwarmup_from = 0.1", "schedule.warmup_from"},
      {"[schedule]\nmilestones = [\"8 epochs\"]", "schedule.milestones"},
      {"[schedule]\nkind = \"inverse_sqrt\"\nwarmup = \"4 steps\"\nminimum = 0.1", "schedule.minimum"},
      {"[schedule]\nfirst_update = 2", "schedule.first_update"},
      {"[schedule]\nkind = \"one_cycle\"\nfirst_update = 1", "schedule.first_update"},
      {"[schedule]\nkind = \"one_cycle\"\nrule = \"fastai\"", "schedule.rule"},
      {"[schedule]\nkind = \"one_cycle\"\nanneal = \"step\"", "schedule.anneal"},
      {"[schedule]\nkind = \"one_cycle\"\npct_start = 1.5", "schedule.pct_start"},
      {"[schedule]\nkind = \"one_cycle\"\npct_start = 0.5\nwarmup = 4", "schedule.warmup: \"4\" is not a duration"},
      {"[schedule]\nkind = \"one_cycle\"\npct_start = 0.5\nwarmup = \"4 steps\"",
       "schedule.pct_start: has no effect with `warmup`"},
      {"[schedule]\nkind = \"one_cycle\"\ndiv_factor = 0.0", "schedule.div_factor"},
      {"[schedule]\nkind = \"one_cycle\"\nfinal_div_factor = -1.0", "schedule.final_div_factor"},
      {"[schedule]\nkind = \"one_cycle\"\nmax_momentum = 1.0", "schedule.max_momentum"},
      {"[schedule]\nkind = \"one_cycle\"\nbase_momentum = 0.96",
       "schedule.base_momentum: must not be above max_momentum"},
      {"[schedule]\nkind = \"one_cycle\"\ncycle_momentum = false\nbase_momentum = 0.8", "schedule.base_momentum"},
      {"[schedule]\nkind = \"one_cycle\"\nminimum = 0.1", "schedule.minimum: is not an option of PyTorch's"},
      {"[schedule]\nkind = \"one_cycle\"\nwarmup_from = 0.1", "schedule.warmup_from"},
      {"[schedule]\nkind = \"one_cycle\"\nrule = \"0.1.0\"\nanneal = \"cos\"",
       "schedule.anneal: has no effect with rule = \"0.1.0\""},
      {"[schedule]\nkind = \"one_cycle\"\n[optimizer]\nkind = \"sgd\"\nmomentum = 0.0", "schedule.cycle_momentum"}};
  for (const auto& [recipe, key] : cases) {
    const std::string message = test::thrown_message<config::Error>([&] { train_options_of(recipe); });
    EXPECT_NE(message.find(key), std::string::npos) << recipe << "\n" << message;
    EXPECT_NE(message.find("r.toml"), std::string::npos) << recipe << "\n" << message;
  }
}

TEST(Schedule, WarmsUpAndDescends) {
  const Schedule cosine({ScheduleOptions::Kind::cosine, {10, Duration::Unit::steps}, 0.1, 0.2}, 1.2, 110, 50);
  EXPECT_DOUBLE_EQ(cosine.learning_rate(0), 0.1 + 1.1 / 10);
  EXPECT_DOUBLE_EQ(cosine.learning_rate(9), 1.2);
  EXPECT_DOUBLE_EQ(cosine.learning_rate(10), 1.2);
  EXPECT_DOUBLE_EQ(cosine.learning_rate(60), 0.7);
  EXPECT_DOUBLE_EQ(cosine.learning_rate(110), 0.2);
  EXPECT_DOUBLE_EQ(cosine.learning_rate(1000), 0.2);
  const Schedule linear({ScheduleOptions::Kind::linear, {1, Duration::Unit::epochs}, 0, 0}, 1, 100, 20);
  EXPECT_EQ(linear.warmup_steps(), 20);
  EXPECT_DOUBLE_EQ(linear.learning_rate(40), 0.75);
  const Schedule constant({ScheduleOptions::Kind::constant, {0, Duration::Unit::steps}, 0, 0}, 0.3, 100, 20);
  EXPECT_DOUBLE_EQ(constant.learning_rate(99), 0.3);
}

TEST(Schedule, FallsWithTheSquareRootOfTheStep) {
  ScheduleOptions options;
  options.kind = ScheduleOptions::Kind::inverse_sqrt;
  options.warmup = {4, Duration::Unit::steps};
  const Schedule inverse(options, 0.4, 100, 10);
  EXPECT_DOUBLE_EQ(inverse.learning_rate(0), 0.1);
  EXPECT_DOUBLE_EQ(inverse.learning_rate(3), 0.4);
  EXPECT_DOUBLE_EQ(inverse.learning_rate(15), 0.2);
  EXPECT_DOUBLE_EQ(inverse.learning_rate(399), 0.04) << "also past the end of the run";
  options.kind = ScheduleOptions::Kind::arena;  // lr·min(1, s/w)/√max(s, w)
  const Schedule arena(options, 0.4, 100, 10);
  EXPECT_DOUBLE_EQ(arena.learning_rate(1), 0.4 * 0.5 / 2);
  EXPECT_DOUBLE_EQ(arena.learning_rate(24), 0.4 / 5);
}

TEST(Schedule, OneCycleOfVersion010GoesUpAndDownAlongACosine) {
  ScheduleOptions options;
  options.kind = ScheduleOptions::Kind::one_cycle;
  options.one_cycle.rule = OneCycleOptions::Rule::version_0_1_0;
  options.warmup = {10, Duration::Unit::steps};
  const Schedule cycle(options, 0.5, 110, 10);
  EXPECT_NEAR(cycle.learning_rate(4), (0.02 + 0.5) / 2, 1e-15) << "half way up";
  EXPECT_DOUBLE_EQ(cycle.learning_rate(9), 0.5);
  EXPECT_NEAR(cycle.learning_rate(60), (0.5 + 2e-6) / 2, 1e-15) << "half way down";
  EXPECT_NEAR(cycle.learning_rate(110), 2e-6, 1e-15);
  options.warmup_start = 0.1;
  options.minimum = 0.05;
  EXPECT_NEAR(Schedule(options, 0.5, 110, 10).learning_rate(110), 0.05, 1e-15) << "what the recipe says goes first";
}

TEST(Schedule, FallsAtMilestones) {
  const Options options = train_options_of(R"(
[optimizer]
lr = 0.2
[schedule]
kind = "step"
milestones = ["8 epochs", "11 epochs"]
warmup = "500 steps"
)");
  const Schedule step(options.schedule, options.optimizer.learning_rate, 12 * 1000, 1000);
  EXPECT_NEAR(step.learning_rate(0), 0.2 * 0.001, 1e-17) << "mmdetection's warm-up begins at its ratio";
  EXPECT_DOUBLE_EQ(step.learning_rate(250), 0.2 * (1 - 0.5 * 0.999));
  EXPECT_DOUBLE_EQ(step.learning_rate(499), 0.2 * (1 - 0.999 / 500));
  EXPECT_EQ(step.learning_rate(500), 0.2);
  EXPECT_EQ(step.learning_rate(7999), 0.2);
  EXPECT_DOUBLE_EQ(step.learning_rate(8000), 0.02);
  EXPECT_DOUBLE_EQ(step.learning_rate(10999), 0.02);
  EXPECT_DOUBLE_EQ(step.learning_rate(11000), 0.002);
  EXPECT_DOUBLE_EQ(step.learning_rate(20000), 0.002);

  ScheduleOptions early;
  early.kind = ScheduleOptions::Kind::step;
  early.milestones = {{4, Duration::Unit::steps}, {1, Duration::Unit::epochs}};
  early.factor = 0.5;
  early.warmup = {8, Duration::Unit::steps};
  early.warmup_factor = 0;
  const Schedule mixed(early, 1, 100, 20);
  EXPECT_EQ(mixed.learning_rate(0), 0);
  EXPECT_DOUBLE_EQ(mixed.learning_rate(4), 0.5 * 0.5) << "milestones count in the warm-up too";
  EXPECT_DOUBLE_EQ(mixed.learning_rate(19), 0.5);
  EXPECT_DOUBLE_EQ(mixed.learning_rate(20), 0.25);
}

TEST(Schedule, AWarmUpLongerThanTheRunIsOnlyClimbed) {
  const Schedule schedule({ScheduleOptions::Kind::cosine, {10, Duration::Unit::steps}, 0, 0}, 1, 5, 5);
  for (int64_t step = 1; step < 5; ++step) EXPECT_GT(schedule.learning_rate(step), schedule.learning_rate(step - 1));
}

}  // namespace
}  // namespace cachet::train
