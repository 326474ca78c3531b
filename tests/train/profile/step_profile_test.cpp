#include "cachet/train/profile/step_profile.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/files/read_file.h"
#include "cachet/report/text/text_table.h"
#include "cachet/train/profile/profile_tables.h"
#include "tests/support/temporary_directory.h"

namespace cachet::train {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

/// Two steps in 40 ms; 30 ms of them are busy.
StepProfile example(ActivityKind kind) {
  ProfileRecording recording{.kind = kind, .begin = 0, .end = 40 * kMillisecond, .graph_launches = 2};
  if (kind == ActivityKind::kernels)
    recording.activities = {{"void at::native::reduce_kernel<512, 1, a very long name that no table can show>(int)", 0,
                             10 * kMillisecond, 7},
                            {"nvjet_tst_128x24", 10 * kMillisecond, 30 * kMillisecond, 7}};
  else
    recording.activities = {{"aten::sum", 0, 10 * kMillisecond, 1},
                            {"aten::mm", 10 * kMillisecond, 30 * kMillisecond, 1}};
  const MemoryUse memory = with_growth({.weights = 400, .states = 100, .gradients = 400, .optimizer = 800}, 1400, true);
  return step_profile(recording,
                      {.device = kind == ActivityKind::kernels ? c10::Device("cuda:0") : c10::Device("cpu"),
                       .first = 21,
                       .count = 2,
                       .samples = 16},
                      memory);
}

TEST(StepProfile, HasTheMeansOfAStep) {
  const StepProfile profile = example(ActivityKind::kernels);
  EXPECT_DOUBLE_EQ(profile.seconds, 0.020);
  EXPECT_DOUBLE_EQ(profile.busy_seconds, 0.015);
  EXPECT_DOUBLE_EQ(profile.busy_fraction(), 0.75);
  EXPECT_EQ(profile.samples, 8);
  EXPECT_EQ(profile.graph_launches, 1);
  EXPECT_EQ(profile.families.at(0).family, KernelFamily::products);
  EXPECT_DOUBLE_EQ(profile.families.at(0).seconds, 0.010);
  EXPECT_DOUBLE_EQ(profile.families.at(0).calls, 0.5);
  EXPECT_EQ(why_busy_is_unknown(profile), std::nullopt);
  EXPECT_NE(why_busy_is_unknown(example(ActivityKind::operators)), std::nullopt);
  EXPECT_EQ(profile_text(profile),
            "20 ms a step; the device was busy in 75.0 % of the time: products 50 %, reductions 25 %");
}

TEST(StepProfile, MemoryAddsUp) {
  const MemoryUse memory = example(ActivityKind::operators).memory;
  EXPECT_EQ(memory.activations, 1000) << "the growth without the gradients";
  EXPECT_EQ(memory.total(), 2700);
  const MemoryUse fixed = with_growth({.gradients = 400}, 1400, false);
  EXPECT_EQ(fixed.activations, 1400);
  const MemoryUse whole = with_peak({.weights = 400, .gradients = 400, .optimizer = 800}, 2000);
  EXPECT_EQ(whole.activations, 400);
  EXPECT_EQ(whole.total(), 2000);
  EXPECT_TRUE(whole.is_peak_measured);
}

TEST(StepProfile, AFileHasTheSameProfile) {
  const test::TemporaryDirectory folder;
  for (const ActivityKind kind : {ActivityKind::operators, ActivityKind::kernels}) {
    StepProfile profile = example(kind);
    profile.seconds_without_profiler = 0.015;
    profile.memory.batches_ahead = 64;
    write_profile(folder / "profile.json", profile);
    const std::optional<StepProfile> read = read_profile(folder / "profile.json");
    ASSERT_TRUE(read);
    EXPECT_EQ(to_json(*read), to_json(profile));
    EXPECT_EQ(read->names.size(), 2U);
  }
  EXPECT_EQ(read_profile(folder / "none.json"), std::nullopt);
  const std::string text = io::read_text_file(folder / "profile.json", 1 << 20);
  std::ofstream(folder / "profile.json") << text.substr(0, text.size() / 2);
  EXPECT_EQ(read_profile(folder / "profile.json"), std::nullopt);
}

TEST(StepProfile, TablesFitATerminalAndAddUp) {
  for (const ActivityKind kind : {ActivityKind::operators, ActivityKind::kernels}) {
    const std::vector<report::Table> tables = profile_tables(example(kind));
    ASSERT_EQ(tables.size(), 3U);
    for (const report::Table& table : tables) {
      const std::string text = report::text_table(table, {.columns = 80});
      EXPECT_EQ(text.find("There is no room"), std::string::npos) << text;
      size_t start = 0;
      for (size_t end = text.find('\n'); end != std::string::npos; start = end + 1, end = text.find('\n', start)) {
        const std::string line = text.substr(start, end - start);
        const auto continued = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
        EXPECT_LE(line.size() - static_cast<size_t>(std::ranges::count_if(line, continued)), 80U) << line;
      }
    }
    const auto& rows = tables[0].rows;
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0][0].text, "products");
    EXPECT_EQ(rows[0][1].text, "10");
    EXPECT_EQ(rows[1][1].text, "5");
    EXPECT_EQ(rows[2][1].text, "5");
    EXPECT_EQ(rows[3][1].text, "20");
    EXPECT_EQ(rows[3][2].text, "100.0 %");
  }
  const report::Section section = profile_section(example(ActivityKind::kernels));
  EXPECT_EQ(section.title, "Profile of steps 21 to 22");
}

}  // namespace
}  // namespace cachet::train
