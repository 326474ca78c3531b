#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "cachet/train/checkpoints/checkpoint_store.h"
#include "tests/support/bytes.h"
#include "tests/support/checkpoints.h"
#include "tests/support/robustness.h"
#include "tests/support/temporary_directory.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

Checkpoint damage_checkpoint(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.model = {{"weight", at::arange(5000).to(at::kFloat) + step}};
  checkpoint.optimizer = {{"weight.exp_avg", at::arange(5000).to(at::kFloat) * 0.5 + step}};
  checkpoint.ema = {{"weight", at::arange(5000).to(at::kFloat) - step}};
  checkpoint.random = {{"cpu", at::full({5056}, 3).to(at::kByte)}};
  checkpoint.carried = {{"memory", at::arange(10)}};
  checkpoint.state.step = step;
  checkpoint.state.best = 0.5;
  return checkpoint;
}

void damage_flip_bit(std::string& bytes, std::mt19937& chance) {
  bytes[chance() % bytes.size()] ^= static_cast<char>(1U << (chance() % 8));
}

void damage_truncate(std::string& bytes, std::mt19937& chance) { bytes.resize(chance() % bytes.size()); }

void damage_zero_page(std::string& bytes, std::mt19937& chance) {
  constexpr size_t kPage = 4096;
  const size_t begin = chance() % ((bytes.size() + kPage - 1) / kPage) * kPage;
  std::fill(bytes.begin() + static_cast<int64_t>(begin),
            bytes.begin() + static_cast<int64_t>(std::min(begin + kPage, bytes.size())), '\0');
}

struct Damage {
  const char* name;
  void (*apply)(std::string&, std::mt19937&);
  int times;  // at full size
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class CheckpointDamageRobustness : public ::testing::TestWithParam<Damage> {};

TEST_P(CheckpointDamageRobustness, IsRefusedByNameAndTheOlderCheckpointLoads) {
  const Damage damage = GetParam();
  const test::TemporaryDirectory folder;
  CheckpointStore writer(folder.path(), "run", 2);
  writer.save(test::the_best(damage_checkpoint(1)));
  const fs::path newest = writer.save(damage_checkpoint(2)).folder;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(newest)) files.push_back(entry.path());
  std::ranges::sort(files);
  ASSERT_EQ(files.size(), 7U);

  std::mt19937 chance(11);
  const int cases = test::robustness_cases(damage.times, /*share=*/0.1, /*least=*/20);
  for (int i = 0; i < cases; ++i) {
    const fs::path path = files[static_cast<size_t>(i) % files.size()];
    const std::string good = test::read_bytes(path);
    std::string bad = good;
    do damage.apply(bad, chance);
    while (bad == good);
    test::write_bytes(path, bad);

    CheckpointStore store(folder.path(), "run", 2);
    const auto found = store.resume();
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->checkpoint.state.step, 1) << damage.name << " in " << path << " was not noticed";
    ASSERT_EQ(store.refused().size(), 1U);
    EXPECT_NE(store.refused().front().find(path.string()), std::string::npos) << store.refused().front();
    test::write_bytes(path, good);
  }
  CheckpointStore store(folder.path(), "run", 2);
  EXPECT_EQ(store.resume()->checkpoint.state.step, 2) << "what was put right again is whole";
}

INSTANTIATE_TEST_SUITE_P(Kinds, CheckpointDamageRobustness,
                         ::testing::Values(Damage{"BitFlip", damage_flip_bit, 1000},
                                           Damage{"Truncation", damage_truncate, 200},
                                           Damage{"ZeroedPage", damage_zero_page, 200}),
                         [](const auto& info) { return info.param.name; });

TEST(CheckpointDamageRobustness, WithoutAWholeCheckpointAllAreNamed) {
  const test::TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 2);
  const fs::path first = store.save(damage_checkpoint(1)).folder, second = store.save(damage_checkpoint(2)).folder;
  fs::remove(first / "state.json");
  test::write_bytes(second / "manifest.json", "{}");
  try {
    store.resume();
    FAIL() << "nothing was thrown";
  } catch (const DamagedCheckpoint& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find((first / "state.json").string()), std::string::npos) << message;
    EXPECT_NE(message.find((second / "manifest.json").string()), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace cachet::train
