#include "cachet/ops/detection/roi_align.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <vector>

#include "cachet/ops/detection/roi_align_cpu.h"
#include "cachet/ops/detection/roi_axes.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

constexpr int64_t kMaxBins = 1 << 10, kMaxSamples = 1 << 10;

void check_roi_boxes(const char* op, const Tensor& map, const Tensor& boxes, double scale, int64_t sampling) {
  const bool floating = boxes.scalar_type() == at::kFloat || boxes.scalar_type() == at::kDouble;
  TORCH_CHECK(boxes.dim() == 2 && same_size(boxes.sym_size(1), 5) && floating, op,
              ": boxes must be float32 or float64 (K, 5): image, x0, y0, x1, y1; got ", boxes.scalar_type(), " ",
              boxes.sym_sizes());
  check_same_device(op, map, {{"boxes", boxes}});
  TORCH_CHECK(scale > 0 && std::isfinite(scale), op, ": scale must be above 0, got ", scale);
  TORCH_CHECK(sampling >= 0 && sampling <= kMaxSamples, op, ": sampling must be 0 to ", kMaxSamples, ", got ",
              sampling);
}

void check_roi_align(const Tensor& map, const Tensor& boxes, int64_t height, int64_t width, double scale,
                     int64_t sampling) {
  TORCH_CHECK(map.dim() == 4 && map.is_floating_point() && at_least(map.sym_size(2), 1) && at_least(map.sym_size(3), 1),
              "roi_align: map must be floating (N, C, H, W) with H and W at least 1, got ", map.scalar_type(), " ",
              map.sym_sizes());
  check_roi_boxes("roi_align", map, boxes, scale, sampling);
  TORCH_CHECK(height >= 1 && height <= kMaxBins && width >= 1 && width <= kMaxBins,
              "roi_align: height and width must be 1 to ", kMaxBins, ", got ", height, " x ", width);
}

void check_roi_align_backward(const Tensor& grad, const Tensor& boxes, c10::SymIntArrayRef size, double scale,
                              int64_t sampling) {
  TORCH_CHECK(size.size() == 4 && at_least(size[0], 0) && at_least(size[2], 1) && at_least(size[3], 1),
              "roi_align_backward: size must be the size of a map (N, C, H, W), got ", size);
  TORCH_CHECK(grad.dim() == 4 && grad.is_floating_point() && same_size(grad.sym_size(0), boxes.sym_size(0)) &&
                  same_size(grad.sym_size(1), size[1]) && at_least(grad.sym_size(2), 1) &&
                  at_least(grad.sym_size(3), 1),
              "roi_align_backward: grad must be floating (K, C, height, width) with the K of boxes ", boxes.sym_sizes(),
              " and the C of size ", size, ", got ", grad.scalar_type(), " ", grad.sym_sizes());
  check_roi_boxes("roi_align_backward", grad, boxes, scale, sampling);
}

/// (K, 5) in float64, and every image one of the map's.
Tensor measured_boxes(const char* op, const Tensor& boxes, int64_t images) {
  const Tensor wide = boxes.detach().to(at::kDouble).contiguous();
  const auto* box = wide.const_data_ptr<double>();
  for (int64_t k = 0; k < wide.size(0); ++k) {
    const double image = box[5 * k];
    TORCH_CHECK(image >= 0 && image < static_cast<double>(images) && image == std::floor(image), op,
                ": the image of boxes[", k, "] must be an integer from 0 to ", images - 1, ", got ", image);
  }
  return wide;
}

// --- unfused form
// -----------------------------------------------------------------------------------------------------

/// What the bins of all boxes read along one axis: so many cells (reads, K, bins) and their weights, 0 for those that a
/// bin has no use for.
struct RoiReads {
  Tensor cells, weights;
};

