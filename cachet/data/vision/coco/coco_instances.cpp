#include "cachet/data/vision/coco/coco_instances.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "cachet/data/data_digest.h"
#include "cachet/data/vision/coco/coco_cursor.h"
#include "cachet/geometry/polygon.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

using geometry::RunLengths;
using geometry::Size;
using geometry::SizedBox;
using io::Error;

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;
constexpr int64_t kMaxInstanceSide = 1'000'000;
constexpr size_t kMaxNameBytes = 4096;
constexpr double kMaxCoordinate = geometry::kMaxPolygonCoordinate;
constexpr double kMaxCrossings = 1 << 24;  // of columns of pixels by the edges of a polygon

// Whether a path stays below the folder that it is looked for in.
bool stays_below(const std::string& name) {
  const std::filesystem::path path(name);
  if (name.empty() || path.is_absolute() || name.find('\0') != std::string::npos) return false;
  return std::none_of(path.begin(), path.end(), [](const std::filesystem::path& part) { return part == ".."; });
}

bool within_bounds(double number) { return std::abs(number) <= kMaxCoordinate; }  // false for NaN

}  // namespace

/// Reads a file into the index.
class CocoReader {
 public:
  CocoReader(std::string_view text, std::string_view name) : cursor_(text, name, "JSON"), name_(name) {
    index_.name_ = name;
    index_.polygons_.push_back(0);
  }

  CocoInstances read() {
    bool images = false, annotations = false, categories = false;
    read_object(cursor_, "the file", {"images", "annotations", "categories"}, [&](std::string_view key) {
      if (key == "images") {
        images = true;
        read_array(cursor_, "'images'", [&] { read_image(); });
      } else if (key == "annotations") {
        annotations = true;
        read_array(cursor_, "'annotations'", [&] { read_annotation(); });
      } else if (key == "categories") {
        categories = true;
        read_array(cursor_, "'categories'", [&] { read_category(); });
      } else {
        return false;
      }
      return true;
    });
    cursor_.end();
    index_.has_annotations_ = annotations;
    for (const auto& [there, what] : {std::pair{images, "images"}, {categories, "categories"}}) {
      if (!there) fail(std::string("it has no '") + what + "'; the file must be a COCO instances file");
    }
    if (index_.images_.empty()) fail("it lists no images");
    if (index_.categories_.empty()) fail("it lists no categories");
    settle();
    return std::move(index_);
  }

 private:
  // Where an object lies, for comparing its segmentation with its box.
  struct Extent {
    double left = std::numeric_limits<double>::infinity(), top = left, right = -left, bottom = -left;

    void add(double x, double y) {
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
    }
    // Touching is enough: boxes are rounded, and may have no area.
    bool meets(const SizedBox& box) const {
      return left <= box.x + box.width && right >= box.x && top <= box.y + box.height && bottom >= box.y;
    }
  };

  // An annotation as it stands in the file.
  struct Raw {
    CocoAnnotation annotation;
    int64_t image_id = 0, category_id = 0;
    Size runs_size;  // of a segmentation of run lengths
    Extent extent;   // of its segmentation
  };

  [[noreturn]] void fail(const std::string& message) const { throw Error(name_ + ": " + message); }

  void require(bool there, std::string_view what, std::string_view key) {
    if (!there) cursor_.fail(std::string(what) + " has no '" + std::string(key) + "'");
  }

