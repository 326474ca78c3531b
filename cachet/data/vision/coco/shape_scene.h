#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cachet/geometry/run_lengths.h"

namespace cachet::data {

/// The classes of the data set of shapes. The cross and the star have inner corners, and the ring has a hole.
inline constexpr std::array<std::string_view, 6> kShapeNames{"disc", "square", "triangle", "star", "cross", "ring"};

struct ShapeOptions {
  int64_t train = 3000, validation = 400;  // numbers of images
  int64_t height = 128, width = 128;       // size of the images in pixels, 32 … 4096
  int64_t most_objects = 4;                // an image has 1 … most_objects objects; most_objects is 1 … 100
  double crowds = 0.1;                     // fraction of images with a crowd
  uint64_t seed = 0;
  bool jpeg = false;  // whether images are JPEG files, else PNG files
  int64_t threads = 1;
};

/// Throws std::invalid_argument, which begins with the name of the option, if an option is out of range.
void check(const ShapeOptions& options);

/// A visible shape, or a crowd of small shapes.
struct ShapeObject {
  int64_t label = 0;  // index in kShapeNames
  bool crowd = false;
  geometry::RunLengths mask;  // visible part of the object
};

/// A picture and the objects in it.
struct ShapeScene {
  std::vector<uint8_t> pixels;  // height * width * 3 bytes, RGB
  std::vector<ShapeObject> objects;
};

/// Draws a scene of filled, rotated shapes on a textured background. The sizes of the shapes span two octaves (a radius
/// of a sixteenth to a quarter of the shorter side). Shapes may cover each other, and the border cuts them. A shape
/// that is less than a quarter visible is removed, the most hidden shape first. A crowd has 8 to 14 shapes of one
/// class, with at most half the usual minimum size, and lies under all other shapes. If less than a quarter of a crowd
/// is visible, all of it is removed. The scene is a function only of (options.seed, split, index) and the size.
ShapeScene shape_scene(const ShapeOptions& options, uint64_t split, int64_t index);

}  // namespace cachet::data
