#include "cachet/train/checkpoints/checkpoint_mean.h"

#include <ATen/ops/full.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/error.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/checkpoints/manifest.h"
#include "cachet/train/runs/stripped_run.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

Checkpoint counted(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.model = {{"weight", at::rand({3, 4})},
                      {"frozen", at::full({2}, 0.1F)},
                      {"narrow", at::full({4}, static_cast<double>(step)).to(at::kBFloat16)},
                      {"norm.running", at::full({3}, static_cast<double>(step))},
                      {"norm.steps", at::full({}, step, at::kLong)}};
  checkpoint.optimizer = {{"weight.step", at::full({}, step)}};
  checkpoint.random = {{"cpu", at::full({4}, 1).to(at::kByte)}};
  checkpoint.state.step = step;
  return checkpoint;
}

const std::set<std::string> kParameters{"weight", "frozen", "narrow"};

TEST(CheckpointMean, AveragesParametersAndTakesStateFromTheLast) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 9);
  std::vector<at::Tensor> weights;
  for (const int64_t step : {3, 6, 9}) {
    const Checkpoint checkpoint = counted(step);
    weights.push_back(checkpoint.model.at("weight").to(at::kDouble));
    store.save(checkpoint);
  }
  std::vector<fs::path> oldest_first = newest_checkpoints(folder.path());
  std::ranges::reverse(oldest_first);
  const CheckpointMean mean = mean_of_checkpoints(oldest_first, kParameters);
  EXPECT_EQ(mean.steps, (std::vector<int64_t>{3, 6, 9}));
  EXPECT_EQ(mean.run, "run");
  EXPECT_EQ(mean.state.step, 9);
  EXPECT_TRUE(mean.weights.at("weight").equal(at::stack(weights).mean(0).to(at::kFloat)));
  EXPECT_TRUE(mean.weights.at("frozen").equal(at::full({2}, 0.1F))) << "equal values stay what they are";
  EXPECT_EQ(mean.weights.at("narrow").scalar_type(), at::kBFloat16);
  EXPECT_EQ(mean.weights.at("narrow")[0].item<double>(), 6);
  EXPECT_EQ(mean.weights.at("norm.running")[0].item<double>(), 9) << "a state is no weight";
  EXPECT_EQ(mean.weights.at("norm.steps").item<int64_t>(), 9);
}

TEST(CheckpointMean, IsACheckpointThatIsReadAndNotGoneOnWith) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 9);
  store.save(counted(1));
  const CheckpointMean mean = mean_of_checkpoints(newest_checkpoints(folder.path()), kParameters);
  for (int again = 0; again < 2; ++again)
    write_weights_checkpoint(folder / "mean-1", mean.weights, mean.state, mean.run);
  EXPECT_EQ(find_checkpoint(folder / "mean-1"), folder / "mean-1");
  EXPECT_TRUE(read_weights(folder / "mean-1").at("weight").equal(mean.weights.at("weight")));
  EXPECT_THROW(read_checkpoint(folder / "mean-1"), DamagedCheckpoint);
  EXPECT_EQ(store.resume()->folder, folder / "step-00000001");
  store.save(counted(2));
  EXPECT_TRUE(fs::exists(folder / "mean-1")) << "it is no checkpoint that a run removes";
  EXPECT_EQ(newest_checkpoints(folder.path()).size(), 2u);
}

TEST(CheckpointMean, RefusesWhatDoesNotMatch) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 9);
  const fs::path first = store.save(counted(1)).folder, last = store.save(counted(2)).folder;
  const auto refusal = [&](const fs::path& other) {
    return test::thrown_message<io::Error>([&] { mean_of_checkpoints({other, last}, kParameters); });
  };
  EXPECT_EQ(refusal(first), "(nothing thrown)");
  EXPECT_EQ(test::thrown_message<io::Error>([] { mean_of_checkpoints({}, kParameters); }),
            "there are no checkpoints to average");
  const auto changed = [&](const std::function<void(io::TensorMap&)>& change) {
    Checkpoint checkpoint = counted(3);
    change(checkpoint.model);
    fs::remove_all(folder / "other");
    write_checkpoint(folder / "other", checkpoint, "run");
    return refusal(folder / "other");
  };
  const std::string both = (folder / "other").string() + " and " + last.string() + " do not have the same '";
  EXPECT_EQ(changed([](auto& model) { model.erase("frozen"); }),
            both + "frozen'; only checkpoints of the same model can be averaged");
  EXPECT_EQ(changed([](auto& model) { model.emplace("more", at::full({1}, 1)); }),
            both + "more'; only checkpoints of the same model can be averaged");
  EXPECT_EQ(changed([](auto& model) {
              model["weight"] = at::full({4, 3}, 1.0F);
            }),
            both + "weight'; only checkpoints of the same model can be averaged");
  EXPECT_EQ(changed([](auto& model) {
              model["weight"] = at::full({3, 4}, 1.0, at::kDouble);
            }),
            both + "weight'; only checkpoints of the same model can be averaged");
  write_checkpoint(folder / "stranger", counted(3), "another");
  EXPECT_EQ(refusal(folder / "stranger"),
            (folder / "stranger").string() + " and " + last.string() +
                " belong to different runs; only checkpoints of the same run can be averaged");
  std::ofstream(first / "model.safetensors", std::ios::app) << "x";
  EXPECT_THROW(mean_of_checkpoints({first, last}, kParameters), DamagedCheckpoint);
}

TEST(CheckpointMean, AStepCountsOnce) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 9);
  for (const int64_t step : {1, 2, 2, 2, 10}) store.save(counted(step));
  std::vector<std::string> names;
  for (const fs::path& path : newest_checkpoints(folder.path())) names.push_back(path.filename().string());
  EXPECT_EQ(names, (std::vector<std::string>{"step-00000010", "step-00000002-r2", "step-00000001"}));
}

TEST(StrippedRun, HasWeightsAndWhatTheyMean) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run");
  const fs::path checkpoint = find_checkpoint(folder / "run");
  write_stripped_run(folder / "run", checkpoint, folder / "clean");
  EXPECT_EQ(RunFolder::open(folder / "clean").id(), RunFolder::open(folder / "run").id());
  const fs::path kept = find_checkpoint(folder / "clean");
  EXPECT_EQ(kept.filename(), checkpoint.filename());
  const io::TensorMap own = read_weights(checkpoint), clean = read_weights(kept, /*averaged=*/false);
  EXPECT_TRUE(fs::exists(checkpoint / "ema.safetensors")) << "its averaged weights are what counts";
  ASSERT_EQ(own.size(), clean.size());
  for (const auto& [name, tensor] : own) EXPECT_TRUE(clean.at(name).equal(tensor)) << name;
  EXPECT_FALSE(fs::exists(kept / "optimizer.safetensors"));
  EXPECT_FALSE(fs::exists(folder / "clean/metrics.jsonl"));
  EXPECT_TRUE(fs::exists(folder / "clean/resolved.toml"));
  EXPECT_TRUE(is_stripped_run(folder / "clean"));
  EXPECT_FALSE(is_stripped_run(folder / "run"));
  EXPECT_FALSE(is_stripped_run(folder.path()));
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              write_stripped_run(folder / "run", checkpoint, folder / "clean");
            }).find("exists already"),
            std::string::npos);
  write_stripped_run(folder / "clean", kept, folder / "again");
  EXPECT_EQ(read_weights(find_checkpoint(folder / "again")).size(), own.size()) << "of a stripped run, too";
}

}  // namespace
}  // namespace cachet::train