// How many reads there are depends on the largest box: one number comes from the device.
RoiReads reads_of(const Tensor& from, const Tensor& to, double scale, RoiBins o) {
  Tensor start = (from.to(at::kDouble) * scale - 0.5).unsqueeze(1),
         length = (to.to(at::kDouble) * scale - 0.5).unsqueeze(1) - start;
  Tensor number = at::arange(o.bins, at::TensorOptions(at::kDouble).device(from.device())).unsqueeze(0);
  // With fixed samples a box whose end lies before its start reads the same indices, in reverse.
  if (o.sampling > 0) {
    const Tensor reversed = length < 0;
    start = at::where(reversed, start + length, start);
    number = at::where(reversed, static_cast<double>(o.bins - 1) - number, number);
    length = length.abs();
  }
  const Tensor bin = length / o.bins;
  Tensor samples = o.sampling > 0 ? at::zeros_like(bin).fill_(o.sampling) : bin.ceil();
  const Tensor valid = (length >= 0) & start.isfinite() & length.isfinite() & (samples >= 1);
  samples = at::where(valid, samples, 0.0);
  const Tensor spacing = bin / samples.clamp_min(1);
  const Tensor low = start + number * bin;  // (K, bins)
  const Tensor near = at::where(spacing > 0, ((-1 - low) / spacing).floor() - 1, 0.0);
  const Tensor first = at::minimum(near.clamp_min(0), samples);
  const Tensor most = at::where(spacing > 0, at::minimum(samples, (o.cells + 1) / spacing + 4), samples);
  const Tensor finite = at::where(valid, most, 0.0);
  const auto count = finite.numel() == 0 ? 0 : static_cast<int64_t>(std::ceil(finite.max().item<double>()));
  RoiReads all;
  std::vector<Tensor> cells, weights;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor sample = first + i, position = low + (sample + 0.5) * spacing;
    const Tensor inside = valid & (sample < samples) & (position >= -1) & (position <= o.cells);
    const Tensor place = at::where(inside, position.clamp_min(0), 0.0);
    const Tensor cell = place.floor().clamp_max(o.cells - 1);
    const Tensor further = at::where(cell == o.cells - 1, 0.0, place - cell);
    const Tensor fraction = inside.to(at::kDouble) / samples.clamp_min(1);
    cells.push_back(cell.to(at::kLong));
    cells.push_back((cell + 1).clamp_max(o.cells - 1).to(at::kLong));
    weights.push_back((1 - further) * fraction);
    weights.push_back(further * fraction);
  }
  if (count == 0) return {at::zeros({0}, low.options().dtype(at::kLong)), at::zeros({0}, low.options())};
  return {at::stack(cells), at::stack(weights)};
}

/// Calls use(indices, weights) for pairs of reads: (K·height·width) rows of the map's cells (N·H·W), and
/// (K·height·width, 1) what they count.
template <class Use>
void for_each_read(const Tensor& boxes, c10::IntArrayRef map, int64_t height, int64_t width, double scale,
                   int64_t sampling, const Use& use) {
  const RoiReads rows = reads_of(boxes.select(1, 2), boxes.select(1, 4), scale, {height, map[2], sampling});
  const RoiReads columns = reads_of(boxes.select(1, 1), boxes.select(1, 3), scale, {width, map[3], sampling});
  const Tensor image = boxes.select(1, 0).to(at::kLong).view({-1, 1, 1}) * map[2];
  for (int64_t y = 0; y < rows.cells.size(0); ++y)
    for (int64_t x = 0; x < columns.cells.size(0); ++x) {
      const Tensor place = (image + rows.cells[y].unsqueeze(2)) * map[3] + columns.cells[x].unsqueeze(1);
      use(place.flatten(), (rows.weights[y].unsqueeze(2) * columns.weights[x].unsqueeze(1)).flatten().unsqueeze(1));
    }
}

