#include "cachet/models/detection/boxes/anchors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cachet/config/counted_list.h"
#include "cachet/models/detection/heads/level_strides.h"

namespace cachet::models {

std::vector<double> AnchorOptions::octave(double base, int64_t count) {
  std::vector<double> scales;
  for (int64_t i = 0; i < count; ++i)
    scales.push_back(base * std::pow(2.0, static_cast<double>(i) / static_cast<double>(count)));
  return scales;
}

AnchorOptions AnchorOptions::read(const config::View& parent, AnchorOptions o) {
  const config::View table = parent.table("anchors");
  constexpr config::Range<double> kPositive{1e-3, 1e4};
  constexpr config::Count kShapes{1, 64};
  o.ratios = config::counted_reals(table, "ratios", o.ratios, kShapes, kPositive);
  if (table.has("octave_base_scale") || table.has("scales_per_octave")) {
    table.refuse(
        "scales",
        "cannot be combined with octave_base_scale and scales_per_octave; remove scales, or remove the other two keys");
    const double base = table.real("octave_base_scale", 4.0, kPositive);
    o.scales = octave(base, table.integer("scales_per_octave", 3, {1, 16}));
  } else {
    o.scales = config::counted_reals(table, "scales", o.scales, kShapes, kPositive);
  }
  const std::vector<int64_t> of_levels = o.strides;
  o.strides = table.integers("strides", o.strides, {1, 1 << 12});
  if (o.strides != of_levels)
    table.problem("strides", "must be the strides of the neck's levels: " + strides_text(of_levels));
  return o;
}

std::vector<at::Tensor> LaidAnchors::by_level(const at::Tensor& of_all) const {
  return of_all.split_with_sizes(counts, 0);
}

at::Tensor cell_anchors(const AnchorOptions& o, size_t level) {
  const auto stride = static_cast<double>(o.strides.at(level));
  std::vector<double> boxes;
  for (const double ratio : o.ratios) {
    const double height = std::sqrt(ratio), width = 1 / height;
    for (const double scale : o.scales) {
      const double x = stride * width * scale, y = stride * height * scale;
      boxes.insert(boxes.end(), {-0.5 * x, -0.5 * y, 0.5 * x, 0.5 * y});
    }
  }
  return at::tensor(boxes, at::kDouble).view({-1, 4});
}

LaidAnchors lay_anchors(const AnchorOptions& o, const std::vector<ImageSize>& maps, const at::Tensor& like) {
  TORCH_CHECK(maps.size() == o.strides.size(), "anchors: there must be one map for each of the ", o.strides.size(),
              " strides, got ", maps.size(), " maps");
  LaidAnchors all;
  std::vector<at::Tensor> boxes;
  for (size_t level = 0; level < maps.size(); ++level) {
    const auto offsets = [&](int64_t count) {
      return at::arange(count, at::kDouble) * static_cast<double>(o.strides[level]);
    };
    const auto [height, width] = maps[level];
    const at::Tensor y = offsets(height).view({-1, 1, 1}).expand({height, width, 1}),
                     x = offsets(width).view({1, -1, 1}).expand({height, width, 1});
    const at::Tensor shifts = at::cat({x, y, x, y}, 2).view({-1, 1, 4});
    boxes.push_back((shifts + cell_anchors(o, level)).view({-1, 4}));
    all.counts.push_back(boxes.back().size(0));
  }
  all.boxes = at::cat(boxes).to(like.options());
  return all;
}

at::Tensor evenly(const at::Tensor& rows, int64_t most) {
  return rows.slice(0, 0, std::nullopt, (rows.size(0) + most - 1) / most);
}

at::Tensor anchors_of_image(const AnchorOptions& o, const std::vector<ImageSize>& maps, const ImageSize& padded,
                            c10::Device device) {
  std::vector<at::Tensor> valid;
  for (size_t level = 0; level < maps.size(); ++level) {
    const auto [height, width] = maps[level];
    const auto seen = [&](int64_t side) { return (side + o.strides[level] - 1) / o.strides[level]; };
    at::Tensor cells = at::zeros({height, width, o.per_cell()}, at::kBool);
    cells.narrow(0, 0, std::min(height, seen(padded.height)))
        .narrow(1, 0, std::min(width, seen(padded.width)))
        .fill_(1);
    valid.push_back(cells.flatten());
  }
  return at::cat(valid).to(device);
}

at::Tensor anchors_inside(const at::Tensor& boxes, const ImageSize& image, int64_t allowed_border) {
  if (allowed_border < 0) return at::ones({boxes.size(0)}, boxes.options().dtype(at::kBool));
  return (boxes.select(1, 0) >= -allowed_border) & (boxes.select(1, 1) >= -allowed_border) &
         (boxes.select(1, 2) < image.width + allowed_border) & (boxes.select(1, 3) < image.height + allowed_border);
}

}  // namespace cachet::models
