#include "cachet/ops/detection/roi_align_cpu.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <optional>
#include <utility>
#include <vector>

#include "cachet/kernels/roi_align.h"
#include "cachet/ops/detection/roi_axes.h"
#include "cachet/ops/support/fused.h"

namespace cachet::ops {
namespace {

using at::Tensor;

struct BoxAxes {
  RoiAxes rows, columns;
};

BoxAxes axes_of(const Tensor& measured, RoiBins rows, RoiBins columns, double scale) {
  BoxAxes axes{RoiAxes(rows), RoiAxes(columns)};
  const auto* box = measured.const_data_ptr<double>();
  for (int64_t k = 0; k < measured.size(0); ++k, box += 5) {
    const auto at = [&](int i) { return box[i] * scale - 0.5; };
    axes.columns.append(at(1), at(3) - at(1));
    axes.rows.append(at(2), at(4) - at(2));
  }
  return axes;
}

/// Boxes whose end lies before their start, turned upright, and which axes of their bins have to be reversed for that.
struct TurnedBoxes {
  Tensor upright;
  std::vector<std::pair<int64_t, std::vector<int64_t>>> reversed{};  // box, and axes of (C, height, width)

  /// Of the bins of all boxes, a copy with those of turned boxes in reverse.
  Tensor turned(const Tensor& bins) const {
    Tensor result = bins.clone();
    for (const auto& [box, axes] : reversed) result[box].copy_(bins[box].flip(axes));
    return result;
  }
};

/// With fixed samples such a box reads the positions of the upright one, in reverse. Nothing if there is none.
std::optional<TurnedBoxes> turned_boxes(const Tensor& measured, int64_t sampling) {
  if (sampling == 0) return std::nullopt;
  TurnedBoxes boxes{measured.clone()};
  auto* box = boxes.upright.mutable_data_ptr<double>();
  for (int64_t k = 0; k < measured.size(0); ++k, box += 5) {
    std::vector<int64_t> axes;
    for (const int side : {1, 2}) {
      if (!(box[side + 2] < box[side])) continue;
      std::swap(box[side], box[side + 2]);
      axes.push_back(side == 1 ? 2 : 1);
    }
    if (!axes.empty()) boxes.reversed.emplace_back(k, std::move(axes));
  }
  if (boxes.reversed.empty()) return std::nullopt;
  return boxes;
}

Tensor empty_channels_last(c10::IntArrayRef sizes, const at::TensorOptions& options) {
  return at::empty({sizes[0], sizes[2], sizes[3], sizes[1]}, options).permute({0, 3, 1, 2});
}

Tensor channels_last(const Tensor& x) { return x.permute({0, 2, 3, 1}).contiguous(); }

// Channels that are summed up at a time. Of a gradient one thread takes so many of one image: it adds the boxes up in
// their order, whatever others do.
constexpr int64_t kSliceChannels = 64;

}  // namespace

Tensor roi_align_forward(const Tensor& map, const Tensor& boxes, int64_t height, int64_t width, double scale,
                         int64_t sampling) {
  if (const auto turned = turned_boxes(boxes, sampling))
    return turned->turned(roi_align_forward(map, turned->upright, height, width, scale, sampling));
  const BoxAxes axes = axes_of(boxes, {height, map.size(2), sampling}, {width, map.size(3), sampling}, scale);
  const Tensor cells = channels_last(map);
  const int64_t channels = map.size(1), image = map.size(2) * map.size(3) * channels, bins = height * width * channels;
  const Tensor out = empty_channels_last({boxes.size(0), channels, height, width}, map.options());
  const auto* box = boxes.const_data_ptr<double>();
  for_type_of(map, [&]<class T>(T*) {
    parallel(boxes.size(0), 8 * bins, [&](int64_t from, int64_t to) {
      // The sums of a slice of channels stay in a core's nearest cache.
      std::vector<float> sums(static_cast<size_t>(height * width * kSliceChannels));
      for (int64_t k = from; k < to; ++k)
        for (int64_t first = 0; first < channels; first += kSliceChannels)
          kernels::roi_align(data<T>(cells) + static_cast<int64_t>(box[5 * k]) * image + first,
                             {map.size(3), channels, std::min(kSliceChannels, channels - first)}, axes.rows[k],
                             axes.columns[k], mutable_data<T>(out) + k * bins + first, channels, sums.data());
    });
  });
  return out;
}

Tensor roi_align_gradient(const Tensor& grad, const Tensor& boxes, c10::IntArrayRef map, double scale,
                          int64_t sampling) {
  if (const auto turned = turned_boxes(boxes, sampling))
    return roi_align_gradient(turned->turned(grad), turned->upright, map, scale, sampling);
  const int64_t height = grad.size(2), width = grad.size(3), channels = map[1], image = map[2] * map[3] * channels;
  const BoxAxes axes = axes_of(boxes, {height, map[2], sampling}, {width, map[3], sampling}, scale);
  const Tensor bins = channels_last(grad);
  const Tensor d_map = at::zeros({map[0], map[2], map[3], channels}, grad.options().dtype(at::kFloat));
  const auto* box = boxes.const_data_ptr<double>();
  std::vector<std::vector<int64_t>> boxes_of(static_cast<size_t>(map[0]));
  for (int64_t k = 0; k < boxes.size(0); ++k) boxes_of[static_cast<size_t>(box[5 * k])].push_back(k);
  const int64_t slices = chunks_of(channels, kSliceChannels);
  for_type_of(grad, [&]<class T>(T*) {
    parallel(map[0] * slices, 16'384, [&](int64_t from, int64_t to) {
      for (int64_t part = from; part < to; ++part) {
        const int64_t first = part % slices * kSliceChannels, count = std::min(kSliceChannels, channels - first);
        for (const int64_t k : boxes_of[static_cast<size_t>(part / slices)])
          kernels::roi_align_backward(data<T>(bins) + k * height * width * channels + first, channels, axes.rows[k],
                                      axes.columns[k], mutable_data<float>(d_map) + part / slices * image + first,
                                      {map[3], channels, count});
      }
    });
  });
  return d_map.to(grad.scalar_type()).permute({0, 3, 1, 2});
}

}  // namespace cachet::ops
