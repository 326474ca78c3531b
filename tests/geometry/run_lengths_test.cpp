#include "cachet/geometry/run_lengths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "tests/support/coco_json.h"
#include "tests/support/thrown_message.h"

namespace cachet::geometry {
namespace {

using test::thrown_message;
using Bitmap = std::vector<uint8_t>;

std::string refusal(const Size& size, std::string_view text) {
  return thrown_message<std::invalid_argument>([&] { RunLengths::from_text(size, text); });
}

std::string refusal(const Size& size, const std::vector<uint32_t>& counts) {
  return thrown_message<std::invalid_argument>([&] { RunLengths(size, counts); });
}

// Blots of a few pixels, rows wider and narrower than the eight that are compared at once.
Bitmap random_bitmap(const Size& size, double share, std::mt19937& random) {
  Bitmap pixels(static_cast<size_t>(size.height * size.width));
  std::bernoulli_distribution switches(share);
  uint8_t now = 0;
  for (uint8_t& pixel : pixels) {
    if (switches(random)) now = now == 0 ? 255 : 0;
    pixel = now;
  }
  return pixels;
}

TEST(RunLengths, CountColumnByColumn) {
  const Bitmap pixels{0, 1, 1,  //
                      0, 1, 0};
  const RunLengths mask = RunLengths::of_bitmap({2, 3}, pixels);
  EXPECT_EQ(mask.counts(), (std::vector<uint32_t>{2, 3, 1}));
  EXPECT_EQ(mask.bitmap(), pixels);
  EXPECT_EQ(mask.area(), 3);
  EXPECT_EQ(mask.box(), (SizedBox{1, 0, 2, 2}));
}

TEST(RunLengths, HaveOneFormForEachSetOfPixels) {
  const Size size{2, 3};
  const RunLengths whole(size, std::vector<uint32_t>{0, 6}), none(size, std::vector<uint32_t>{6});
  EXPECT_EQ(RunLengths::of_bitmap(size, Bitmap(6, 1)), whole);
  EXPECT_EQ(RunLengths::of_bitmap(size, Bitmap(6, 0)), none);
  EXPECT_EQ(RunLengths(size, std::vector<uint32_t>{6, 0}), none);
  EXPECT_EQ(RunLengths(size, std::vector<uint32_t>{0, 0, 2, 0, 4}), none);
  EXPECT_EQ(RunLengths(size, std::vector<uint32_t>{0, 2, 0, 4, 0}), whole);
  EXPECT_EQ(RunLengths(size, std::vector<uint32_t>{1, 0, 1, 2, 0, 1, 1}),
            RunLengths(size, std::vector<uint32_t>{2, 3, 1}));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.area(), 0);
  EXPECT_EQ(none.box(), SizedBox{});
  EXPECT_EQ(whole.box(), (SizedBox{0, 0, 3, 2}));
  EXPECT_TRUE(RunLengths().empty());
}

TEST(RunLengths, GoThroughBitmapsAndTextUnchanged) {
  std::mt19937 random(1);
  for (const Size& size : {Size{1, 1}, {1, 40}, {40, 1}, {7, 9}, {33, 70}, {200, 170}}) {
    for (const double share : {0.02, 0.3, 0.9}) {
      const Bitmap pixels = random_bitmap(size, share, random);
      const RunLengths mask = RunLengths::of_bitmap(size, pixels);
      EXPECT_EQ(RunLengths::of_bitmap(size, mask.bitmap()), mask);
      EXPECT_EQ(RunLengths::from_text(size, mask.text()), mask);
      EXPECT_EQ(RunLengths(size, mask.counts()), mask);
      int64_t area = 0;
      const Bitmap again = mask.bitmap();
      for (size_t i = 0; i < pixels.size(); ++i) {
        area += again[i];
        ASSERT_EQ(again[i] != 0, pixels[i] != 0);
      }
      EXPECT_EQ(mask.area(), area);
    }
  }
}

TEST(RunLengths, AreThoseOfPycocotools) {
  const auto oracle = test::json_oracle("coco_eval.json");
  for (const auto& entry : oracle["masks"]) {
    const RunLengths mask = test::mask_of(entry["rle"]), other = test::mask_of(entry["other"]);
    EXPECT_EQ(mask.counts(), entry["counts"].get<std::vector<uint32_t>>());
    EXPECT_EQ(mask.text(), entry["rle"]["counts"]);
    EXPECT_EQ(mask.area(), entry["area"]);
    EXPECT_EQ(mask.box(), test::sized_box_of(entry["bbox"]));
    EXPECT_EQ(RunLengths::of_bitmap(mask.size(), mask.bitmap()), mask);
    EXPECT_DOUBLE_EQ(overlap(mask, other), entry["iou"]);
    EXPECT_DOUBLE_EQ(overlap(mask, other, true), entry["iou_other_is_crowd"]);
  }
  size_t texts = 0;
  for (const auto& entry : oracle["segm_detections"]) {
    EXPECT_EQ(test::mask_of(entry["segmentation"]).text(), entry["segmentation"]["counts"]);
    ++texts;
  }
  EXPECT_GT(texts, 200u);
}

TEST(RunLengths, OfPastedMasksComeBack) {
  std::ifstream file(test::oracle_folder() / "det_mask_head.safetensors", std::ios::binary);
  uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof(length));
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  const auto metadata = nlohmann::json::parse(header)["__metadata__"];
  size_t masks = 0;
  for (const char* key : {"rle.rescale0", "rle.rescale1"}) {
    for (const auto& entry : nlohmann::json::parse(metadata[key].get<std::string>())) {
      const RunLengths mask = test::mask_of(entry);
      EXPECT_EQ(RunLengths::of_bitmap(mask.size(), mask.bitmap()).text(), entry["counts"]);
      ++masks;
    }
  }
  EXPECT_EQ(masks, 12u);
}

