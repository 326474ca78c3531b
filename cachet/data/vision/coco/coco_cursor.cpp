#include "cachet/data/vision/coco/coco_cursor.h"

#include <stdexcept>

namespace cachet::data {
namespace {

constexpr size_t kMaxMaskText = size_t{256} << 20;

}  // namespace

CocoRuns read_coco_runs(io::JsonCursor& cursor) {
  CocoRuns runs;
  read_object(cursor, "a mask", {"size", "counts"}, [&](std::string_view key) {
    if (key == "size") {
      read_array(cursor, "the size of a mask", [&] {
        const int64_t side = cursor.natural("a side of a mask");
        if (runs.size.size() < 3) runs.size.push_back(side);
      });
      return true;
    }
    if (key != "counts") return false;
    if (cursor.peek() == '"') {
      runs.compressed = true;
      runs.text = cursor.string("the run lengths of a mask", kMaxMaskText);
    } else {
      read_array(cursor, "the run lengths of a mask",
                 [&] { runs.counts.push_back(cursor.natural("a run length of a mask")); });
    }
    return true;
  });
  return runs;
}

geometry::RunLengths mask_of(const CocoRuns& runs) {
  if (runs.size.size() != 2) throw std::invalid_argument("the size of a mask must be a height and a width");
  const geometry::Size size{runs.size[0], runs.size[1]};
  if (runs.compressed) return geometry::RunLengths::from_text(size, runs.text);
  std::vector<uint32_t> counts;
  counts.reserve(runs.counts.size());
  for (const int64_t count : runs.counts) {
    if (count > geometry::kMaxMaskPixels)
      throw std::invalid_argument("a run of " + std::to_string(count) + " pixels is longer than a mask can be");
    counts.push_back(static_cast<uint32_t>(count));
  }
  return {size, counts};
}

std::vector<double> read_numbers(io::JsonCursor& cursor, std::string_view what, size_t most) {
  std::vector<double> numbers;
  read_array(cursor, what, [&] {
    const double number = cursor.number(what);
    if (numbers.size() < most) numbers.push_back(number);
  });
  return numbers;
}

}  // namespace cachet::data
