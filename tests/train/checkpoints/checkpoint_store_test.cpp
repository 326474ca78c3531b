#include "cachet/train/checkpoints/checkpoint_store.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/checkpoints.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

Checkpoint stored(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.model = {{"weight", at::full({4}, step)}};
  checkpoint.optimizer = {{"weight.step", at::full({}, step)}};
  checkpoint.random = {{"cpu", at::full({4}, 1).to(at::kByte)}};
  checkpoint.state.step = step;
  return checkpoint;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST(CheckpointStore, KeepsTheNewestAndTheBest) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 2);
  EXPECT_FALSE(store.resume());
  for (int64_t step = 1; step <= 5; ++step) store.save(step == 2 ? test::the_best(stored(step)) : stored(step));
  EXPECT_EQ(names_in(folder.path()),
            (std::vector<std::string>{"best", "last", "step-00000002", "step-00000004", "step-00000005"}));
  EXPECT_EQ(store.best()->filename(), "step-00000002");
  EXPECT_EQ(store.last()->filename(), "step-00000005");
  EXPECT_EQ(store.resume()->checkpoint.state.step, 5);
  EXPECT_EQ(find_checkpoint(folder.path()), store.best());
  EXPECT_TRUE(read_weights(*store.best()).at("weight").equal(at::full({4}, 2)));
}

TEST(CheckpointStore, RemovesNothingThatTheRunDidNotWrite) {
  const test::TemporaryDirectory folder;
  CheckpointStore other(folder.path(), "another run", 1);
  other.save(stored(1));
  fs::create_directory(folder / "step-00000002");
  std::ofstream(folder / "step-00000002" / "notes.txt") << "mine";
  CheckpointStore store(folder.path(), "run", 1);
  store.save(stored(3));
  std::ofstream(folder / "step-00000003" / "notes.txt") << "mine";
  store.save(stored(4));
  EXPECT_TRUE(fs::exists(folder / "step-00000001" / "manifest.json"));
  EXPECT_TRUE(fs::exists(folder / "step-00000002" / "notes.txt"));
  EXPECT_TRUE(fs::exists(folder / ".step-00000003.removed" / "notes.txt")) << "a file of the user's was deleted";
  EXPECT_FALSE(fs::exists(folder / ".step-00000003.removed" / "model.safetensors"));
}

TEST(CheckpointStore, AStepThatIsReachedAgainGetsANameOfItsOwn) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 9);
  store.save(stored(7));
  EXPECT_EQ(store.save(stored(7)).folder.filename(), "step-00000007-r1");
  EXPECT_EQ(store.resume()->folder.filename(), "step-00000007-r1");
}

TEST(CheckpointStore, SetsPointersRightThatAKilledProcessLeftBehind) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 2);
  store.save(test::the_best(stored(1)));
  Checkpoint better = stored(2);
  better.state.best = 0.9;
  better.state.best_step = 2;
  write_checkpoint(folder / "step-00000002", better, "run");
  EXPECT_EQ(store.resume()->checkpoint.state.step, 2);
  EXPECT_EQ(store.last()->filename(), "step-00000002");
  EXPECT_EQ(store.best()->filename(), "step-00000002");
}

TEST(CheckpointStore, ReadsTheStepOfAName) {
  EXPECT_EQ(step_of_checkpoint("run/checkpoints/step-00000120"), 120);
  EXPECT_EQ(step_of_checkpoint("step-00000120-r1"), 120);
  for (const char* name : {"step-", "step-x", "step-00000120-r", "step-00000120.part", "best"})
    EXPECT_THROW(step_of_checkpoint(name), std::invalid_argument) << name;
}

TEST(CheckpointStore, TakesNoOtherCheckpointForTheBest) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 2);
  for (int64_t step = 1; step <= 2; ++step) store.save(step == 1 ? test::the_best(stored(step)) : stored(step));
  for (const char* text : {"", "step-", "step-00000007\n", "../step-00000001\n"}) {
    std::ofstream(folder / "best", std::ios::trunc) << text;
    EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
                find_checkpoint(folder.path());
              }).find("best: must name a checkpoint"),
              std::string::npos)
        << text;
  }
  fs::remove(folder / "best");
  EXPECT_EQ(find_checkpoint(folder.path()), store.last());
}

TEST(CheckpointStore, NoNameLeadsOutOfTheFolder) {
  const test::TemporaryDirectory root;
  fs::create_directory(root / "mine");
  fs::create_directory(root / "other");
  CheckpointStore(root / "other", "run", 9).save(test::the_best(stored(9)));
  CheckpointStore store(root / "mine", "run", 1);
  store.save(test::the_best(stored(1)));
  fs::create_directory_symlink("../other/step-00000009", root / "mine/step-00000009");
  for (const std::string& name :
       {std::string("../other/step-00000009"), (root / "other/step-00000009").string(), std::string("./step-00000001"),
        std::string("step-00000009"), std::string("step-00000001/../step-00000001")}) {
    std::ofstream(root / "mine/best", std::ios::trunc) << name << '\n';
    EXPECT_FALSE(store.best()) << name;
    EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
                find_checkpoint(root / "mine");
              }).find("must name a checkpoint"),
              std::string::npos)
        << name;
  }
  EXPECT_EQ(newest_checkpoints(root / "mine"), std::vector<fs::path>{root / "mine/step-00000001"});
  EXPECT_EQ(store.resume()->checkpoint.state.step, 1);
  store.save(stored(9));
  EXPECT_EQ(store.last()->filename(), "step-00000009-r1");
  store.save(stored(10));
  EXPECT_EQ(newest_checkpoints(root / "mine"),
            (std::vector<fs::path>{root / "mine/step-00000010", root / "mine/step-00000001"}))
      << "rotation goes on, and the best one stays";
  EXPECT_TRUE(fs::is_symlink(root / "mine/step-00000009"));
  EXPECT_EQ(names_in(root / "other/step-00000009").size(), 5U) << "nothing of the other run is removed";
}

