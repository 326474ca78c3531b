#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cachet/data/vision/coco/shape_folder.h"

namespace cachet::test {

// Scenes of shapes and tables of recipes that are small enough to train a detector in seconds.

inline void write_small_scenes(const std::filesystem::path& folder, int64_t train, int64_t validation,
                               double crowds = 0.3) {
  data::ShapeOptions shapes;
  shapes.train = train;
  shapes.validation = validation;
  shapes.height = shapes.width = 64;
  shapes.crowds = crowds;
  data::write_shape_folder(folder, shapes);
}

/// The task and the data of a recipe for such scenes.
inline std::string small_scenes(const std::string& root) {
  return "[task]\nkind = \"detection\"\n[data]\nroot = \"" + root + R"("
classes = 6
workers = 0
[data.transform]
long_side = 64
short_sides = [48, 64]
)";
}

/// Keys of [model], for a pyramid of PVT.
inline constexpr const char* kSmallPyramid = R"(embed_dims = [8, 16, 16, 32]
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
mlp_ratios = [1, 1, 1, 1]
)";

inline constexpr const char* kSmallNeck = R"([model.neck]
out_channels = 8
)";

/// Tables of detectors that propose regions.
inline constexpr const char* kSmallRegions = R"([model.rpn_head]
feat_channels = 8
[model.rpn_head.proposals]
max_per_img = 40
[model.rpn_head.test_proposals]
max_per_img = 40
[model.roi_head.sampler]
num = 16
[model.roi_head.bbox_head]
fc_out_channels = 12
)";

}  // namespace cachet::test
