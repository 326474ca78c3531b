#include "cachet/ops/detection/nms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/sort.h>

#include <algorithm>
#include <vector>

#include "cachet/kernels/nms.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_nms(const Tensor& boxes, const Tensor& scores, const OptionalTensor& groups) {
  TORCH_CHECK(boxes.dim() == 2 && boxes.is_floating_point() && same_size(boxes.sym_size(1), 4),
              "nms: boxes must be floating (n, 4): x0, y0, x1, y1; got ", boxes.scalar_type(), " ", boxes.sym_sizes());
  TORCH_CHECK(scores.is_floating_point(), "nms: scores must be floating, got ", scores.scalar_type());
  check_vector("nms", scores, "n", boxes.sym_size(0), "scores");
  if (groups) {
    TORCH_CHECK(groups->scalar_type() == at::kLong, "nms: groups must be int64, got ", groups->scalar_type());
    check_vector("nms", *groups, "n", boxes.sym_size(0), "groups");
  }
  check_same_device("nms", boxes, {{"scores", scores}, {"groups", groups}});
}

Tensor falling(const Tensor& scores) {
  return std::get<1>(at::sort(scores.detach(), /*stable=*/std::optional<bool>(true), /*dim=*/0, /*descending=*/true));
}

Tensor measured(const Tensor& boxes, const Tensor& order) {
  const bool narrow = boxes.scalar_type() == at::kBFloat16 || boxes.scalar_type() == at::kHalf;
  return boxes.detach().index_select(0, order).to(narrow ? at::kFloat : boxes.scalar_type());
}

/// (rows, others) whether they overlap by more than the threshold, written as ATen's operators so that no two of its
/// roundings become one.
Tensor overlapping(const Tensor& rows, const Tensor& others, double threshold) {
  const auto side = [&](int64_t axis) {
    const auto low = at::maximum(rows.select(1, axis).unsqueeze(1), others.select(1, axis).unsqueeze(0));
    const auto high = at::minimum(rows.select(1, axis + 2).unsqueeze(1), others.select(1, axis + 2).unsqueeze(0));
    return (high - low).clamp_min(0);
  };
  const auto area = [](const Tensor& b) {
    return (b.select(1, 2) - b.select(1, 0)) * (b.select(1, 3) - b.select(1, 1));
  };
  const Tensor shared = side(0) * side(1);
  return shared / (area(rows).unsqueeze(1) + area(others).unsqueeze(0) - shared) > at::Scalar(threshold);
}

// Rows of the table of overlaps that are on their way at a time.
constexpr int64_t kTableRows = 512;

// Which boxes remain is decided on the host, from a table that the device makes.
std::tuple<Tensor, Tensor> nms_composite(const Tensor& boxes, const Tensor& scores, const OptionalTensor& groups,
                                         double threshold) {
  check_nms(boxes, scores, groups);
  const Tensor order = falling(scores), sorted = measured(boxes, order);
  const Tensor group = groups ? groups->index_select(0, order) : Tensor();
  const int64_t count = order.size(0);
  const Tensor kept = at::empty({count}, at::kBool).fill_(true);
  auto* keep = kept.mutable_data_ptr<bool>();
  for (int64_t first = 0; first < count; first += kTableRows) {
    const int64_t rows = std::min(kTableRows, count - first), rest = count - first;
    Tensor table = overlapping(sorted.narrow(0, first, rows), sorted.narrow(0, first, rest), threshold);
    if (groups) table &= group.narrow(0, first, rows).unsqueeze(1) == group.narrow(0, first, rest).unsqueeze(0);
    const Tensor on_host = table.cpu().contiguous();
    const auto* overlaps = on_host.const_data_ptr<bool>();
    for (int64_t i = 0; i < rows; ++i) {
      if (!keep[first + i]) continue;
      for (int64_t j = i + 1; j < rest; ++j)
        if (overlaps[i * rest + j]) keep[first + j] = false;
    }
  }
  return {order, kept.to(boxes.device())};
}

// --- CPU -------------------------------------------------------------------------------------------------------------

