#include "cachet/models/detection/boxes/box_coder.h"

#include <ATen/ATen.h>

#include <cmath>

#include "cachet/config/counted_list.h"
#include "cachet/models/detection/boxes/boxes.h"

namespace cachet::models {
namespace {

struct Centred {
  at::Tensor x, y, width, height;  // (n)
};

Centred centred(const at::Tensor& b) {
  const at::Tensor x0 = b.select(1, 0), y0 = b.select(1, 1), x1 = b.select(1, 2), y1 = b.select(1, 3);
  return {(x0 + x1) * 0.5, (y0 + y1) * 0.5, x1 - x0, y1 - y0};
}

at::Tensor row_of(const std::array<double, 4>& values, const at::Tensor& like) {
  return at::tensor(std::vector<double>{values[0], values[1], values[2], values[3]}, at::kDouble).to(like.options());
}

std::array<double, 4> read_four(const config::View& table, const char* key, const std::array<double, 4>& fallback,
                                config::Range<double> range) {
  const std::vector<double> values =
      config::counted_reals(table, key, {fallback.begin(), fallback.end()}, config::Count::exactly(4), range);
  return {values[0], values[1], values[2], values[3]};
}

}  // namespace

BoxCoderOptions BoxCoderOptions::read(const config::View& parent, BoxCoderOptions o) {
  const config::View table = parent.table("coder");
  o.means = read_four(table, "target_means", o.means, {-100.0, 100.0});
  o.deviations = read_four(table, "target_stds", o.deviations, {1e-6, 100.0});
  o.ratio_clip = table.real("ratio_clip", o.ratio_clip, {1e-6, 1.0});
  o.clip_to_image = table.boolean("clip_border", o.clip_to_image);
  return o;
}

at::Tensor BoxCoder::encode(const at::Tensor& boxes, const at::Tensor& targets) const {
  const Centred from = centred(boxes), to = centred(targets.to(boxes.scalar_type()));
  const at::Tensor deltas = at::stack({(to.x - from.x) / from.width, (to.y - from.y) / from.height,
                                       (to.width / from.width).log(), (to.height / from.height).log()},
                                      -1);
  return (deltas - row_of(options_.means, deltas)) / row_of(options_.deviations, deltas);
}

at::Tensor BoxCoder::decode(const at::Tensor& boxes, const at::Tensor& deltas,
                            const std::optional<ImageSize>& image) const {
  const at::Tensor by_class =
      deltas.unflatten(1, {-1, 4}) * row_of(options_.deviations, deltas) + row_of(options_.means, deltas);
  const double most = std::abs(std::log(options_.ratio_clip));
  const Centred from = centred(boxes.to(deltas.scalar_type()));
  const auto column = [](const at::Tensor& x) { return x.unsqueeze(1); };
  const at::Tensor width = column(from.width) * by_class.select(2, 2).clamp(-most, most).exp();
  const at::Tensor height = column(from.height) * by_class.select(2, 3).clamp(-most, most).exp();
  const at::Tensor x = column(from.x) + column(from.width) * by_class.select(2, 0);
  const at::Tensor y = column(from.y) + column(from.height) * by_class.select(2, 1);
  const at::Tensor decoded =
      at::stack({x - width * 0.5, y - height * 0.5, x + width * 0.5, y + height * 0.5}, -1).flatten(1);
  return image && options_.clip_to_image ? clip_boxes(decoded, *image) : decoded;
}

}  // namespace cachet::models
