#include "cachet/data/vision/coco/coco_results.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "cachet/data/vision/coco/coco_cursor.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_cursor.h"

namespace cachet::data {
namespace {

constexpr uint64_t kMaxResultsBytes = uint64_t{4} << 30;

template <class Number>
void append_number(std::string& text, Number number) {
  char digits[32];
  text.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

class ResultsReader {
 public:
  ResultsReader(std::string_view text, std::string_view name) : cursor_(text, name, "JSON") {}

  void read(const std::function<void(CocoDetection)>& entry) {
    read_array(cursor_, "a file of COCO results", [&] {
      ++number_;
      entry(read_entry());
    });
    cursor_.end();
  }

 private:
  [[noreturn]] void fail(const std::string& message) {
    cursor_.fail("detection " + std::to_string(number_) + " " + message);
  }

  CocoDetection read_entry() {
    CocoDetection detection;
    bool image = false, category = false, score = false;
    read_object(cursor_, "a detection", {"image_id", "category_id", "bbox", "score", "segmentation"},
                [&](std::string_view key) {
                  if (key == "image_id") {
                    image = true;
                    detection.image_id = cursor_.natural("'image_id'");
                  } else if (key == "category_id") {
                    category = true;
                    detection.category_id = cursor_.natural("'category_id'");
                  } else if (key == "bbox") {
                    detection.box = read_box();
                  } else if (key == "score") {
                    score = true;
                    detection.score = cursor_.number("'score'");
                  } else if (key == "segmentation") {
                    detection.mask = read_mask();
                  } else {
                    return false;
                  }
                  return true;
                });
    for (const auto& [there, key] : {std::pair{image, "image_id"}, {category, "category_id"}, {score, "score"}}) {
      if (!there) fail(std::string("has no '") + key + "'");
    }
    if (!std::isfinite(detection.score)) fail("has a score that is not finite");
    if (!detection.box && !detection.mask) fail("has neither 'bbox' nor 'segmentation'");
    return detection;
  }

  geometry::SizedBox read_box() {
    const std::vector<double> numbers = read_numbers(cursor_, "a box", 5);
    const bool finite =
        std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
    if (numbers.size() != 4 || !finite || numbers[2] < 0 || numbers[3] < 0)
      fail("has a wrong box; a box must be four finite numbers, with a width and height of at least 0");
    return {numbers[0], numbers[1], numbers[2], numbers[3]};
  }

  geometry::RunLengths read_mask() {
    try {
      return mask_of(read_coco_runs(cursor_));
    } catch (const std::invalid_argument& error) {
      fail("has a mask that cannot be read: " + std::string(error.what()));
    }
  }

  io::JsonCursor cursor_;
  int64_t number_ = 0;  // from 1
};

}  // namespace

void CocoResultsText::add(const CocoDetection& detection) {
  if (size_++ > 0) text_ += ',';
  text_ += "\n{\"image_id\": ";
  append_number(text_, detection.image_id);
  if (detection.box) {
    text_ += ", \"bbox\": [";
    const geometry::SizedBox& box = *detection.box;
    for (const auto& [number, behind] : {std::pair{box.x, ", "}, {box.y, ", "}, {box.width, ", "}, {box.height, "]"}}) {
      append_number(text_, number);
      text_ += behind;
    }
  }
  text_ += ", \"score\": ";
  append_number(text_, detection.score);
  text_ += ", \"category_id\": ";
  append_number(text_, detection.category_id);
  if (detection.mask) {
    text_ += ", \"segmentation\": {\"size\": [";
    append_number(text_, detection.mask->size().height);
    text_ += ", ";
    append_number(text_, detection.mask->size().width);
    text_ += "], \"counts\": \"";
    for (const char symbol : detection.mask->text()) {
      if (symbol == '\\') text_ += '\\';  // the only symbol of run lengths that JSON escapes
      text_ += symbol;
    }
    text_ += "\"}";
  }
  text_ += '}';
}

std::string CocoResultsText::finish() && { return std::move(text_ += size_ > 0 ? "\n]\n" : "]\n"); }

void read_coco_results(const std::filesystem::path& file, const std::function<void(CocoDetection)>& entry) {
  parse_coco_results(io::read_text_file(file, kMaxResultsBytes), file.string(), entry);
}

void parse_coco_results(std::string_view text, std::string_view name, const std::function<void(CocoDetection)>& entry) {
  ResultsReader(text, name).read(entry);
}

}  // namespace cachet::data
