#include "cachet/geometry/run_lengths.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace cachet::geometry {
namespace {

std::string words(const Size& size) { return std::to_string(size.height) + " × " + std::to_string(size.width); }

uint64_t pixels_of(const Size& size) {
  if (size.height < 1 || size.width < 1 || size.height > kMaxMaskPixels / size.width)
    throw std::invalid_argument("a mask cannot have " + words(size) + " pixels; it must have 1 to " +
                                std::to_string(kMaxMaskPixels) + " pixels");
  return static_cast<uint64_t>(size.height) * static_cast<uint64_t>(size.width);
}

void check_same_size(const RunLengths& a, const RunLengths& b) {
  if (a.size() != b.size())
    throw std::invalid_argument("masks of " + words(a.size()) + " and " + words(b.size()) +
                                " pixels cannot be compared");
}

// Walks two masks side by side: visit(length, inside_a, inside_b) for each stretch in which neither changes.
template <class Visit>
void walk_both(const RunLengths& a, const RunLengths& b, Visit visit) {
  const auto &counts_a = a.counts(), &counts_b = b.counts();
  size_t i = 0, j = 0;
  uint32_t left_a = counts_a.empty() ? 0 : counts_a[0], left_b = counts_b.empty() ? 0 : counts_b[0];
  while (i < counts_a.size() && j < counts_b.size()) {
    const uint32_t length = std::min(left_a, left_b);
    visit(length, i % 2 == 1, j % 2 == 1);
    left_a -= length;
    left_b -= length;
    if (left_a == 0 && ++i < counts_a.size()) left_a = counts_a[i];
    if (left_b == 0 && ++j < counts_b.size()) left_b = counts_b[j];
  }
}

template <class Inside>
RunLengths combined(std::span<const RunLengths> masks, Inside inside) {
  if (masks.empty()) throw std::invalid_argument("there is no mask to combine");
  RunLengths result = masks.front();
  for (const RunLengths& mask : masks.subspan(1)) {
    check_same_size(result, mask);
    RunBuilder builder(mask.size());
    uint64_t position = 0;
    walk_both(result, mask, [&](uint32_t length, bool in_a, bool in_b) {
      if (inside(in_a, in_b)) builder.add(position, position + length);
      position += length;
    });
    result = builder.finish();
  }
  return result;
}

// Where a row of a bitmap enters or leaves the object compared with the row above: visit(column). Most rows are like
// the one above for long, so eight pixels are compared at once.
template <class Visit>
void changes_between(const uint8_t* above, const uint8_t* row, int64_t width, Visit visit) {
  int64_t x = 0;
  for (; x + 8 <= width; x += 8) {
    if (std::memcmp(above + x, row + x, 8) == 0) continue;
    for (int64_t i = x; i < x + 8; ++i) {
      if ((above[i] != 0) != (row[i] != 0)) visit(i);
    }
  }
  for (; x < width; ++x) {
    if ((above[x] != 0) != (row[x] != 0)) visit(x);
  }
}

}  // namespace

RunLengths::RunLengths(const Size& size, std::span<const uint32_t> counts) : size_(size) {
  const uint64_t pixels = pixels_of(size);
  uint64_t sum = 0;
  counts_.reserve(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > pixels - sum)
      throw std::invalid_argument("the run lengths of a mask of " + words(size) + " pixels add up to more than " +
                                  std::to_string(pixels));
    sum += counts[i];
    // An empty run joins its neighbours: where the next one would be of the other kind, it continues the last.
    if (i > 0 && counts[i] == 0) continue;
    if (counts_.size() % 2 == i % 2) {
      counts_.push_back(counts[i]);
    } else {
      counts_.back() += counts[i];
    }
  }
  if (sum != pixels)
    throw std::invalid_argument("the run lengths of a mask of " + words(size) + " pixels add up to " +
                                std::to_string(sum) + ", not to " + std::to_string(pixels));
}

RunLengths RunLengths::from_text(const Size& size, std::string_view text) {
  const uint64_t pixels = pixels_of(size);
  const auto fail = [](size_t position, const std::string& what) {
    throw std::invalid_argument("compressed run lengths, byte " + std::to_string(position) + ": " + what);
  };
  std::vector<uint32_t> counts;
  uint64_t sum = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t start = at;
    int64_t value = 0;
    bool more = true;
    for (int shift = 0; more; shift += 5) {
      if (at == text.size()) fail(start, "the text ends within a number");
      const int symbol = static_cast<unsigned char>(text[at]) - 48;
      if (symbol < 0 || symbol > 63) fail(at, "a number must have only symbols from '0' to 'o'");
      if (shift > 30) fail(start, "a number has more than 35 bits");
      ++at;
      more = (symbol & 32) != 0;
      value += static_cast<int64_t>(symbol & 31) << shift;
      if (!more && (symbol & 16) != 0) value -= int64_t{1} << (shift + 5);
    }
    if (counts.size() > 2) value += counts[counts.size() - 2];
    if (value < 0) fail(start, "a length is negative");
    if (static_cast<uint64_t>(value) > pixels - sum)
      fail(start, "the lengths add up to more than the " + words(size) + " pixels");
    sum += static_cast<uint64_t>(value);
    counts.push_back(static_cast<uint32_t>(value));
  }
  return {size, counts};
}

std::string RunLengths::text() const {
  std::string text;
  for (size_t i = 0; i < counts_.size(); ++i) {
    int64_t value = counts_[i];
    if (i > 2) value -= counts_[i - 2];
    bool more = true;
    while (more) {
      auto symbol = static_cast<int>(value & 31);
      value >>= 5;
      more = (symbol & 16) != 0 ? value != -1 : value != 0;
      if (more) symbol |= 32;
      text += static_cast<char>(symbol + 48);
    }
  }
  return text;
}

