#include "cachet/data/vision/labelled_images.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace cachet::data {
namespace {

std::shared_ptr<const ImageSource> three_pixels() {
  return std::make_shared<StoredImages>(at::arange(3, at::kByte).view({3, 1, 1, 1}));
}

TEST(ClassLabels, TellWhatTheyHold) {
  const ClassLabels labels({1, 0, 1}, {"cat", "dog"});
  EXPECT_EQ(labels.size(), 3);
  EXPECT_EQ(labels.classes(), 2);
  EXPECT_EQ(labels.class_names()[1], "dog");
  EXPECT_EQ(labels[1], 0);
  EXPECT_TRUE(labels.tensor().equal(at::tensor({1, 0, 1}, at::kLong)));
  EXPECT_EQ(labels.subset({2, 1}).values(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(labels.subset({}).class_names(), labels.class_names());
  EXPECT_THROW(labels[3], std::out_of_range);
}

TEST(ClassLabels, TakeTheClassesOfAnotherList) {
  const ClassLabels labels({0, 1, 1, 0}, {"cat", "dog"});
  const ClassLabels other = labels.with_classes({2, 0}, {"dog", "eel", "cat"});
  EXPECT_EQ(other.values(), (std::vector<int64_t>{2, 0, 0, 2}));
  EXPECT_EQ(other.class_names()[2], "cat");
  EXPECT_THROW(labels.with_classes({0, 3}, {"dog", "eel", "cat"}), std::invalid_argument);
}

TEST(ClassLabels, RefuseWhatIsNoClass) {
  EXPECT_THROW(ClassLabels({0, 1}, {"a"}), std::invalid_argument);
  EXPECT_THROW(ClassLabels({0, -1}, {"a"}), std::invalid_argument);
}

// The source of the images knows nothing of labels: boxes, say, can be put beside the same one.
TEST(LabelledImages, AreASourceAndLabelsBesideIt) {
  const auto source = three_pixels();
  const LabelledImages samples(source, ClassLabels({1, 0, 1}, {"cat", "dog"}));
  EXPECT_EQ(&samples.images(), source.get());
  const auto chosen = samples.subset({2, 1});
  ASSERT_EQ(chosen->size(), 2);
  EXPECT_EQ(chosen->images().image(0).item<int64_t>(), 2);
  EXPECT_EQ(chosen->images().image(1).item<int64_t>(), 1);
  EXPECT_EQ(chosen->labels().values(), (std::vector<int64_t>{1, 0}));
  EXPECT_THROW(LabelledImages(source, ClassLabels({0}, {"a"})), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::data
