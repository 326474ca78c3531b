#include "cachet/tasks/exports/exported_model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cachet::tasks {
namespace {

using Settings = std::vector<std::string>;

TEST(SettingsToKeep, LeavesOutThoseThatChooseSamples) {
  EXPECT_EQ(settings_to_keep({"data.limit=3", "data.subset_seed=5", "data.root=others", "data.kind=cifar10",
                              "data.fraction=0.5", "data.workers=2", "data.augmentation.flip=1.0", "train.batch_size=2",
                              "train.precision=bf16", "optimizer.lr=1.0", "task.evaluation.limit=7", "paper.row=one"}),
            Settings());
}

TEST(SettingsToKeep, KeepsThoseThatAnAnswerToAGivenSampleDependsOn) {
  const Settings settings{"model.dropout=0.5",
                          "model.attention.kind=\"elu\"",
                          "data.class_names=[\"a\", \"b\"]",
                          "data.normalization.mean=[0.5]",
                          "data.resize.crop_fraction=0.9",
                          "data.orientation=\"apply\"",
                          "data.max_length=32",
                          "data.vocabulary_file=\"words.txt\"",
                          "data.vocabulary=9",
                          "data.transform.long_side=64",
                          "task.evaluation.beam=3"};
  EXPECT_EQ(settings_to_keep(settings), settings);
}

TEST(SettingsToKeep, TakesTablesApart) {
  EXPECT_EQ(
      settings_to_keep({"data={limit=3, max_length=32, normalization={std=[1.0]}}", "task={evaluation={limit=4}}"}),
      (Settings{"data.max_length=32", "data.normalization.std=[1.0]"}));
}

TEST(SettingsToKeep, DoesNotTakeALongerKeyForAKeyOfTheList) {
  EXPECT_EQ(settings_to_keep({"data.max_lengths=3", "data.tokens_of=4", "model_name=x"}), Settings());
}

}  // namespace
}  // namespace cachet::tasks