  void read_image() {
    CocoImage image;
    bool id = false, name = false, has_width = false, has_height = false;
    read_object(cursor_, "an image", {"id", "width", "height", "file_name"}, [&](std::string_view key) {
      if (key == "id") {
        id = true;
        image.id = cursor_.natural("the id of an image");
      } else if (key == "width") {
        has_width = true;
        image.size.width = cursor_.natural("the width of an image");
      } else if (key == "height") {
        has_height = true;
        image.size.height = cursor_.natural("the height of an image");
      } else if (key == "file_name") {
        name = true;
        image.file_name = cursor_.string("the file name of an image", kMaxNameBytes);
      } else {
        return false;
      }
      return true;
    });
    require(id, "an image", "id");
    require(name, "an image", "file_name");
    const std::string which = "image " + std::to_string(image.id);
    require(has_width, which, "width");
    require(has_height, which, "height");
    const auto [height, width] = image.size;
    if (height < 1 || width < 1 || height > kMaxInstanceSide || width > kMaxInstanceSide ||
        height > geometry::kMaxMaskPixels / width)
      cursor_.fail(which + " cannot be " + std::to_string(width) + " pixels wide and " + std::to_string(height) +
                   " high");
    if (!stays_below(image.file_name))
      cursor_.fail(which + ": the file name " + io::in_quotes(image.file_name) +
                   " must be a path inside the folder of images");
    if (!image_numbers_.emplace(image.id, static_cast<int32_t>(index_.images_.size())).second)
      cursor_.fail(which + " is listed twice");
    index_.images_.push_back(std::move(image));
  }

  void read_category() {
    CocoCategory category;
    bool id = false;
    read_object(cursor_, "a category", {"id", "name"}, [&](std::string_view key) {
      if (key == "id") {
        id = true;
        category.id = cursor_.natural("the id of a category");
      } else if (key == "name") {
        category.name = cursor_.string("the name of a category", kMaxNameBytes);
      } else {
        return false;
      }
      return true;
    });
    require(id, "a category", "id");
    if (category.name.empty()) cursor_.fail("category " + std::to_string(category.id) + " has no name");
    if (!category_numbers_.emplace(category.id, static_cast<int32_t>(index_.categories_.size())).second)
      cursor_.fail("category " + std::to_string(category.id) + " is listed twice");
    if (!category_names_.insert(category.name).second)
      cursor_.fail("two categories are called " + io::in_quotes(category.name));
    index_.categories_.push_back(std::move(category));
  }

  void read_annotation() {
    Raw raw;
    std::vector<double> box;
    bool id = false, image = false, category = false, area = false;
    read_object(cursor_, "an annotation",
                {"id", "image_id", "category_id", "bbox", "area", "iscrowd", "ignore", "segmentation"},
                [&](std::string_view key) {
                  if (key == "id") {
                    id = true;
                    raw.annotation.id = cursor_.natural("the id of an annotation");
                  } else if (key == "image_id") {
                    image = true;
                    raw.image_id = cursor_.natural("'image_id'");
                  } else if (key == "category_id") {
                    category = true;
                    raw.category_id = cursor_.natural("'category_id'");
                  } else if (key == "bbox") {
                    box = read_numbers(cursor_, "a box", 5);
                  } else if (key == "area") {
                    area = true;
                    raw.annotation.area = cursor_.number("'area'");
                  } else if (key == "iscrowd") {
                    raw.annotation.crowd = read_flag("'iscrowd'");
                  } else if (key == "ignore") {
                    raw.annotation.ignored = read_flag("'ignore'");
                  } else if (key == "segmentation") {
                    read_segmentation(raw);
                  } else {
                    return false;
                  }
                  return true;
                });
    require(id, "an annotation", "id");
    const std::string which = "annotation " + std::to_string(raw.annotation.id);
    require(image, which, "image_id");
    require(category, which, "category_id");
    const bool good_box =
        box.size() == 4 && std::all_of(box.begin(), box.end(), within_bounds) && box[2] >= 0 && box[3] >= 0;
    if (!good_box) return index_.notes_.add(CocoFault::odd_box);
    raw.annotation.box = {box[0], box[1], box[2], box[3]};
    if (!area) raw.annotation.area = raw.annotation.box.area();
    if (!std::isfinite(raw.annotation.area) || raw.annotation.area < 0) return index_.notes_.add(CocoFault::odd_area);
    if (!annotation_ids_.insert(raw.annotation.id).second) return index_.notes_.add(CocoFault::repeated_id);
    raw_.push_back(std::move(raw));
  }

  bool read_flag(std::string_view what) {
    if (cursor_.take_word("true")) return true;
    if (cursor_.take_word("false")) return false;
    const int64_t flag = cursor_.natural(what);
    if (flag > 1) cursor_.fail(std::string(what) + " must be 0 or 1");
    return flag == 1;
  }