Tensor roi_align_composite(const Tensor& map, const Tensor& boxes, int64_t height, int64_t width, double scale,
                           int64_t sampling) {
  check_roi_align(map, boxes, height, width, scale, sampling);
  const int64_t channels = map.size(1), count = boxes.size(0);
  const auto sums = map.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const Tensor cells = map.permute({0, 2, 3, 1}).reshape({-1, channels});
  Tensor out = at::zeros({count * height * width, channels}, map.options().dtype(sums));
  for_each_read(boxes.detach(), map.sizes(), height, width, scale, sampling,
                [&](const Tensor& indices, const Tensor& weights) {
                  out = out.addcmul(cells.index_select(0, indices).to(sums), weights.to(sums));
                });
  return out.to(map.scalar_type()).view({count, height, width, channels}).permute({0, 3, 1, 2});
}

Tensor roi_align_backward_composite(const Tensor& grad, const Tensor& boxes, c10::SymIntArrayRef size, double scale,
                                    int64_t sampling) {
  check_roi_align_backward(grad, boxes, size, scale, sampling);
  const auto map = C10_AS_INTARRAYREF_SLOW(size);
  const auto sums = grad.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const Tensor bins = grad.permute({0, 2, 3, 1}).reshape({-1, map[1]}).to(sums);
  Tensor d_map = at::zeros({map[0] * map[2] * map[3], map[1]}, bins.options());
  for_each_read(
      boxes.detach(), map, grad.size(2), grad.size(3), scale, sampling,
      [&](const Tensor& indices, const Tensor& weights) { d_map.index_add_(0, indices, bins * weights.to(sums)); });
  return d_map.to(grad.scalar_type()).view({map[0], map[2], map[3], map[1]}).permute({0, 3, 1, 2});
}

// --- CPU -------------------------------------------------------------------------------------------------------------

Tensor roi_align_cpu(const Tensor& map, const Tensor& boxes, int64_t height, int64_t width, double scale,
                     int64_t sampling) {
  check_roi_align(map, boxes, height, width, scale, sampling);
  const Tensor measured = measured_boxes("roi_align", boxes, map.size(0));
  if (fused_on(map) != FusedOn::cpu) return roi_align_composite(map, measured, height, width, scale, sampling);
  return roi_align_forward(map, measured, height, width, scale, sampling);
}

Tensor roi_align_backward_cpu(const Tensor& grad, const Tensor& boxes, c10::SymIntArrayRef size, double scale,
                              int64_t sampling) {
  check_roi_align_backward(grad, boxes, size, scale, sampling);
  const auto map = C10_AS_INTARRAYREF_SLOW(size);
  const Tensor measured = measured_boxes("roi_align_backward", boxes, map[0]);
  if (fused_on(grad) != FusedOn::cpu) return roi_align_backward_composite(grad, measured, size, scale, sampling);
  return roi_align_gradient(grad, measured, map, scale, sampling);
}

// --- shapes ----------------------------------------------------------------------------------------------------------

Tensor roi_align_meta(const Tensor& map, const Tensor& boxes, int64_t height, int64_t width, double scale,
                      int64_t sampling) {
  check_roi_align(map, boxes, height, width, scale, sampling);
  return at::empty_symint({boxes.sym_size(0), height, width, map.sym_size(1)}, map.options()).permute({0, 3, 1, 2});
}

Tensor roi_align_backward_meta(const Tensor& grad, const Tensor& boxes, c10::SymIntArrayRef size, double scale,
                               int64_t sampling) {
  check_roi_align_backward(grad, boxes, size, scale, sampling);
  return at::empty_symint({size[0], size[2], size[3], size[1]}, grad.options()).permute({0, 3, 1, 2});
}

// --- gradient --------------------------------------------------------------------------------------------------------

Tensor call_roi_align(const Tensor& map, const Tensor& boxes, int64_t height, int64_t width, double scale,
                      int64_t sampling) {
  static const auto op = operator_handle<decltype(roi_align_composite)>("cachet::roi_align");
  return op.call(map, boxes, height, width, scale, sampling);
}

