#include "cachet/data/vision/coco/shape_scene.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>

#include "cachet/data/random.h"

namespace cachet::data {
namespace {

constexpr int kSubsamples = 3;        // on each side of a pixel, for the colour at borders
constexpr double kMinVisible = 0.25;  // of a shape's pixels, also of those beyond the border
constexpr double kRim = 0.86;         // of the radius, from where the rim begins

using Colour = std::array<double, 3>;

struct Shape {
  int64_t label = 0;
  double x = 0, y = 0, radius = 0, turn = 0;
  Colour colour{};
  int64_t object = 0;  // shapes of a crowd are one
};

bool in_star(double u, double v) {
  constexpr double kInner = 0.42, kPoint = std::numbers::pi / 5;  // half the angle of a point
  const double angle = std::abs(std::remainder(std::atan2(u, -v), 2 * kPoint));
  const double reach = std::hypot(u, v);
  // The edge from the tip (1, 0) to the dent at the angle kPoint.
  const double dent_x = kInner * std::cos(kPoint), dent_y = kInner * std::sin(kPoint);
  const double x = reach * std::cos(angle), y = reach * std::sin(angle);
  return (1 - x) * dent_y - (1 - dent_x) * y >= 0;
}

// Whether a position, in radii from the centre and turned back, is within a shape.
bool in_shape(int64_t label, double u, double v) {
  switch (label) {
    case 0:
      return u * u + v * v <= 0.81;
    case 1:
      return std::max(std::abs(u), std::abs(v)) <= 0.78;
    case 2:
      return v <= 0.5 && v >= -1 + std::numbers::sqrt3 * std::abs(u);
    case 3:
      return in_star(u, v);
    case 4:
      return std::max(std::abs(u), std::abs(v)) <= 0.95 && std::min(std::abs(u), std::abs(v)) <= 0.3;
    default:
      return u * u + v * v <= 0.9025 && u * u + v * v >= 0.25;
  }
}

// A shape with its turn worked out.
class Outline {
 public:
  explicit Outline(const Shape& shape) : shape_(shape), cosine_(std::cos(shape.turn)), sine_(std::sin(shape.turn)) {}

  bool contains(double x, double y, double size = 1) const {
    const double dx = (x - shape_.x) / (shape_.radius * size), dy = (y - shape_.y) / (shape_.radius * size);
    return in_shape(shape_.label, cosine_ * dx + sine_ * dy, cosine_ * dy - sine_ * dx);
  }

  // Pixels that it may touch; they may lie outside the picture.
  int64_t left() const { return static_cast<int64_t>(std::floor(shape_.x - shape_.radius)); }
  int64_t right() const { return static_cast<int64_t>(std::ceil(shape_.x + shape_.radius)); }
  int64_t top() const { return static_cast<int64_t>(std::floor(shape_.y - shape_.radius)); }
  int64_t bottom() const { return static_cast<int64_t>(std::ceil(shape_.y + shape_.radius)); }

 private:
  const Shape& shape_;
  double cosine_, sine_;
};

Colour from_hue(double hue, double saturation, double value) {
  Colour colour;
  for (int channel = 0; channel < 3; ++channel) {
    const double k = std::fmod(5 - 2 * channel + hue * 6, 6);
    colour[static_cast<size_t>(channel)] = value * (1 - saturation * std::clamp(std::min(k, 4 - k), 0.0, 1.0));
  }
  return colour;
}

// Smooth noise of three octaves between two dull colours.
class Texture {
 public:
  Texture(int64_t height, int64_t width, CounterRandom random) {
    for (Colour* colour : {&first_, &second_})
      *colour = from_hue(random.uniform(), random.uniform(0, 0.35), random.uniform(0.15, 0.75));
    for (size_t i = 0; i < octaves_.size(); ++i) {
      Octave& octave = octaves_[i];
      octave.cell = static_cast<double>(std::min(height, width)) / static_cast<double>(4 << (2 * i));
      octave.columns = static_cast<int64_t>(static_cast<double>(width) / octave.cell) + 3;
      const int64_t rows = static_cast<int64_t>(static_cast<double>(height) / octave.cell) + 3;
      octave.values.resize(static_cast<size_t>(rows * octave.columns));
      for (double& value : octave.values) value = random.uniform();
    }
  }