TEST(RunLengths, CombineLikeBitmaps) {
  std::mt19937 random(2);
  const Size size{23, 31};
  for (int round = 0; round < 20; ++round) {
    std::vector<RunLengths> masks;
    std::vector<Bitmap> bitmaps;
    for (const double share : {0.02, 0.1, 0.5}) {
      masks.push_back(RunLengths::of_bitmap(size, random_bitmap(size, share, random)));
      bitmaps.push_back(masks.back().bitmap());
    }
    Bitmap any(bitmaps[0].size()), all(any), two(any);
    int64_t shared = 0, either = 0;
    for (size_t i = 0; i < any.size(); ++i) {
      any[i] = bitmaps[0][i] | bitmaps[1][i] | bitmaps[2][i];
      all[i] = bitmaps[0][i] & bitmaps[1][i] & bitmaps[2][i];
      shared += bitmaps[0][i] & bitmaps[1][i];
      either += bitmaps[0][i] | bitmaps[1][i];
    }
    EXPECT_EQ(united(masks), RunLengths::of_bitmap(size, any));
    EXPECT_EQ(intersected(masks), RunLengths::of_bitmap(size, all));
    EXPECT_EQ(shared_pixels(masks[0], masks[1]), shared);
    EXPECT_DOUBLE_EQ(overlap(masks[0], masks[1]), static_cast<double>(shared) / static_cast<double>(either));
  }
  const RunLengths none(size, std::vector<uint32_t>{23 * 31});
  EXPECT_EQ(overlap(none, none), 0);
  EXPECT_EQ(overlap(none, none, true), 0);
}