  void read_segmentation(Raw& raw) {
    if (cursor_.take_word("null")) return;
    if (cursor_.peek() == '{') return read_runs(raw);
    if (cursor_.peek() != '[') cursor_.fail("a segmentation must be polygons or run lengths");
    raw.annotation.first = index_.polygons_.size() - 1;
    read_array(cursor_, "a segmentation", [&] { read_polygon(raw); });
    if (raw.annotation.count > 0) raw.annotation.form = CocoAnnotation::Form::polygons;
  }

  void read_polygon(Raw& raw) {
    auto& coordinates = index_.coordinates_;
    const size_t start = coordinates.size();
    read_array(cursor_, "a polygon", [&] { coordinates.push_back(cursor_.number("a coordinate of a polygon")); });
    const auto polygon = std::span(coordinates).subspan(start);
    const auto drop = [&](CocoFault fault) {
      coordinates.resize(start);
      index_.notes_.add(fault);
    };
    if (polygon.size() < 6 || polygon.size() % 2 != 0) return drop(CocoFault::short_polygon);
    if (!std::all_of(polygon.begin(), polygon.end(), within_bounds) || crossings(polygon) > kMaxCrossings)
      return drop(CocoFault::odd_polygon);
    for (size_t i = 0; i < polygon.size(); i += 2) raw.extent.add(polygon[i], polygon[i + 1]);
    index_.polygons_.push_back(coordinates.size());
    ++raw.annotation.count;
  }

  // At most so often the edges of a polygon pass the middle of a column.
  static double crossings(std::span<const double> polygon) {
    double sum = 0, last = polygon[polygon.size() - 2];
    for (size_t i = 0; i < polygon.size(); i += 2) {
      sum += std::abs(std::clamp(polygon[i], 0.0, double{kMaxInstanceSide}) -
                      std::clamp(last, 0.0, double{kMaxInstanceSide})) +
             1;
      last = polygon[i];
    }
    return sum;
  }

  void read_runs(Raw& raw) {
    const CocoRuns runs = read_coco_runs(cursor_);
    try {
      const RunLengths mask = mask_of(runs);
      raw.runs_size = mask.size();
      if (!mask.empty()) {
        const geometry::Box box = corners(mask.box());
        raw.extent.add(box.left, box.top);
        raw.extent.add(box.right, box.bottom);
      }
      raw.annotation.form = CocoAnnotation::Form::runs;
      raw.annotation.first = index_.runs_.size();
      raw.annotation.count = static_cast<uint32_t>(mask.counts().size());
      index_.runs_.insert(index_.runs_.end(), mask.counts().begin(), mask.counts().end());
    } catch (const std::invalid_argument&) {
      index_.notes_.add(CocoFault::odd_runs);
    }
  }

  // Once all is read: which image and category each annotation belongs to, and what follows from that.
  void settle() {
    std::vector<Raw> known;
    for (Raw& raw : raw_) {
      const auto image = image_numbers_.find(raw.image_id);
      const auto category = category_numbers_.find(raw.category_id);
      if (image == image_numbers_.end()) {
        index_.notes_.add(CocoFault::unknown_image);
      } else if (category == category_numbers_.end()) {
        index_.notes_.add(CocoFault::unknown_category);
      } else {
        raw.annotation.image = image->second;
        raw.annotation.category = category->second;
        check_segmentation(raw);
        check_use(raw.annotation);
        known.push_back(std::move(raw));
      }
    }
    raw_ = {};
    std::stable_sort(known.begin(), known.end(),
                     [](const Raw& a, const Raw& b) { return a.annotation.image < b.annotation.image; });
    index_.first_annotation_.assign(index_.images_.size() + 1, 0);
    for (const Raw& raw : known) {
      index_.annotations_.push_back(raw.annotation);
      ++index_.first_annotation_[static_cast<size_t>(raw.annotation.image) + 1];
    }
    for (size_t i = 1; i < index_.first_annotation_.size(); ++i)
      index_.first_annotation_[i] += index_.first_annotation_[i - 1];
  }