  double at(double x, double y, int channel) const {
    double mix = 0;
    for (size_t i = 0; i < octaves_.size(); ++i) mix += octaves_[i].at(x, y) / static_cast<double>(2 << i);
    mix /= 0.875;
    const auto c = static_cast<size_t>(channel);
    return first_[c] + (second_[c] - first_[c]) * mix;
  }

 private:
  struct Octave {
    double cell = 1;
    int64_t columns = 0;
    std::vector<double> values;

    double at(double x, double y) const {
      const double u = x / cell, v = y / cell;
      const auto column = static_cast<int64_t>(u), row = static_cast<int64_t>(v);
      const double a = u - static_cast<double>(column), b = v - static_cast<double>(row);
      const auto value = [&](int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; };
      return (1 - b) * ((1 - a) * value(row, column) + a * value(row, column + 1)) +
             b * ((1 - a) * value(row + 1, column) + a * value(row + 1, column + 1));
    }
  };

  Colour first_, second_;
  std::array<Octave, 3> octaves_;
};

class Scene {
 public:
  Scene(const ShapeOptions& options, uint64_t split, int64_t index)
      : height_(options.height),
        width_(options.width),
        random_(options.seed, RandomStream::composition, split, static_cast<uint64_t>(index)),
        texture_(height_, width_, {options.seed, RandomStream::noise, split, static_cast<uint64_t>(index)}) {
    if (random_.chance(options.crowds)) add_crowd();
    const auto count = 1 + static_cast<int64_t>(random_.below(static_cast<uint64_t>(options.most_objects)));
    for (int64_t i = 0; i < count; ++i) add_shape();
    while (take_out_most_hidden()) {
    }
  }

  ShapeScene finish() const {
    ShapeScene scene;
    scene.pixels = painted();
    const std::vector<int64_t> owners = front_objects();
    for (int64_t object = 0; object < objects_; ++object) {
      std::vector<uint8_t> bitmap(owners.size());
      for (size_t i = 0; i < owners.size(); ++i) bitmap[i] = owners[i] == object;
      const auto shape =
          std::find_if(shapes_.begin(), shapes_.end(), [&](const Shape& s) { return s.object == object; });
      if (shape == shapes_.end()) continue;
      scene.objects.push_back(
          {shape->label, object == crowd_, geometry::RunLengths::of_bitmap({height_, width_}, bitmap)});
    }
    return scene;
  }

 private:
  double shorter() const { return static_cast<double>(std::min(height_, width_)); }

  Shape drawn_shape() {
    Shape shape;
    shape.label = static_cast<int64_t>(random_.below(kShapeNames.size()));
    shape.x = random_.uniform(0, static_cast<double>(width_));
    shape.y = random_.uniform(0, static_cast<double>(height_));
    shape.radius = shorter() / 16 * std::exp2(random_.uniform(0, 2));
    shape.turn = random_.uniform(0, 2 * std::numbers::pi);
    shape.colour = from_hue(random_.uniform(), random_.uniform(0.55, 1), random_.uniform(0.6, 1));
    return shape;
  }

  void add_shape() {
    Shape shape = drawn_shape();
    shape.object = objects_++;
    shapes_.push_back(shape);
  }

  void add_crowd() {
    crowd_ = objects_++;
    const Shape first = drawn_shape();
    const auto count = 8 + static_cast<int64_t>(random_.below(7));
    const double reach = shorter() / 5;
    for (int64_t i = 0; i < count; ++i) {
      Shape shape = drawn_shape();
      shape.label = first.label;
      shape.object = crowd_;
      const double distance = reach * std::sqrt(random_.uniform()), angle = random_.uniform(0, 2 * std::numbers::pi);
      shape.x = first.x + distance * std::cos(angle);
      shape.y = first.y + distance * std::sin(angle);
      shape.radius = shorter() / random_.uniform(32, 48);
      shapes_.push_back(shape);
    }
  }

  // Calls visit(x, y) for each pixel whose middle is within a shape, also beyond the border.
  template <class Visit>
  static void for_pixels(const Shape& shape, Visit visit) {
    const Outline outline(shape);
    for (int64_t y = outline.top(); y < outline.bottom(); ++y) {
      for (int64_t x = outline.left(); x < outline.right(); ++x) {
        if (outline.contains(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5)) visit(x, y);
      }
    }
  }

  bool inside(int64_t x, int64_t y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }

