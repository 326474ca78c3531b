// Verdicts as a line of numbers: image, how many categories, then of each: category, truths in each range, how many
// detections, and of these: score, and for each range the bits of matched and ignored.
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {
namespace {

template <class Number>
void append(std::string& line, Number number) {
  char text[32];
  const auto result = std::to_chars(std::begin(text), std::end(text), number);
  if (!line.empty()) line += ' ';
  line.append(text, result.ptr);
}

class LineOfNumbers {
 public:
  explicit LineOfNumbers(std::string_view line) : line_(line) {}

  template <class Number>
  Number next(const char* what, Number least, Number most) {
    if (at_ > 0 && at_ < line_.size() && line_[at_] == ' ') ++at_;
    Number number{};
    const auto result = std::from_chars(line_.data() + at_, line_.data() + line_.size(), number);
    const bool whole = result.ec == std::errc() && (result.ptr == line_.data() + line_.size() || *result.ptr == ' ');
    if (!whole || !(number >= least && number <= most))
      throw std::invalid_argument("a line of an evaluation's state, byte " + std::to_string(at_) + ": no " + what);
    at_ = static_cast<size_t>(result.ptr - line_.data());
    return number;
  }

  /// How many things of at least `bytes` bytes can follow.
  int64_t room(size_t bytes) const { return static_cast<int64_t>((line_.size() - at_) / bytes); }

  void end() const {
    if (at_ != line_.size())
      throw std::invalid_argument("a line of an evaluation's state, byte " + std::to_string(at_) +
                                  ": something follows its end");
  }

 private:
  std::string_view line_;
  size_t at_ = 0;
};

}  // namespace

std::string to_line(const ImageVerdicts& verdicts) {
  std::string line;
  append(line, verdicts.image);
  append(line, verdicts.categories.size());
  size_t next = 0;
  for (const CategoryVerdicts& category : verdicts.categories) {
    append(line, category.category);
    for (const int32_t truths : category.truths) append(line, truths);
    append(line, category.detections);
    for (int64_t i = 0; i < category.detections; ++i) {
      const DetectionVerdict& detection = verdicts.detections[next++];
      append(line, detection.score);
      for (const uint16_t bits : detection.matched) append(line, bits);
      for (const uint16_t bits : detection.ignored) append(line, bits);
    }
  }
  return line;
}

ImageVerdicts image_verdicts(std::string_view line) {
  constexpr int32_t kMax32 = INT32_MAX;
  constexpr uint16_t kMaxBits = (1u << kOverlapThresholds) - 1;
  LineOfNumbers numbers(line);
  ImageVerdicts verdicts;
  verdicts.image = numbers.next<int64_t>("image", INT64_MIN, INT64_MAX);
  const auto categories = numbers.next<int64_t>("number of categories", 0, numbers.room(12));
  for (int64_t c = 0; c < categories; ++c) {
    CategoryVerdicts category;
    const int32_t least = verdicts.categories.empty() ? 0 : verdicts.categories.back().category + 1;
    category.category = numbers.next<int32_t>("category", least, kMax32 - 1);
    for (int32_t& truths : category.truths) truths = numbers.next<int32_t>("number of truths", 0, kMax32);
    category.detections = numbers.next<int64_t>("number of detections", 0, kMaxDetections);
    double last = INFINITY;
    for (int64_t i = 0; i < category.detections; ++i) {
      DetectionVerdict detection;
      detection.score = last =
          numbers.next<double>("score", -1.7976931348623157e308, std::min(last, 1.7976931348623157e308));
      for (uint16_t& bits : detection.matched) bits = numbers.next<uint16_t>("bits", 0, kMaxBits);
      for (uint16_t& bits : detection.ignored) bits = numbers.next<uint16_t>("bits", 0, kMaxBits);
      verdicts.detections.push_back(detection);
    }
    verdicts.categories.push_back(category);
  }
  numbers.end();
  return verdicts;
}

}  // namespace cachet::metrics