TEST(RunLengths, RefuseSizesThatCannotBe) {
  const std::vector<uint32_t> none;
  EXPECT_EQ(refusal({0, 5}, none), "a mask cannot have 0 × 5 pixels; it must have 1 to 2147483647 pixels");
  EXPECT_EQ(refusal({5, -1}, none), "a mask cannot have 5 × -1 pixels; it must have 1 to 2147483647 pixels");
  EXPECT_EQ(refusal({65536, 32768}, none),
            "a mask cannot have 65536 × 32768 pixels; it must have 1 to 2147483647 pixels");
  EXPECT_EQ(refusal({INT64_MAX, INT64_MAX}, std::string_view("0")),
            "a mask cannot have 9223372036854775807 × 9223372036854775807 pixels; it must have 1 to 2147483647 pixels");
  EXPECT_EQ(thrown_message<std::invalid_argument>([] {
              RunLengths::of_bitmap({2, 2}, Bitmap(3));
            }),
            "a bitmap of 2 × 2 pixels must have one byte for each pixel, not 3 bytes");
  EXPECT_EQ(thrown_message<std::invalid_argument>([] {
              RunBuilder(Size{0, 0});
            }),
            "a mask cannot have 0 × 0 pixels; it must have 1 to 2147483647 pixels");
}

TEST(RunLengths, RefuseCountsThatDoNotFit) {
  EXPECT_EQ(refusal({2, 3}, std::vector<uint32_t>{2, 3}),
            "the run lengths of a mask of 2 × 3 pixels add up to 5, not to 6");
  EXPECT_EQ(refusal({2, 3}, std::vector<uint32_t>{}),
            "the run lengths of a mask of 2 × 3 pixels add up to 0, not to 6");
  EXPECT_EQ(refusal({2, 3}, std::vector<uint32_t>{2, 5}),
            "the run lengths of a mask of 2 × 3 pixels add up to more than 6");
  EXPECT_EQ(refusal({2, 3}, std::vector<uint32_t>{6, 0xFFFFFFFF, 7}),
            "the run lengths of a mask of 2 × 3 pixels add up to more than 6");
}

TEST(RunLengths, RefuseTextThatIsNone) {
  EXPECT_EQ(refusal({2, 3}, ""), "the run lengths of a mask of 2 × 3 pixels add up to 0, not to 6");
  EXPECT_EQ(refusal({2, 3}, "2"), "the run lengths of a mask of 2 × 3 pixels add up to 2, not to 6");
  EXPECT_EQ(refusal({2, 3}, "7"), "compressed run lengths, byte 0: the lengths add up to more than the 2 × 3 pixels");
  EXPECT_EQ(refusal({2, 3}, "2R"), "compressed run lengths, byte 1: the text ends within a number");
  EXPECT_EQ(refusal({2, 3}, "ooooooo0"), "compressed run lengths, byte 0: a number has more than 35 bits");
  EXPECT_EQ(refusal({2, 3}, "2 "), "compressed run lengths, byte 1: a number must have only symbols from '0' to 'o'");
  EXPECT_EQ(refusal({2, 3}, "2\xC3\xA4"),
            "compressed run lengths, byte 1: a number must have only symbols from '0' to 'o'");
  EXPECT_EQ(refusal({2, 3}, std::string_view("2\0", 2)),
            "compressed run lengths, byte 1: a number must have only symbols from '0' to 'o'");
  EXPECT_EQ(refusal({2, 3}, "O"), "compressed run lengths, byte 0: a length is negative");
  EXPECT_EQ(refusal({2, 3}, "oooooo?"),
            "compressed run lengths, byte 0: the lengths add up to more than the 2 × 3 pixels");
  EXPECT_EQ(refusal({9, 9}, "123M"), "compressed run lengths, byte 3: a length is negative");
}

TEST(RunLengths, RefuseMasksOfTwoSizes) {
  const RunLengths a({2, 3}, std::vector<uint32_t>{6}), b({3, 2}, std::vector<uint32_t>{6});
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { overlap(a, b); }),
            "masks of 2 × 3 and 3 × 2 pixels cannot be compared");
  const std::vector<RunLengths> both{a, b};
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { united(both); }),
            "masks of 2 × 3 and 3 × 2 pixels cannot be compared");
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { united({}); }), "there is no mask to combine");
}

}  // namespace
}  // namespace cachet::geometry