/// Positions in the falling order, by group, within a group in that order; where each group begins; and their end.
struct Grouped {
  std::vector<int64_t> indices, begins;
};

Grouped grouped(const Tensor& order, const OptionalTensor& groups) {
  Grouped all;
  all.indices.resize(static_cast<size_t>(order.size(0)));
  for (size_t i = 0; i < all.indices.size(); ++i) all.indices[i] = static_cast<int64_t>(i);
  if (all.indices.empty()) return {{}, {0}};
  all.begins = {0};
  if (groups) {
    const Tensor sorted = groups->index_select(0, order);
    const auto* group = sorted.const_data_ptr<int64_t>();
    std::stable_sort(all.indices.begin(), all.indices.end(), [&](int64_t a, int64_t b) { return group[a] < group[b]; });
    for (size_t i = 1; i < all.indices.size(); ++i)
      if (group[all.indices[i]] != group[all.indices[i - 1]]) all.begins.push_back(static_cast<int64_t>(i));
  }
  all.begins.push_back(static_cast<int64_t>(all.indices.size()));
  return all;
}

void suppress(const float* boxes, const int64_t* indices, int64_t count, float threshold, bool* kept) {
  std::vector<float> columns(static_cast<size_t>(4 * count)), space(static_cast<size_t>(kernels::nms_space(count)));
  std::vector<uint8_t> keep(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t side = 0; side < 4; ++side)
      columns[static_cast<size_t>(side * count + i)] = boxes[4 * indices[i] + side];
  const float* x0 = columns.data();
  kernels::nms({x0, x0 + count, x0 + 2 * count, x0 + 3 * count, count}, threshold, keep.data(), space.data());
  for (int64_t i = 0; i < count; ++i) kept[indices[i]] = keep[static_cast<size_t>(i)] != 0;
}

std::tuple<Tensor, Tensor> nms_cpu(const Tensor& boxes, const Tensor& scores, const OptionalTensor& groups,
                                   double threshold) {
  if (fused_on(boxes) != FusedOn::cpu) return nms_composite(boxes, scores, groups, threshold);
  check_nms(boxes, scores, groups);
  const Tensor order = falling(scores), sorted = measured(boxes, order).contiguous();
  const Grouped all = grouped(order, groups);
  const Tensor kept = at::empty({order.size(0)}, at::kBool);
  auto* keep = kept.mutable_data_ptr<bool>();
  const auto* box = sorted.const_data_ptr<float>();
  parallel(static_cast<int64_t>(all.begins.size()) - 1, 16'384, [&](int64_t from, int64_t to) {
    for (int64_t group = from; group < to; ++group) {
      const int64_t first = all.begins[static_cast<size_t>(group)], end = all.begins[static_cast<size_t>(group) + 1];
      suppress(box, all.indices.data() + first, end - first, static_cast<float>(threshold), keep);
    }
  });
  return {order, kept};
}

std::tuple<Tensor, Tensor> nms_meta(const Tensor& boxes, const Tensor& scores, const OptionalTensor& groups, double) {
  check_nms(boxes, scores, groups);
  const auto sizes = scores.sym_sizes();
  return {at::empty_symint(sizes, scores.options().dtype(at::kLong)),
          at::empty_symint(sizes, scores.options().dtype(at::kBool))};
}

}  // namespace

std::tuple<Tensor, Tensor> nms(const Tensor& boxes, const Tensor& scores, const OptionalTensor& groups,
                               double threshold) {
  static const auto op = operator_handle<decltype(nms)>("cachet::nms");
  return op.call(boxes, scores, groups, threshold);
}

Tensor nms_indices(const Tensor& boxes, const Tensor& scores, const OptionalTensor& groups, double threshold) {
  const auto [order, kept] = nms(boxes, scores, groups, threshold);
  return order.masked_select(kept);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "nms(Tensor boxes, Tensor scores, Tensor? groups, float threshold) -> (Tensor, Tensor)")
      .composite(nms_composite)
      .cpu(nms_cpu)
      .meta(nms_meta);
}

}  // namespace cachet::ops