  // Of each pixel the object that is seen there, −1 for the background.
  std::vector<int64_t> front_objects() const {
    std::vector<int64_t> owners(static_cast<size_t>(height_ * width_), -1);
    for (const Shape& shape : shapes_)
      for_pixels(shape, [&](int64_t x, int64_t y) {
        if (inside(x, y)) owners[static_cast<size_t>(y * width_ + x)] = shape.object;
      });
    return owners;
  }

  bool take_out_most_hidden() {
    std::vector<double> all(static_cast<size_t>(objects_), 0), seen(all);
    for (const Shape& shape : shapes_)
      for_pixels(shape, [&](int64_t, int64_t) { ++all[static_cast<size_t>(shape.object)]; });
    for (const int64_t object : front_objects()) {
      if (object >= 0) ++seen[static_cast<size_t>(object)];
    }
    std::optional<int64_t> hidden;
    double least = kMinVisible;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool there = all[i] > 0;
      if (there && seen[i] / all[i] < least) {
        least = seen[i] / all[i];
        hidden = static_cast<int64_t>(i);
      }
    }
    if (hidden) std::erase_if(shapes_, [&](const Shape& shape) { return shape.object == *hidden; });
    return hidden.has_value();
  }

  std::vector<uint8_t> painted() const {
    std::vector<double> picture(static_cast<size_t>(height_ * width_ * 3));
    for (int64_t y = 0; y < height_; ++y) {
      for (int64_t x = 0; x < width_; ++x) {
        for (int channel = 0; channel < 3; ++channel)
          picture[static_cast<size_t>((y * width_ + x) * 3 + channel)] =
              texture_.at(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, channel);
      }
    }
    for (const Shape& shape : shapes_) paint(shape, picture);
    std::vector<uint8_t> pixels(picture.size());
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<uint8_t>(std::lround(255 * std::clamp(picture[i], 0.0, 1.0)));
    return pixels;
  }

  // The middle of a shape has its colour, the rim a darker one: shapes of like colours can be distinguished.
  void paint(const Shape& shape, std::vector<double>& picture) const {
    const Outline outline(shape);
    const int64_t left = std::max<int64_t>(0, outline.left()), right = std::min(width_, outline.right());
    for (int64_t y = std::max<int64_t>(0, outline.top()); y < std::min(height_, outline.bottom()); ++y) {
      for (int64_t x = left; x < right; ++x) {
        int whole = 0, middle = 0;
        for (int i = 0; i < kSubsamples * kSubsamples; ++i) {
          const double px = static_cast<double>(x) + (i % kSubsamples + 0.5) / kSubsamples;
          const double py = static_cast<double>(y) + (i / kSubsamples + 0.5) / kSubsamples;
          if (!outline.contains(px, py)) continue;
          ++whole;
          if (outline.contains(px, py, kRim)) ++middle;
        }
        if (whole == 0) continue;
        const double covered = static_cast<double>(whole) / (kSubsamples * kSubsamples);
        const double bright = 0.5 + 0.5 * static_cast<double>(middle) / whole;
        for (size_t channel = 0; channel < 3; ++channel) {
          double& value = picture[static_cast<size_t>((y * width_ + x) * 3) + channel];
          value += covered * (bright * shape.colour[channel] - value);
        }
      }
    }
  }

  int64_t height_, width_;
  CounterRandom random_;
  Texture texture_;
  std::vector<Shape> shapes_;  // from the back to the front
  int64_t objects_ = 0, crowd_ = -1;
};

void require(bool good, const std::string& what) {
  if (!good) throw std::invalid_argument(what);
}

}  // namespace

void check(const ShapeOptions& options) {
  const auto within = [](int64_t value, int64_t least, int64_t most, const std::string& name) {
    require(value >= least && value <= most, name + " is " + std::to_string(value) + "; it must be " +
                                                 std::to_string(least) + " to " + std::to_string(most));
  };
  within(options.train, 1, 1'000'000, "train");
  within(options.validation, 1, 1'000'000, "validation");
  within(options.height, 32, 4096, "height");
  within(options.width, 32, 4096, "width");
  within(options.most_objects, 1, 100, "objects");
  within(options.threads, 1, 256, "threads");
  require(options.crowds >= 0 && options.crowds <= 1, "crowds is a fraction of the images and must be 0 to 1");
}

ShapeScene shape_scene(const ShapeOptions& options, uint64_t split, int64_t index) {
  return Scene(options, split, index).finish();
}

}  // namespace cachet::data
