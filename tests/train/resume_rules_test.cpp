#include "cachet/train/resume_rules.h"

#include <gtest/gtest.h>

namespace cachet::train {
namespace {

TEST(ResumeRules, SayWhichKeysMayChange) {
  for (const char* key : {"train.epochs", "train.limit", "train.max_hours", "train.patience", "train.log_every",
                          "train.tensorboard", "train.evaluate_every", "train.checkpoint_every", "train.save_minutes",
                          "train.keep", "train.device", "schedule.kind", "schedule.warmup", "data.root", "data.workers",
                          "data.prefetch", "report.anything", "progress.anything", "paper.row"})
    EXPECT_TRUE(may_change_on_resume(key)) << key;
  for (const char* key :
       {"train.seed", "train.batch_size", "train.accumulate", "train.precision", "train.threads", "train.deterministic",
        "train.init", "train.clip_norm", "train.ema_decay", "optimizer.lr", "model.depth", "model.workers",
        "data.train_folder", "data.roots", "data.workers_of_another_name", "task.evaluation.beam", "trainer.epochs"})
    EXPECT_FALSE(may_change_on_resume(key)) << key;
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
