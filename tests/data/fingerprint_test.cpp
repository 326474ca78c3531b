#include "cachet/data/fingerprint.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/labelled_images.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

std::string fingerprint_of(const at::Tensor& images, const std::vector<int64_t>& labels) {
  return LabelledImages(std::make_shared<StoredImages>(images), ClassLabels(labels, {"a", "b"})).fingerprint();
}

TEST(Fingerprint, OfImagesSeesLabelsPixelsAndShapes) {
  const at::Tensor images = at::zeros({4, 1, 2, 3}, at::kByte);
  at::Tensor other = images.clone();
  other.view(-1)[23] = 1;
  std::set<std::string> all{
      fingerprint_of(images, {0, 1, 0, 1}), fingerprint_of(images, {1, 0, 1, 0}), fingerprint_of(other, {0, 1, 0, 1}),
      fingerprint_of(images.view({4, 1, 3, 2}), {0, 1, 0, 1}), fingerprint_of(images.narrow(0, 0, 3), {0, 1, 0})};
  EXPECT_EQ(all.size(), 5U);
  EXPECT_EQ(all.begin()->size(), 16U);
  EXPECT_EQ(fingerprint_of(images.clone(), {0, 1, 0, 1}), fingerprint_of(images, {0, 1, 0, 1}));
}

TEST(Fingerprint, OfFilesSeesNamesAndSizes) {
  const test::TemporaryDirectory folder;
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; };
  const auto text_of = [&](const std::vector<std::string>& names) {
    Fingerprint fingerprint;
    ImageFiles(folder.path(), names).add_to(fingerprint);
    return fingerprint.text();
  };
  write("a.png", "12");
  write("b.png", "34");
  const std::string before = text_of({"a.png", "b.png"});
  EXPECT_NE(text_of({"b.png", "a.png"}), before);
  write("b.png", "345");
  EXPECT_NE(text_of({"a.png", "b.png"}), before);
  write("b.png", "56");
  EXPECT_EQ(text_of({"a.png", "b.png"}), before) << "contents are not read";
}

TEST(Fingerprint, OfSequencesSeesTokensLabelsAndPairs) {
  const auto fingerprint_of = [](const std::vector<std::vector<Token>>& sequences,
                                 std::vector<SequenceSample> samples) {
    auto store = std::make_shared<TokenStore>(9);
    for (const auto& sequence : sequences) store->add(sequence);
    return SequenceDataset(store, std::move(samples), Vocabulary{9, "v"}, {"a", "b"}).fingerprint();
  };
  const std::set<std::string> all{
      fingerprint_of({{1, 2}, {3}}, {{0, -1, 0}, {1, -1, 1}}), fingerprint_of({{1, 2}, {4}}, {{0, -1, 0}, {1, -1, 1}}),
      fingerprint_of({{1, 2}, {3}}, {{0, -1, 1}, {1, -1, 0}}), fingerprint_of({{1}, {2, 3}}, {{0, -1, 0}, {1, -1, 1}}),
      fingerprint_of({{1, 2}, {3}}, {{0, 1, 0}, {1, 0, 1}})};
  EXPECT_EQ(all.size(), 5U);
}

TEST(Fingerprint, LooksAtAnEvenChoiceOfManySamples) {
  std::vector<int64_t> seen;
  Fingerprint::for_some(1'000'000, [&](int64_t index) { seen.push_back(index); });
  EXPECT_EQ(seen.size(), 4096U);
  EXPECT_EQ(seen.front(), 0);
  EXPECT_EQ(seen.back(), 999'999);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  seen.clear();
  Fingerprint::for_some(3, [&](int64_t index) { seen.push_back(index); });
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2}));
  Fingerprint::for_some(0, [](int64_t) { FAIL(); });
}

}  // namespace
}  // namespace cachet::data