  void check_segmentation(Raw& raw) {
    CocoAnnotation& annotation = raw.annotation;
    if (annotation.form == CocoAnnotation::Form::none) return;
    const Size& size = index_.images_[static_cast<size_t>(annotation.image)].size;
    const bool runs = annotation.form == CocoAnnotation::Form::runs;
    const bool empty = raw.extent.left > raw.extent.right;
    if (runs && raw.runs_size != size) {
      index_.notes_.add(CocoFault::other_size);
      annotation.form = CocoAnnotation::Form::none;
    } else if (!empty && !raw.extent.meets(annotation.box)) {
      index_.notes_.add(CocoFault::elsewhere);
      annotation.form = CocoAnnotation::Form::none;
    }
  }

  void check_use(CocoAnnotation& annotation) {
    const Size& size = index_.images_[static_cast<size_t>(annotation.image)].size;
    const SizedBox& box = annotation.box;
    const bool outside = geometry::clipped(corners(box), size).empty();
    const bool no_area = annotation.area <= 0 || box.width < 1 || box.height < 1;
    if (no_area) {
      index_.notes_.add(CocoFault::no_area);
    } else if (outside) {
      index_.notes_.add(CocoFault::outside_image);
    }
    annotation.trained = !annotation.ignored && !outside && !no_area;
  }

  io::JsonCursor cursor_;
  std::string name_;
  CocoInstances index_;
  std::vector<Raw> raw_;
  std::unordered_map<int64_t, int32_t> image_numbers_, category_numbers_;
  std::unordered_set<std::string> category_names_;
  std::unordered_set<int64_t> annotation_ids_;
};

CocoInstances CocoInstances::read(const std::filesystem::path& file) {
  const std::string text = io::read_text_file(file, kMaxFileBytes);
  return parse(text, file.string());
}

CocoInstances CocoInstances::parse(std::string_view text, std::string_view name) {
  CocoInstances instances = CocoReader(text, name).read();
  instances.digest_ = digest_of(text);
  return instances;
}

void CocoInstances::add_to(Fingerprint& fingerprint, const CocoAnnotation& annotation) const {
  fingerprint.add(annotation.id).add(annotation.category).add(std::as_bytes(std::span(&annotation.box, 1)));
  fingerprint.add(std::as_bytes(std::span(&annotation.area, 1)));
  fingerprint.add(int64_t{annotation.crowd}).add(int64_t{annotation.ignored}).add(int64_t{annotation.trained});
  fingerprint.add(static_cast<int64_t>(annotation.form)).add(int64_t{annotation.count});
  if (annotation.form == CocoAnnotation::Form::runs)
    fingerprint.add(std::as_bytes(std::span(runs_).subspan(annotation.first, annotation.count)));
  if (annotation.form != CocoAnnotation::Form::polygons) return;
  for (uint64_t i = annotation.first; i < annotation.first + annotation.count; ++i) {
    const auto corners = std::span(coordinates_).subspan(polygons_[i], polygons_[i + 1] - polygons_[i]);
    fingerprint.add(std::ssize(corners)).add(std::as_bytes(corners));
  }
}

std::span<const CocoAnnotation> CocoInstances::annotations(int64_t image) const {
  const auto i = static_cast<size_t>(image);
  const uint64_t first = first_annotation_.at(i), end = first_annotation_.at(i + 1);
  return std::span(annotations_).subspan(first, end - first);
}

std::optional<RunLengths> CocoInstances::mask(const CocoAnnotation& annotation) const {
  const Size& size = images_.at(static_cast<size_t>(annotation.image)).size;
  switch (annotation.form) {
    case CocoAnnotation::Form::none:
      return std::nullopt;
    case CocoAnnotation::Form::runs:
      return RunLengths(size, std::span(runs_).subspan(annotation.first, annotation.count));
    case CocoAnnotation::Form::polygons:
      break;
  }
  std::vector<RunLengths> masks;
  for (uint64_t i = annotation.first; i < annotation.first + annotation.count; ++i)
    masks.push_back(
        geometry::rasterized(std::span(coordinates_).subspan(polygons_[i], polygons_[i + 1] - polygons_[i]), size));
  return geometry::united(masks);
}

}  // namespace cachet::data
