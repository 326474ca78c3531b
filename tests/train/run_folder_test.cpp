#include "cachet/train/run_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/train/resume_rules.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

config::Document read_document(const std::vector<std::string>& settings = {}) {
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  for (const std::string& setting : settings) document.set(setting);
  test::read_toy(document);
  return document;
}

TEST(RunFolder, RefusesWhatExists) {
  const test::TemporaryDirectory folder;
  const config::Document document = read_document();
  RunFolder::create(folder / "run", {"toy", "text"}, document, {"cachet", "train", "it's"});
  EXPECT_EQ(test::read_bytes(folder / "run" / "recipe.toml"), "text");
  EXPECT_EQ(test::read_bytes(folder / "run" / "command.txt"), "cachet train 'it'\\''s'\n");
  EXPECT_NE(test::read_bytes(folder / "run" / "resolved.toml").find("toy.toml:"), std::string::npos);
  EXPECT_EQ(fs::read_symlink(folder / "latest"), "run");
  EXPECT_EQ(RunFolder::open(folder / "latest").path(), folder / "run");
  const std::string message = test::thrown_message<std::runtime_error>([&] {
    RunFolder::create(folder / "run", {"toy", "other"}, document, {});
  });
  EXPECT_NE(message.find("--resume"), std::string::npos) << message;
  EXPECT_EQ(test::read_bytes(folder / "run" / "recipe.toml"), "text");
  std::ofstream(folder / "file") << "mine";
  EXPECT_THROW(RunFolder::create(folder / "file", {}, document, {}), std::runtime_error);
  EXPECT_THROW(RunFolder::create(folder / "file" / "run", {}, document, {}), std::runtime_error);
  EXPECT_EQ(test::read_bytes(folder / "file"), "mine");
}

TEST(RunFolder, RefusesWhatIsNoRun) {
  const test::TemporaryDirectory folder;
  EXPECT_THROW(RunFolder::open(folder.path()), std::runtime_error);
  EXPECT_THROW(RunFolder::open(folder / "absent"), std::runtime_error);
  std::ofstream(folder / "run.json") << "{";
  EXPECT_THROW(RunFolder::open(folder.path()), std::runtime_error);
}

TEST(RunFolder, RefusesASecondProcess) {
  const test::TemporaryDirectory folder;
  const config::Document document = read_document();
  RunFolder held = RunFolder::create(folder / "run", {}, document, {});
  const std::string message = test::thrown_message<RunInUse>([&] { RunFolder::resume(folder / "run", document, {}); });
  EXPECT_NE(message.find("another process"), std::string::npos) << message;
  held.let_go();
  EXPECT_NO_THROW(RunFolder::resume(folder / "run", document, {}));
}

TEST(RunFolder, TakesChangesThatLeaveTheTrainingAsItWas) {
  const test::TemporaryDirectory folder;
  RunFolder::create(folder / "run", {}, read_document(), {"first"});
  const RunFolder folder_now = RunFolder::resume(
      folder / "run", read_document({"train.epochs=9", "data.workers=3", "schedule.kind=linear"}), {"second"});
  EXPECT_EQ(folder_now.changes().size(), 3U);
  EXPECT_NE(test::read_bytes(folder / "run" / "changes.txt").find("train.epochs: 3 -> 9"), std::string::npos);
  EXPECT_EQ(test::read_bytes(folder / "run" / "command.txt"), "first\nsecond\n");
  EXPECT_NE(test::read_bytes(folder / "run" / "resolved.toml").find("epochs = 9"), std::string::npos);
}

TEST(RunFolder, RefusesOtherChangesWithADiff) {
  const test::TemporaryDirectory folder;
  RunFolder::create(folder / "run", {}, read_document(), {"first"});
  const std::string message = test::thrown_message<std::runtime_error>([&] {
    RunFolder::resume(folder / "run", read_document({"train.seed=8", "optimizer.lr=0.5", "train.epochs=9"}), {});
  });
  EXPECT_NE(message.find("train.seed: 7 -> 8"), std::string::npos) << message;
  EXPECT_NE(message.find("optimizer.lr: 0.01 -> 0.5"), std::string::npos) << message;
  EXPECT_EQ(message.find("train.epochs"), std::string::npos) << message;
  EXPECT_EQ(test::read_bytes(folder / "run" / "command.txt"), "first\n");
}

TEST(RunFolder, KeepsTheHashOfARunThatIsOlderThanAnOption) {
  const test::TemporaryDirectory folder;
  RunFolder::create(folder / "run", {}, read_document(), {"first"});
  // The run was made before there was train.deterministic.
  auto json = nlohmann::ordered_json::parse(test::read_bytes(folder / "run" / "run.json"));
  ASSERT_EQ(json.at("values").erase("train.deterministic"), 1U);
  std::ofstream(folder / "run" / "run.json") << json.dump(2) << "\n";
  const std::string hash = RunFolder::open(folder / "run").config_hash();
  for (const char* change : {"train.epochs=9", "train.epochs=11"}) {
    const RunFolder resumed = RunFolder::resume(folder / "run", read_document({change}), {"again"});
    EXPECT_EQ(resumed.config_hash(), hash) << change;
    EXPECT_EQ(resumed.changes().size(), 1U);
  }
  EXPECT_EQ(RunFolder::open(folder / "run").config_hash(), hash);
  EXPECT_EQ(RunFolder::open(folder / "run").values().at("train.epochs"), "11");
}

TEST(ResumeRules, TheHashIsOfWhatMayNotChange) {
  const std::string hash = config_hash(recipe_values(read_document()));
  EXPECT_EQ(hash, config_hash(recipe_values(read_document({"train.epochs=9", "data.workers=4"}))));
  EXPECT_NE(hash, config_hash(recipe_values(read_document({"train.seed=9"}))));
}

TEST(RunFolder, NamesNewRunsByTheDay) {
  const test::TemporaryDirectory folder;
  const fs::path first = new_run_path(folder.path(), "vit");
  EXPECT_EQ(first.filename().string().substr(8), "-vit");
  fs::create_directory(first);
  EXPECT_EQ(new_run_path(folder.path(), "vit").string(), first.string() + "-2");
}

}  // namespace
}  // namespace cachet::train
