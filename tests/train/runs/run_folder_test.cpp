#include "cachet/train/runs/run_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/train/runs/resume_rules.h"
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
    // The next resume reads this file, and finds no value that the run does not have.
    EXPECT_EQ(test::read_bytes(folder / "run" / "resolved.toml").find("deterministic"), std::string::npos) << change;
  }
  EXPECT_EQ(RunFolder::open(folder / "run").config_hash(), hash);
  EXPECT_EQ(RunFolder::open(folder / "run").values().at("train.epochs"), "11");
}

using Digests = std::map<std::string, data::DataDigest>;

std::map<std::string, std::string> old_fingerprints() { return {{"training", "0011"}, {"evaluation", "0022"}}; }

TEST(RunFolder, ComparesTheDataPartByPart) {
  const test::TemporaryDirectory folder;
  const config::Document document = read_document();
  const Digests begun{{"training", {"a", "b", "c", "d"}}, {"evaluation", {"e", "", "", ""}}};
  {
    RunFolder run = RunFolder::create(folder / "run", {}, document, {});
    EXPECT_TRUE(run.require_same_data(begun, old_fingerprints).empty());
  }
  RunFolder run = RunFolder::resume(folder / "run", document, {});
  EXPECT_TRUE(run.require_same_data(begun,
                                    [] {
                                      ADD_FAILURE() << "nothing is of version 0.1.0";
                                      return old_fingerprints();
                                    })
                  .empty());
  const auto refusal = [&](const data::DataDigest& training) {
    return test::thrown_message<std::runtime_error>([&] {
      run.require_same_data({{"training", training}}, old_fingerprints);
    });
  };
  EXPECT_NE(
      refusal({"x", "b", "c", "d"}).find("the training data are not the data with which the run began (labels, texts"),
      std::string::npos);
  EXPECT_NE(refusal({"a", "x", "c", "d"}).find("(labels, texts"), std::string::npos);
  EXPECT_NE(refusal({"a", "b", "x", "x"}).find("(the names, the sizes or the number of the image files"),
            std::string::npos);
  const std::string before = test::read_bytes(folder / "run" / "run.json");
  const auto lines = run.require_same_data({{"training", {"a", "b", "c", "x"}}}, old_fingerprints);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("other modification times"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("bytes were not compared"), std::string::npos) << lines[0];
  EXPECT_TRUE(run.require_same_data({{"training", {"a", "", "c", "d"}}}, old_fingerprints).empty()) << "of tokens";
  EXPECT_EQ(test::read_bytes(folder / "run" / "run.json"), before) << "the run keeps what it began with";
}

TEST(RunFolder, ARunOfVersion010IsComparedByItsOwnDigests) {
  const test::TemporaryDirectory folder;
  const config::Document document = read_document();
  RunFolder::create(folder / "run", {}, document, {});
  auto json = nlohmann::ordered_json::parse(test::read_bytes(folder / "run" / "run.json"));
  json["data"] = old_fingerprints();
  std::ofstream(folder / "run" / "run.json") << json.dump(2) << "\n";
  const Digests now{{"training", {"a", "b", "c", "d"}}, {"evaluation", {"e", "", "", ""}}};
  RunFolder run = RunFolder::resume(folder / "run", document, {});
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
              run.require_same_data(now, [] { return std::map<std::string, std::string>{{"training", "other"}}; });
            }).find("data are not the data with which the run began"),
            std::string::npos);
  const auto lines = run.require_same_data(now, old_fingerprints);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("version 0.1.0"), std::string::npos) << lines[0];
  EXPECT_TRUE(run.require_same_data(now, old_fingerprints).empty()) << "said once";
  EXPECT_TRUE(RunFolder::open(folder / "run").compare_data(now, old_fingerprints).empty());
}

TEST(RunFolder, AnotherPlaceOfTheDataIsKeptOnceTheyWereCompared) {
  const test::TemporaryDirectory folder;
  const auto document_in = [](const char* root) {
    config::Document document =
        config::Document::from_text(test::kToyRecipe + "[data]\nroot = \"" + std::string(root) + "\"\n", "toy.toml");
    document.root().table("data").text("root", "");
    test::read_toy(document);
    return document;
  };
  RunFolder::create(folder / "run", {}, document_in("here"), {});
  const std::string hash = RunFolder::open(folder / "run").config_hash();
  const Digests data{{"training", {"a", "", "", ""}}};
  for (const char* root : {"there", "elsewhere", "here"}) {
    const std::string before = test::read_bytes(folder / "run" / "resolved.toml");
    RunFolder run = RunFolder::resume(folder / "run", document_in(root), {});
    EXPECT_EQ(run.changes().size(), 1U);
    EXPECT_EQ(run.config_hash(), hash) << "that of its checkpoints";
    EXPECT_EQ(test::read_bytes(folder / "run" / "resolved.toml"), before);
    run.require_same_data(data, old_fingerprints);
    EXPECT_NE(test::read_bytes(folder / "run" / "resolved.toml").find(root), std::string::npos);
    EXPECT_EQ(RunFolder::open(folder / "run").config_hash(), hash);
  }
  const std::string before = test::read_bytes(folder / "run" / "run.json");
  RunFolder run = RunFolder::resume(folder / "run", document_in("wrong"), {});
  EXPECT_THROW(run.require_same_data({{"training", {"x", "", "", ""}}}, old_fingerprints), std::runtime_error);
  EXPECT_EQ(test::read_bytes(folder / "run" / "run.json"), before);
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