RunLengths RunLengths::of_bitmap(const Size& size, std::span<const uint8_t> pixels) {
  if (pixels.size() != pixels_of(size))
    throw std::invalid_argument("a bitmap of " + words(size) + " pixels must have one byte for each pixel, not " +
                                std::to_string(pixels.size()) + " bytes");
  const auto width = static_cast<size_t>(size.width);
  // Where a column's pixels change, found row by row, which is how they lie in memory. The pixel before a column's
  // first is the last one of the column before.
  std::vector<uint8_t> before(width, 0);
  const std::span<const uint8_t> last_row = pixels.last(width);
  for (size_t x = 1; x < width; ++x) before[x] = last_row[x - 1];
  std::vector<std::array<uint32_t, 2>> changes;  // column, row
  std::vector<size_t> first(width + 1, 0);       // of each column in what follows
  const uint8_t* above = before.data();
  for (int64_t y = 0; y < size.height; ++y) {
    const uint8_t* row = pixels.data() + y * size.width;
    changes_between(above, row, size.width, [&](int64_t x) {
      changes.push_back({static_cast<uint32_t>(x), static_cast<uint32_t>(y)});
      ++first[static_cast<size_t>(x) + 1];
    });
    above = row;
  }
  for (size_t x = 0; x < width; ++x) first[x + 1] += first[x];
  std::vector<uint64_t> positions(changes.size());
  for (const auto& [x, y] : changes) positions[first[x]++] = uint64_t{x} * static_cast<uint64_t>(size.height) + y;

  RunLengths mask;
  mask.size_ = size;
  mask.counts_.reserve(positions.size() + 1);
  uint64_t last = 0;
  for (const uint64_t position : positions) {
    mask.counts_.push_back(static_cast<uint32_t>(position - last));
    last = position;
  }
  mask.counts_.push_back(static_cast<uint32_t>(pixels.size() - last));
  return mask;
}

std::vector<uint8_t> RunLengths::bitmap() const {
  const auto height = static_cast<size_t>(size_.height), width = static_cast<size_t>(size_.width);
  std::vector<uint8_t> pixels(height * width, 0);
  size_t position = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    const size_t end = position + counts_[i];
    if (i % 2 == 1) {
      size_t x = position / height, y = position % height;
      for (; position < end; ++position) {
        pixels[y * width + x] = 1;
        if (++y == height) {
          y = 0;
          ++x;
        }
      }
    }
    position = end;
  }
  return pixels;
}

int64_t RunLengths::area() const {
  int64_t area = 0;
  for (size_t i = 1; i < counts_.size(); i += 2) area += counts_[i];
  return area;
}

SizedBox RunLengths::box() const {
  if (empty()) return {};
  int64_t left = size_.width, top = size_.height, right = 0, bottom = 0;
  int64_t position = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    const int64_t end = position + counts_[i];
    if (i % 2 == 1) {
      const int64_t first = position / size_.height, last = (end - 1) / size_.height;
      left = std::min(left, first);
      right = std::max(right, last + 1);
      const bool one_column = first == last;  // a run over the border of two columns has pixels at the bottom and top
      top = std::min(top, one_column ? position % size_.height : 0);
      bottom = std::max(bottom, one_column ? (end - 1) % size_.height + 1 : size_.height);
    }
    position = end;
  }
  return {static_cast<double>(left), static_cast<double>(top), static_cast<double>(right - left),
          static_cast<double>(bottom - top)};
}

RunBuilder::RunBuilder(const Size& size) {
  pixels_of(size);
  mask_.size_ = size;
}

void RunBuilder::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  auto& counts = mask_.counts_;
  if (begin == end_ && !counts.empty()) {
    counts.back() += static_cast<uint32_t>(end - begin);
  } else {
    counts.push_back(static_cast<uint32_t>(begin - end_));
    counts.push_back(static_cast<uint32_t>(end - begin));
  }
  end_ = end;
}

void RunBuilder::add(int64_t column, int64_t top, int64_t bottom) {
  const int64_t start = column * mask_.size_.height;
  if (top < bottom) add(static_cast<uint64_t>(start + top), static_cast<uint64_t>(start + bottom));
}

RunLengths RunBuilder::finish() {
  const uint64_t pixels = pixels_of(mask_.size_);
  if (end_ < pixels) mask_.counts_.push_back(static_cast<uint32_t>(pixels - end_));
  return std::move(mask_);
}

int64_t shared_pixels(const RunLengths& a, const RunLengths& b) {
  check_same_size(a, b);
  int64_t shared = 0;
  walk_both(a, b, [&](uint32_t length, bool in_a, bool in_b) { shared += in_a && in_b ? length : 0; });
  return shared;
}

double overlap(const RunLengths& detection, const RunLengths& truth, bool truth_is_crowd) {
  const int64_t shared = shared_pixels(detection, truth);
  if (shared == 0) return 0;
  const int64_t whole = truth_is_crowd ? detection.area() : detection.area() + truth.area() - shared;
  return static_cast<double>(shared) / static_cast<double>(whole);
}

RunLengths united(std::span<const RunLengths> masks) {
  return combined(masks, [](bool in_a, bool in_b) { return in_a || in_b; });
}

RunLengths intersected(std::span<const RunLengths> masks) {
  return combined(masks, [](bool in_a, bool in_b) { return in_a && in_b; });
}

}  // namespace cachet::geometry