TEST(CheckpointStore, RemainsThatAreLinksAreRemovedAlone) {
  const test::TemporaryDirectory root;
  fs::create_directory(root / "mine");
  fs::create_directory(root / "other");
  CheckpointStore(root / "other", "run", 9).save(stored(9));
  for (const char* name : {".step-00000001.partial", ".step-00000002.removed"})
    fs::create_directory_symlink("../other/step-00000009", root / "mine" / name);
  write_checkpoint(root / "mine/step-00000001", stored(1), "run");
  CheckpointStore(root / "mine", "run", 1).resume();
  EXPECT_EQ(names_in(root / "mine"), (std::vector<std::string>{"last", "step-00000001"}));
  EXPECT_EQ(names_in(root / "other/step-00000009").size(), 5U);
}

TEST(CheckpointStore, TheFolderMayBeALink) {
  const test::TemporaryDirectory root;
  fs::create_directory(root / "disk");
  fs::create_directory_symlink("disk", root / "checkpoints");
  CheckpointStore store(root / "checkpoints", "run", 1);
  for (int64_t step = 1; step <= 3; ++step) store.save(test::the_best(stored(step)));
  EXPECT_EQ(names_in(root / "disk"), (std::vector<std::string>{"best", "last", "step-00000003"}));
  EXPECT_EQ(store.resume()->checkpoint.state.step, 3);
}

TEST(CheckpointStore, KeepsWhatAnotherProcessReads) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 1);
  store.save(stored(1));
  {
    const HeldCheckpoint held = hold_checkpoint(folder.path());
    EXPECT_EQ(held.folder, folder / "step-00000001");
    EXPECT_TRUE(store.save(stored(2)).not_removed.empty());
    EXPECT_TRUE(read_weights(held.folder, false).at("weight").equal(at::full({4}, 1)));
    EXPECT_EQ(hold_newest_checkpoints(folder.path(), 9).size(), 2U);
    EXPECT_EQ(hold_newest_checkpoints(folder.path(), 1).front().folder, folder / "step-00000002");
  }
  store.save(stored(3));
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"last", "step-00000003"}));
}

TEST(CheckpointStore, WhatWasSavedForAnEvaluationAloneIsNoneOfTheRegularOnes) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 2);
  const auto of_evaluation = [](int64_t step) {
    Checkpoint checkpoint = stored(step);
    checkpoint.state.for_evaluation = true;
    return checkpoint;
  };
  const auto regular = [&] {
    std::vector<std::string> names;
    for (const HeldCheckpoint& held : hold_newest_checkpoints(folder.path(), 9, CheckpointChoice::regular))
      names.push_back(held.folder.filename().string());
    return names;
  };
  store.save(stored(1));
  store.save(stored(2));
  store.save(test::the_best(of_evaluation(3)));
  EXPECT_EQ(regular(), (std::vector<std::string>{"step-00000003", "step-00000002", "step-00000001"}))
      << "it is the last";
  store.save(stored(4));
  EXPECT_EQ(regular(), (std::vector<std::string>{"step-00000004", "step-00000002"})) << "it is only the best";
  EXPECT_EQ(hold_newest_checkpoints(folder.path(), 9).size(), 3U);
  EXPECT_EQ(hold_newest_checkpoints(folder.path(), 1, CheckpointChoice::regular).size(), 1U);
}

TEST(CheckpointStore, AReaderFindsACheckpointAtAnyMomentOfRotation) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 1);
  store.save(test::the_best(stored(1)));
  std::atomic<bool> over = false;
  std::thread saving([&] {
    for (int64_t step = 2; step <= 100; ++step) store.save(test::the_best(stored(step)));
    over = true;
  });
  int reads = 0;
  std::string problem;
  for (; !over && problem.empty(); ++reads) {
    try {
      const HeldCheckpoint held = hold_checkpoint(folder.path());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // as commands do that load data in between
      read_weights(held.folder);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  saving.join();
  EXPECT_EQ(problem, "") << "after " << reads << " reads";
  EXPECT_GT(reads, 10);
}

TEST(CheckpointStore, SaysWhereItLookedForACheckpoint) {
  const test::TemporaryDirectory folder;
  const auto said = [](const std::filesystem::path& path) {
    return test::thrown_message<std::runtime_error>([&] { find_checkpoint(path); });
  };
  EXPECT_NE(said(folder.path()).find("no step-… in " + folder.path().string()), std::string::npos);
  EXPECT_EQ(said(folder / "nowhere"), (folder / "nowhere").string() + ": there is no such file or folder");
}

}  // namespace
}  // namespace cachet::train