Tensor call_roi_align_backward(const Tensor& grad, const Tensor& boxes, c10::SymIntArrayRef size, double scale,
                               int64_t sampling) {
  static const auto op = operator_handle<decltype(roi_align_backward_composite)>("cachet::roi_align_backward");
  return op.call(grad, boxes, size, scale, sampling);
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Linear in the map: the gradient of the gradient is the operator again.
struct RoiAlign : torch::autograd::Function<RoiAlign> {
  static Tensor forward(AutogradContext* ctx, const Tensor& map, const Tensor& boxes, int64_t height, int64_t width,
                        double scale, int64_t sampling) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({boxes});
    ctx->saved_data["size"] = map.sym_sizes().vec();
    ctx->saved_data["scale"] = scale;
    ctx->saved_data["sampling"] = sampling;
    return call_roi_align(map, boxes, height, width, scale, sampling);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto size = ctx->saved_data["size"].toSymIntVector();
    const Tensor none;
    return {call_roi_align_backward(grads[0], ctx->get_saved_variables()[0], size, ctx->saved_data["scale"].toDouble(),
                                    ctx->saved_data["sampling"].toInt()),
            none,
            none,
            none,
            none,
            none};
  }
};

struct RoiAlignBackward : torch::autograd::Function<RoiAlignBackward> {
  static Tensor forward(AutogradContext* ctx, const Tensor& grad, const Tensor& boxes, c10::SymIntArrayRef size,
                        double scale, int64_t sampling) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({boxes});
    const auto bins = [&](int64_t side) { return grad.sym_size(side).guard_int(__FILE__, __LINE__); };
    ctx->saved_data["bins"] = std::vector<int64_t>{bins(2), bins(3)};
    ctx->saved_data["scale"] = scale;
    ctx->saved_data["sampling"] = sampling;
    return call_roi_align_backward(grad, boxes, size, scale, sampling);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto bins = ctx->saved_data["bins"].toIntVector();
    const Tensor none;
    return {call_roi_align(grads[0], ctx->get_saved_variables()[0], bins[0], bins[1],
                           ctx->saved_data["scale"].toDouble(), ctx->saved_data["sampling"].toInt()),
            none, none, none, none};
  }
};

Tensor roi_align_autograd(const Tensor& map, const Tensor& boxes, int64_t height, int64_t width, double scale,
                          int64_t sampling) {
  check_roi_align(map, boxes, height, width, scale, sampling);
  if (in_function_transform()) return roi_align_composite(map, boxes, height, width, scale, sampling);
  return RoiAlign::apply(map, boxes, height, width, scale, sampling);
}

Tensor roi_align_backward_autograd(const Tensor& grad, const Tensor& boxes, c10::SymIntArrayRef size, double scale,
                                   int64_t sampling) {
  check_roi_align_backward(grad, boxes, size, scale, sampling);
  return RoiAlignBackward::apply(grad, boxes, size, scale, sampling);
}

}  // namespace

Tensor roi_align(const Tensor& map, const Tensor& boxes, const RoiAlignOptions& o) {
  return call_roi_align(map, boxes, o.height, o.width, o.scale, o.sampling);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "roi_align(Tensor map, Tensor boxes, int height, int width, float scale, int sampling=0) -> Tensor")
      .composite(roi_align_composite)
      .cpu(roi_align_cpu)
      .meta(roi_align_meta)
      .autograd(roi_align_autograd)
      .autocast<call_roi_align, 0>();
  Operator(m, "roi_align_backward(Tensor grad, Tensor boxes, SymInt[] size, float scale, int sampling) -> Tensor")
      .composite(roi_align_backward_composite)
      .cpu(roi_align_backward_cpu)
      .meta(roi_align_backward_meta)
      .autograd(roi_align_backward_autograd);
}

}  // namespace cachet::ops
