#include "cachet/tasks/detection/annotated_picture.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cachet/data/vision/coco/detection_transform.h"
#include "cachet/geometry/mask_transforms.h"
#include "cachet/tasks/detection/stroke_text.h"

namespace cachet::tasks {
namespace {

using Paint = std::array<double, 3>;

constexpr int64_t kMaxEnlarged = 2048;  // pixels of the longer side of a picture that is drawn larger than it is

// Far apart for the first dozens of classes.
Paint class_paint(int64_t label) {
  const double hue = std::fmod(0.61803398875 * static_cast<double>(label) + 0.02, 1.0);
  const double value = label % 2 == 0 ? 255 : 215;
  Paint paint;
  for (int channel = 0; channel < 3; ++channel) {
    const double k = std::fmod(5 - 2 * channel + hue * 6, 6);
    paint[static_cast<size_t>(channel)] = value * (1 - 0.85 * std::clamp(std::min(k, 4 - k), 0.0, 1.0));
  }
  return paint;
}

class Canvas {
 public:
  explicit Canvas(const at::Tensor& pixels)
      : height_(pixels.size(0)), width_(pixels.size(1)), pixels_(pixels), data_(pixels.mutable_data_ptr<uint8_t>()) {}

  void blend(int64_t x, int64_t y, const Paint& paint, double amount) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    uint8_t* pixel = data_ + (y * width_ + x) * 3;
    for (size_t channel = 0; channel < 3; ++channel)
      pixel[channel] = static_cast<uint8_t>(std::lround(pixel[channel] + amount * (paint[channel] - pixel[channel])));
  }

  void fill(int64_t left, int64_t top, int64_t right, int64_t bottom, const Paint& paint) {
    for (int64_t y = std::max<int64_t>(0, top); y < std::min(height_, bottom); ++y) {
      for (int64_t x = std::max<int64_t>(0, left); x < std::min(width_, right); ++x) blend(x, y, paint, 1);
    }
  }

  void frame(const geometry::Box& box, int64_t thick, const Paint& paint) {
    const auto left = static_cast<int64_t>(std::lround(box.left)), top = static_cast<int64_t>(std::lround(box.top));
    const auto right = static_cast<int64_t>(std::lround(box.right)),
               bottom = static_cast<int64_t>(std::lround(box.bottom));
    fill(left, top, right, top + thick, paint);
    fill(left, bottom - thick, right, bottom, paint);
    fill(left, top, left + thick, bottom, paint);
    fill(right - thick, top, right, bottom, paint);
  }

  void veil(const geometry::RunLengths& mask, const Paint& paint) {
    int64_t position = 0;
    for (size_t i = 0; i < mask.counts().size(); ++i) {
      const int64_t end = position + mask.counts()[i];
      for (; i % 2 == 1 && position < end; ++position) {
        const bool border = position + 1 == end || position + static_cast<int64_t>(mask.counts()[i]) == end;
        blend(position / height_, position % height_, paint, border ? 0.9 : 0.45);
      }
      position = end;
    }
  }

  void label(const std::string& text, const geometry::Box& box, int64_t scale, const Paint& paint) {
    const StrokeText letters{scale};
    const int64_t height = letters.height() + 2 * scale, width = letters.width(text) + scale;
    const auto top_of_box = static_cast<int64_t>(std::lround(box.top));
    const int64_t top = top_of_box >= height ? top_of_box - height : top_of_box;
    const int64_t left =
        std::clamp<int64_t>(static_cast<int64_t>(std::lround(box.left)), 0, std::max<int64_t>(0, width_ - width));
    fill(left, top, left + width, top + height, paint);
    const double bright = 0.3 * paint[0] + 0.6 * paint[1] + 0.1 * paint[2];
    const Paint ink = bright > 110 ? Paint{0, 0, 0} : Paint{255, 255, 255};
    letters.for_pixels(text, [&](int64_t x, int64_t y) { blend(left + scale + x, top + scale + y, ink, 1); });
  }

 private:
  int64_t height_, width_;
  at::Tensor pixels_;
  uint8_t* data_;
};

std::string label_of(const FoundObject& object, const std::vector<std::string>& class_names, bool scores) {
  std::string text = class_names.at(static_cast<size_t>(object.label));
  if (!scores) return text;
  char number[16];
  std::snprintf(number, sizeof(number), " %.2f", object.score);
  return text + number;
}

}  // namespace

at::Tensor annotated_picture(const at::Tensor& pixels, const std::vector<FoundObject>& objects,
                             const std::vector<std::string>& class_names, const AnnotationStyle& style) {
  const geometry::Size size{pixels.size(0), pixels.size(1)};
  const int64_t shorter = std::min(size.height, size.width), longer = std::max(size.height, size.width);
  const int64_t roomy = std::clamp<int64_t>(kMaxEnlarged / longer, 1, 4);
  double zoom = static_cast<double>(std::clamp<int64_t>((style.least_side + shorter - 1) / shorter, 1, roomy));
  if (style.most_side > 0) zoom = std::min(zoom, static_cast<double>(style.most_side) / static_cast<double>(longer));
  const auto zoomed = [&](int64_t side) { return std::max<int64_t>(1, std::lround(zoom * static_cast<double>(side))); };
  const geometry::Size drawn{zoomed(size.height), zoomed(size.width)};
  const at::Tensor picture = data::resized_bilinear(pixels, drawn).clone();

  std::vector<const FoundObject*> shown;
  for (const FoundObject& object : objects) {
    if (object.score >= style.least_score) shown.push_back(&object);
  }
  std::stable_sort(shown.begin(), shown.end(), [](auto* a, auto* b) { return a->score < b->score; });
  Canvas canvas(picture);
  for (const FoundObject* object : shown) {
    if (object->mask) canvas.veil(geometry::resized(*object->mask, drawn), class_paint(object->label));
  }
  const int64_t side = std::min(drawn.height, drawn.width);
  const int64_t thick = std::clamp<int64_t>(side / 300, 1, 4), scale = std::clamp<int64_t>(side / 300, 1, 4);
  for (const FoundObject* object : shown) {
    const geometry::Box box = scaled(object->box, zoom, zoom);
    canvas.frame(box, thick, class_paint(object->label));
    canvas.label(label_of(*object, class_names, style.scores), box, scale, class_paint(object->label));
  }
  return picture;
}

at::Tensor side_by_side(const at::Tensor& left, const at::Tensor& right) {
  return at::cat({left, at::full({left.size(0), 6, 3}, 255, left.options()), right}, 1);
}

}  // namespace cachet::tasks
