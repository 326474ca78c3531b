#include "cachet/kernels/nms.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/nms.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

void Nms(const BoxColumns& boxes, float threshold, uint8_t* kept, float* space) {
  const Wide d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t room = nms_space(boxes.count) / 5;
  float *x0 = space, *y0 = x0 + room, *x1 = y0 + room, *y1 = x1 + room, *areas = y1 + room;
  // The remaining boxes; after the last of them stand numbers that overlap nothing.
  std::fill(space, space + 5 * room, std::numeric_limits<float>::quiet_NaN());
  int64_t found = 0;
  const auto zero = hn::Zero(d), most = hn::Set(d, threshold);
  for (int64_t i = 0; i < boxes.count; ++i) {
    const float area = (boxes.x1[i] - boxes.x0[i]) * (boxes.y1[i] - boxes.y0[i]);
    const auto left = hn::Set(d, boxes.x0[i]), top = hn::Set(d, boxes.y0[i]);
    const auto right = hn::Set(d, boxes.x1[i]), bottom = hn::Set(d, boxes.y1[i]), own = hn::Set(d, area);
    bool removed = false;
    for (int64_t k = 0; k < found && !removed; k += lanes) {
      const auto width =
          hn::Max(hn::Sub(hn::Min(right, hn::LoadU(d, x1 + k)), hn::Max(left, hn::LoadU(d, x0 + k))), zero);
      const auto height =
          hn::Max(hn::Sub(hn::Min(bottom, hn::LoadU(d, y1 + k)), hn::Max(top, hn::LoadU(d, y0 + k))), zero);
      const auto shared = hn::Mul(width, height);
      const auto whole = hn::Sub(hn::Add(own, hn::LoadU(d, areas + k)), shared);
      removed = !hn::AllFalse(d, hn::Gt(hn::Div(shared, whole), most));
    }
    kept[i] = removed ? 0 : 1;
    if (removed) continue;
    x0[found] = boxes.x0[i], y0[found] = boxes.y0[i], x1[found] = boxes.x1[i], y1[found] = boxes.y1[i];
    areas[found++] = area;
  }
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

HWY_EXPORT(Nms);

void nms(const BoxColumns& boxes, float threshold, uint8_t* kept, float* space) {
  HWY_DYNAMIC_DISPATCH(Nms)(boxes, threshold, kept, space);
}

}  // namespace cachet::kernels
#endif
