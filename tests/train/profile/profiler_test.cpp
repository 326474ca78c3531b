#include "cachet/train/profile/profiler.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

double calls_of(const ProfileRecording& recording, const std::string& name) {
  return static_cast<double>(std::ranges::count(recording.activities, name, &Activity::name));
}

TEST(Profiler, RecordsOperatorsAndTheMemoryOfTensors) {
  const at::Tensor x = at::randn({64, 64});
  Profiler profiler(at::kCPU);
  for (int i = 0; i < 3; ++i) {
    const at::Tensor product = at::mm(x, x);
    EXPECT_EQ(at::relu(product).sizes(), x.sizes());
  }
  const ProfileRecording recording = profiler.stop();
  EXPECT_EQ(recording.kind, ActivityKind::operators);
  EXPECT_EQ(calls_of(recording, "aten::mm"), 3);
  EXPECT_EQ(calls_of(recording, "aten::relu"), 3);
  EXPECT_EQ(recording.host_bytes, 2 * 64 * 64 * 4) << "the product and its activations";
  EXPECT_LT(recording.begin, recording.end);
  for (const Activity& activity : recording.activities) {
    EXPECT_GE(activity.begin, recording.begin) << activity.name;
    EXPECT_LE(activity.end, recording.end) << activity.name;
  }
  const WorkTimes times = work_times(recording.activities, recording.kind, recording.begin, recording.end);
  EXPECT_GT(times.busy_seconds, 0);
  EXPECT_LE(times.busy_seconds, 1e-9 * static_cast<double>(recording.end - recording.begin));
}

TEST(Profiler, RecordsAgainAfterARecordingThatWasDropped) {
  const at::Tensor x = at::randn({4, 4});
  {
    const Profiler dropped(at::kCPU);
    at::mm(x, x);
  }
  Profiler profiler(at::kCPU);
  at::relu(x);
  const ProfileRecording recording = profiler.stop();
  EXPECT_EQ(calls_of(recording, "aten::mm"), 0);
  EXPECT_EQ(calls_of(recording, "aten::relu"), 1);
}

TEST(Profiler, RefusesASecondProfiler) {
  const Profiler first(at::kCPU);
  EXPECT_EQ(test::thrown_message<std::runtime_error>([] { const Profiler second(at::kCPU); }),
            "the steps cannot be profiled, because another profiler of LibTorch is running");
}

ProfileRecording recording_of_a_product() {
  const at::Tensor x = at::randn({4, 4});
  Profiler profiler(at::kCPU);
  at::mm(x, x);
  return profiler.stop();
}

TEST(Profiler, WritesAChromeTrace) {
  const test::TemporaryDirectory folder;
  recording_of_a_product().write_trace(folder / "trace.json");
  const auto trace = nlohmann::json::parse(io::read_text_file(folder / "trace.json", 1 << 24));
  const auto& events = trace.at("traceEvents");
  EXPECT_TRUE(std::ranges::any_of(events, [](const auto& event) { return event.value("name", "") == "aten::mm"; }));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "no temporary file remains";
  EXPECT_THROW(recording_of_a_product().write_trace(folder / "missing" / "trace.json"), io::Error);
}

}  // namespace
}  // namespace cachet::train
