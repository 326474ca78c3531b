#include "cachet/train/runs/resume_rules.h"

#include <gtest/gtest.h>

namespace cachet::train {
namespace {

TEST(ResumeRules, SayWhichKeysMayChange) {
  for (const char* key :
       {"train.epochs",      "train.limit",   "train.max_hours",      "train.patience",         "train.log_every",
        "train.tensorboard", "train.profile", "train.evaluate_every", "train.checkpoint_every", "train.save_minutes",
        "train.keep",        "train.device",  "schedule.kind",        "schedule.warmup",        "data.root",
        "data.workers",      "data.prefetch", "report.anything",      "progress.anything",      "paper.row"})
    EXPECT_TRUE(may_change_on_resume(key)) << key;
  for (const char* key :
       {"train.seed", "train.batch_size", "train.accumulate", "train.precision", "train.threads", "train.deterministic",
        "train.init", "train.clip_norm", "train.ema_decay", "optimizer.lr", "model.depth", "model.workers",
        "data.train_folder", "data.roots", "data.workers_of_another_name", "task.evaluation.beam", "trainer.epochs"})
    EXPECT_FALSE(may_change_on_resume(key)) << key;
}

TEST(ResumeRules, BadImagesMayBeSkippedFromNowOn) {
  const std::string key = "data.on_bad_image", stop = "\"stop\"", skip = "\"skip\"";
  EXPECT_FALSE(may_change_on_resume(key));
  const auto document = [&](const std::string& value) {
    auto read = config::Document::from_text("[data]\non_bad_image = " + value, "recipe");
    read.root().table("data").text("on_bad_image", "stop");
    return read;
  };
  const RecipeValues stops{{key, stop}, {"train.seed", "1"}}, skips{{key, skip}, {"train.seed", "1"}};
  EXPECT_EQ(recipe_changes({{key, stop}}, document(skip)).allowed_keys, std::vector<std::string>{key});
  EXPECT_EQ(recipe_changes({{key, skip}}, document(stop)).refused,
            std::vector<std::string>{"data.on_bad_image: \"skip\" -> \"stop\""});
  EXPECT_EQ(resumed_values(stops, skips), skips);
  EXPECT_EQ(resumed_values(skips, stops), skips);
  EXPECT_TRUE(fits_checkpoint(skips, config_hash(stops)));
  EXPECT_TRUE(fits_checkpoint(skips, config_hash(skips)));
  EXPECT_FALSE(fits_checkpoint(stops, config_hash(skips)));
  EXPECT_FALSE(fits_checkpoint(skips, config_hash({{key, stop}, {"train.seed", "2"}})));
}

TEST(ResumeRules, AnOptionThatIsNewerThanTheRunIsAtItsDefault) {
  auto document = config::Document::from_text("[train]\nepochs = 3\n", "recipe");
  document.root().table("train").integer("epochs", 1, {1, 10});
  document.root().table("train").integer("newer", 5, {1, 10});
  EXPECT_TRUE(recipe_changes({{"train.epochs", "3"}}, document).refused.empty());
  auto set = config::Document::from_text("[train]\nepochs = 3\nnewer = 6\n", "recipe");
  set.root().table("train").integer("epochs", 1, {1, 10});
  set.root().table("train").integer("newer", 5, {1, 10});
  EXPECT_EQ(recipe_changes({{"train.epochs", "3"}}, set).refused,
            std::vector<std::string>{"train.newer: (absent) -> 6"});
}

TEST(ResumeRules, WhatIsSaidOfAPaperIsNoChange) {
  auto document = config::Document::from_text("[paper]\nrow = 'Table 2'\n", "recipe");
  document.root().table("paper").texts("row", {});
  for (const RecipeValues& before : {RecipeValues{}, {{"paper.row", "[\"Table 1\"]"}, {"paper.value", "[\"1 %\"]"}}}) {
    const RecipeChanges changes = recipe_changes(before, document);
    EXPECT_TRUE(changes.refused.empty() && changes.allowed.empty());
  }
  EXPECT_EQ(config_hash({{"paper.row", "[\"Table 1\"]"}, {"train.seed", "1"}}), config_hash({{"train.seed", "1"}}));
}

config::Document spread_document(const std::string& state, int64_t accumulate, int64_t batch_size) {
  auto document =
      config::Document::from_text("[train]\nstate = \"" + state + "\"\naccumulate = " + std::to_string(accumulate) +
                                      "\nbatch_size = " + std::to_string(batch_size) + "\n",
                                  "recipe");
  const config::View train = document.root().table("train");
  train.text("state", "shared");
  train.integer("accumulate", 1, {1, 100});
  train.integer("batch_size", 1, {1, 1000});
  return document;
}

TEST(ResumeRules, PartsMayBeSpreadOtherwiseIfTheStepIsTheSame) {
  const RecipeValues before = recipe_values(spread_document("separate", 4, 16));
  const auto changes = [&](const char* state, int64_t accumulate, int64_t batch_size) {
    return recipe_changes(before, spread_document(state, accumulate, batch_size));
  };
  EXPECT_TRUE(changes("separate", 2, 32).refused.empty());
  EXPECT_EQ(changes("separate", 2, 32).allowed,
            (std::vector<std::string>{"train.accumulate: 4 -> 2", "train.batch_size: 16 -> 32"}));
  EXPECT_EQ(changes("separate", 2, 16).refused, std::vector<std::string>{"train.accumulate: 4 -> 2"});
  EXPECT_EQ(changes("separate", 4, 32).refused, std::vector<std::string>{"train.batch_size: 16 -> 32"});
  EXPECT_EQ(changes("first", 4, 16).refused, std::vector<std::string>{"train.state: \"separate\" -> \"first\""});
  EXPECT_EQ(changes("shared", 2, 32).refused.size(), 3U);
  const RecipeValues shared = recipe_values(spread_document("shared", 4, 16));
  EXPECT_EQ(recipe_changes(shared, spread_document("shared", 2, 32)).refused.size(), 2U);

  const RecipeValues now = recipe_values(spread_document("separate", 2, 32));
  EXPECT_EQ(config_hash(before), config_hash(now));
  EXPECT_EQ(resumed_values(before, now), now);
  EXPECT_NE(config_hash(before), config_hash(recipe_values(spread_document("separate", 2, 16))));
  EXPECT_NE(config_hash(shared), config_hash(recipe_values(spread_document("shared", 2, 32))));
}

TEST(ResumeRules, OfATokenBudgetTheStepHasANumberOfTokens) {
  const RecipeValues before{{"train.state", "\"first\""},
                            {"train.accumulate", "4"},
                            {"train.batch_size", "128"},
                            {"data.max_tokens", "4096"},
                            {"data.max_samples", "0"}};
  RecipeValues now = before;
  now["train.accumulate"] = "1";
  EXPECT_NE(config_hash(before), config_hash(now));
  now["data.max_tokens"] = "16384";
  EXPECT_EQ(config_hash(before), config_hash(now));
  EXPECT_EQ(values_of_step(now).at("train.batch_size"), "128");
}

TEST(ResumeRules, OfALongValueThePlaceOfTheChangeIsShown) {
  std::string before = "[";
  for (int i = 0; i < 1000; ++i) before += "\"class " + std::to_string(i) + "\", ";
  std::string after = before;
  after.replace(after.find("class 500"), 9, "other 500");
  auto document = config::Document::from_text("[data]\nclass_names = " + after + "]", "recipe");
  document.root().table("data").texts("class_names", {});
  const RecipeChanges changes = recipe_changes({{"data.class_names", before}}, document);
  ASSERT_EQ(changes.refused.size(), 1U);
  EXPECT_LT(changes.refused[0].size(), 300U) << changes.refused[0];
  EXPECT_NE(changes.refused[0].find("\"class 500\""), std::string::npos);
  EXPECT_NE(changes.refused[0].find("\"other 500\""), std::string::npos);
}

}  // namespace
}  // namespace cachet::train
