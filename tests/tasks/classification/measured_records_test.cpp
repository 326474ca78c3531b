#include "cachet/tasks/classification/measured_records.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

void expect_same(const MeasuredSample& one, const MeasuredSample& other) {
  EXPECT_EQ(one.sample.index, other.sample.index);
  EXPECT_EQ(one.sample.label, other.sample.label);
  EXPECT_EQ(one.sample.predicted, other.sample.predicted);
  EXPECT_EQ(one.sample.probability, other.sample.probability);
  EXPECT_EQ(one.loss, other.loss);
  EXPECT_EQ(one.among_five, other.among_five);
}

TEST(MeasuredSamples, AreWhatLogitsSay) {
  // Softmax of log 1 … log 6: k / 21.
  std::vector<float> logs;
  for (int k = 1; k <= 6; ++k) logs.push_back(std::log(static_cast<float>(k)));
  const at::Tensor logits = at::tensor(logs).unsqueeze(0).repeat({2, 1});
  const auto samples = measured({{7, 3}, at::tensor({0, 1}, at::kLong), logits});
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].sample.index, 7);
  EXPECT_EQ(samples[1].sample.index, 3);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(samples[i].sample.label, static_cast<int64_t>(i));
    EXPECT_EQ(samples[i].sample.predicted, 5);
    EXPECT_NEAR(samples[i].sample.probability, 6.0 / 21, 1e-6);
    EXPECT_NEAR(samples[i].loss, std::log(21.0 / static_cast<double>(i + 1)), 1e-6);
    EXPECT_EQ(samples[i].among_five, i == 1) << "the first class is the sixth";
  }
  EXPECT_FALSE(measured({{0}, at::tensor({1}, at::kLong), logits.slice(0, 0, 1).slice(1, 0, 5)})[0].among_five)
      << "five of five are no news";
}

// As from a head of zeros.
TEST(MeasuredSamples, EqualProbabilitiesAreRankedByTheirNumbers) {
  const at::Tensor labels = at::arange(8, at::kLong);
  const std::vector<MeasuredSample> samples = measured({{0, 1, 2, 3, 4, 5, 6, 7}, labels, at::zeros({8, 8})});
  for (int64_t i = 0; i < 8; ++i) {
    const MeasuredSample& sample = samples[static_cast<size_t>(i)];
    EXPECT_EQ(sample.sample.predicted, 0);
    EXPECT_EQ(sample.among_five, i < 5) << i;
  }
}

TEST(MeasuredRecords, AreReadAsTheyWereWritten) {
  const std::vector<MeasuredSample> samples{{{2, 1, 0, 0.1F}, 2.5 / 3, true}, {{0, 5, 5, 1.0F / 3}, -0.0, false}};
  MeasuredRecords six(6, 3), two(7, 3);
  for (size_t i = 0; i < samples.size(); ++i)
    expect_same(six.read(measured_record(samples[i], static_cast<int64_t>(i), 6)), samples[i]);
  EXPECT_EQ(measured_record(samples[1], 4, 5).find("among_five"), std::string::npos);
  MeasuredSample diverged = samples[0];
  diverged.loss = diverged.sample.probability = std::numeric_limits<double>::quiet_NaN();
  const MeasuredSample read = two.read(measured_record(diverged, 0, 7));
  EXPECT_TRUE(std::isnan(read.loss) && std::isnan(read.sample.probability));
}

TEST(MeasuredRecords, RefuseOthers) {
  const MeasuredSample sample{{2, 1, 0, 0.5}, 1, false};
  const auto said = [](MeasuredRecords records, const Record& record) {
    return test::thrown_message<std::runtime_error>([&] { records.read(record); });
  };
  EXPECT_EQ(said({3, 3}, measured_record(sample, 0, 3)), "(nothing thrown)");
  for (const auto& [classes, samples, index] : {std::tuple{3, 2, 0}, {1, 3, 0}, {3, 3, 1}})
    EXPECT_NE(
        said({classes, samples}, measured_record(sample, index, 3)).find("record 0 does not belong to this evaluation"),
        std::string::npos);
  MeasuredRecords records(3, 3);
  records.read(measured_record(sample, 0, 3));
  EXPECT_NE(said(records, measured_record(sample, 1, 3)).find("repeats sample 2 of an earlier record"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
              records.require_all("images");
            }).find("the evaluation is incomplete: there are records of 1 of 3 images"),
            std::string::npos);
}

}  // namespace
}  // namespace cachet::tasks
