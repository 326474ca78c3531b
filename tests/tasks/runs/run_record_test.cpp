#include "cachet/tasks/runs/run_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cachet/io/files/read_file.h"
#include "cachet/tasks/runs/run_groups.h"
#include "cachet/tasks/runs/run_values.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

class RunRecordTest : public ::testing::Test {
 protected:
  RunRecordTest() {
    test::write_tiny_images(images());
    train("2 steps");
  }

  fs::path images() const { return folder_ / "images"; }
  fs::path run() const { return folder_ / "run"; }
  void train(const std::string& limit) const { test::train_tiny(images(), run(), {"train.limit=\"" + limit + "\""}); }

  /// As run.json was before runs described themselves.
  void forget_description() const {
    auto json = nlohmann::ordered_json::parse(io::read_text_file(run() / "run.json", 1 << 20));
    ASSERT_EQ(json.erase("description"), 1U);
    ASSERT_EQ(json.erase("defaults"), 1U);
    std::ofstream(run() / "run.json") << json.dump(2);
  }

  /// A recipe of a model that this library does not have.
  void spoil_recipe() const {
    std::string text = io::read_text_file(run() / "resolved.toml", 1 << 20);
    const std::string name = "vit_tiny_patch16_224";
    const size_t place = text.find(name);
    ASSERT_NE(place, std::string::npos);
    std::ofstream(run() / "resolved.toml") << text.replace(place, name.size(), "no_such_model");
  }

  test::TemporaryDirectory folder_;
};

void expect_same_run(const train::RunDescription& description, const train::RunDescription& other) {
  EXPECT_EQ(train::to_json(description), train::to_json(other));
}

TEST_F(RunRecordTest, OfADescribedRunNeedsNoModel) {
  const train::RunDescription described = read_run(run()).description;
  EXPECT_EQ(described.task, "image_classification");
  EXPECT_EQ(described.model, "vit_tiny_patch16_224");
  EXPECT_GT(described.parameters, 1000);
  EXPECT_GT(described.linear_convolution_macs, 1000);
  EXPECT_GT(described.attention_macs, 0);
  spoil_recipe();
  expect_same_run(read_run(run()).description, described);
  EXPECT_EQ(read_groups({run()}).groups.size(), 1U);
  fs::remove(run() / "resolved.toml");
  expect_same_run(read_run(run()).description, described);
}

TEST_F(RunRecordTest, OfAnOlderRunIsCountedFromItsRecipe) {
  train::RunDescription described = read_run(run()).description;
  EXPECT_GT(described.evaluated, 0);
  described.evaluated = described.split_size = 0;  // the recipe does not have the number of samples
  forget_description();
  const RunRecord older = read_run(run());
  expect_same_run(older.description, described);
  EXPECT_TRUE(older.default_keys.empty());
  const auto names = [](const std::vector<RunValue>& values) {
    std::string all;
    for (const RunValue& value : values) all += value.name + "|";
    return all;
  };
  EXPECT_NE(names(run_values(older)).find("top-1|best top-1|loss|"), std::string::npos) << names(run_values(older));
  spoil_recipe();
  EXPECT_NE(test::thrown_message<config::Error>([&] { read_run(run()); }).find("no_such_model"), std::string::npos);
}

TEST_F(RunRecordTest, CountsOfAnEarlierRuleAreMadeAgain) {
  const train::RunDescription described = read_run(run()).description;
  const auto recorded = [&](const auto& change) {
    auto json = nlohmann::ordered_json::parse(io::read_text_file(run() / "run.json", 1 << 20));
    change(json.at("description").at("model"));
    std::ofstream(run() / "run.json") << json.dump(2);
  };
  recorded([](auto& model) {
    ASSERT_EQ(model.at("macs").erase("rule"), 1U);
    model.at("macs").at("attention") = 7;
  });
  expect_same_run(read_run(run()).description, described);
  const auto has_macs = [&] {
    const std::vector<RunValue> values = run_values(read_run(run()));
    return std::ranges::find(values, "attention MACs", &RunValue::name) != values.end();
  };
  EXPECT_TRUE(has_macs());
  // A recipe that gives another model today does not count for the run's.
  recorded([](auto& model) { model.at("parameters") = model.at("parameters").template get<int64_t>() + 1; });
  EXPECT_FALSE(read_run(run()).description.has_macs());
  EXPECT_FALSE(has_macs());
  spoil_recipe();
  EXPECT_FALSE(read_run(run()).description.has_macs());
  EXPECT_FALSE(has_macs());
}

TEST_F(RunRecordTest, AnOlderRunDescribesItselfWhenItGoesOn) {
  const train::RunDescription described = read_run(run()).description;
  forget_description();
  train("4 steps");
  spoil_recipe();
  expect_same_run(read_run(run()).description, described);
}

// Counting the model of the description draws random numbers in its constructors.
TEST_F(RunRecordTest, DescribingARunLeavesItsWeightsAlone) {
  test::train_tiny(images(), folder_ / "whole", {"train.limit=\"4 steps\""});
  forget_description();
  train("4 steps");
  const auto weights = [](const fs::path& path) {
    return train::read_checkpoint(*train::CheckpointStore(path / "checkpoints", "", 1).last()).model;
  };
  const io::TensorMap whole = weights(folder_ / "whole"), resumed = weights(run());
  ASSERT_EQ(whole.size(), resumed.size());
  for (const auto& [name, tensor] : whole) EXPECT_TRUE(tensor.equal(resumed.at(name))) << name;
}

}  // namespace
}  // namespace cachet::tasks
