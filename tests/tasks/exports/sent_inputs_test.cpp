#include "cachet/tasks/exports/sent_inputs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/png.h"
#include "cachet/models/language/sequence_classifier.h"
#include "tests/support/small_models.h"
#include "tests/support/temporary_directory.h"

namespace cachet::tasks {
namespace {

std::shared_ptr<models::Model> model_named(const std::string& name) {
  for (const test::SmallModel& small : test::small_models())
    if (small.name == name) {
      const auto model = test::built(small, {});
      model->eval();
      return model;
    }
  return nullptr;
}

TEST(SentInputs, ASplitBatchIsJoinedAgain) {
  const at::Tensor ids = at::arange(1, 13).view({3, 4}), padding = at::zeros({3, 4}, at::kBool);
  padding[1].narrow(0, 1, 3).fill_(true);
  padding[2].fill_(true);
  ids[1].narrow(0, 1, 3).zero_();
  const auto samples = split_batch({ids, padding});
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_TRUE(samples[0][0].equal(ids.narrow(0, 0, 1)));
  EXPECT_TRUE(samples[1][0].equal(at::tensor({5}).view({1, 1})));
  EXPECT_EQ(samples[2][0].size(1), 1);
  for (const ClassifierInputs& sample : samples) EXPECT_FALSE(sample[1].any().item<bool>());
  const ClassifierInputs joined = join_samples({samples[0], samples[1]});
  EXPECT_TRUE(joined[0].equal(ids.narrow(0, 0, 2)));
  EXPECT_TRUE(joined[1].equal(padding.narrow(0, 0, 2)));

  const at::Tensor images = at::randn({2, 3, 4, 4});
  EXPECT_TRUE(join_samples(split_batch({images}))[0].equal(images));
}

TEST(SentInputs, SequencesHaveAllKindsOfLengths) {
  for (const char* name : {"lra_text", "lra_matching"}) {
    SCOPED_TRACE(name);
    const auto model = model_named(name);
    const int64_t longest = dynamic_cast<models::SequenceClassifier&>(*model).sequence_shape().max_length;
    const auto samples = synthetic_samples(*model, 12);
    const auto again = synthetic_samples(*model, 12);
    for (size_t i = 0; i < samples.size(); ++i) EXPECT_TRUE(samples[i][0].equal(again[i][0])) << i;
    for (const size_t place : {size_t{0}, samples[0].size() - 2}) {
      std::set<int64_t> lengths, batches;
      for (const ClassifierInputs& inputs : sent_inputs(*model, samples)) {
        batches.insert(inputs[0].size(0));
        if (inputs[0].size(0) == 1) lengths.insert(inputs[place].size(1));
        EXPECT_EQ(inputs[place].sizes(), inputs[place + 1].sizes());
        EXPECT_EQ(deploy::classify(*model, inputs).size(0), inputs[0].size(0));
      }
      EXPECT_EQ(batches, (std::set<int64_t>{1, 2, 3, 7}));
      for (const int64_t length : {int64_t{1}, int64_t{2}, longest - 1, longest}) EXPECT_TRUE(lengths.contains(length));
      EXPECT_GE(lengths.size(), 8U);
    }
  }
}

TEST(SentInputs, OneSampleIsEnough) {
  for (const char* name : {"lra_text", "vit_tiny_patch16_224"}) {
    const auto model = model_named(name);
    for (const ClassifierInputs& inputs : sent_inputs(*model, synthetic_samples(*model, 1)))
      EXPECT_EQ(deploy::classify(*model, inputs).size(0), inputs[0].size(0));
  }
}

TEST(SentInputs, OddImagesDiffer) {
  test::TemporaryDirectory scratch;
  std::set<std::vector<int64_t>> shapes;
  std::set<std::vector<int64_t>> colours;  // of images of one colour
  const auto files = write_odd_images(scratch.path(), 32, 48);
  for (const auto& file : files) {
    const at::Tensor image = io::decode_png(io::read_file(file, 1 << 20), file.string());
    const at::Tensor first = image[0][0];
    if (image.numel() > 3 && at::equal(image, first.expand_as(image))) {
      EXPECT_EQ(image.sizes(), at::IntArrayRef({32, 48, 3})) << file;
      colours.insert({first[0].item<int64_t>(), first[1].item<int64_t>(), first[2].item<int64_t>()});
      continue;
    }
    shapes.insert(image.sizes().vec());
    const double deviation = image.to(at::kFloat).std(/*unbiased=*/false).item<double>();
    EXPECT_TRUE(image.numel() == 3 || deviation > 10) << file << ": " << deviation;
  }
  EXPECT_EQ(colours,
            (std::set<std::vector<int64_t>>{{240, 10, 10}, {10, 240, 10}, {10, 10, 240}, {0, 0, 0}, {255, 255, 255}}));
  EXPECT_EQ(shapes.size() + colours.size(), files.size());
  EXPECT_TRUE(shapes.contains({1, 1, 3}));
  EXPECT_TRUE(shapes.contains({32, 48, 1}));
}

}  // namespace
}  // namespace cachet::tasks
