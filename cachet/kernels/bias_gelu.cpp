#include "cachet/kernels/bias_gelu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/bias_gelu.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

template <class T>
void BiasGelu(const T* x, const float* bias, T* out, BiasRows s) {
  for (int64_t row = 0; row < s.rows; ++row, x += s.width, out += s.width)
    ForEachVector(s.width, [&](auto d, int64_t i) {
      StoreFloat(Gelu(d, hn::Add(LoadFloat(d, x + i), hn::LoadU(d, bias + i))), d, out + i);
    });
}

template <class T>
void BiasGeluBackward(const T* x, const float* bias, const T* grad, T* d_x, float* d_bias, BiasRows s) {
  for (int64_t row = 0; row < s.rows; ++row, x += s.width, grad += s.width, d_x += s.width)
    ForEachVector(s.width, [&](auto d, int64_t i) {
      const auto slope = GeluSlope(d, hn::Add(LoadFloat(d, x + i), hn::LoadU(d, bias + i)));
      const auto g = hn::Mul(LoadFloat(d, grad + i), slope);
      StoreFloat(g, d, d_x + i);
      hn::StoreU(hn::Add(g, hn::LoadU(d, d_bias + i)), d, d_bias + i);
    });
}

CACHET_KERNEL(BiasGelu);
CACHET_KERNEL(BiasGeluBackward);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(BiasGelu);
CACHET_EXPORT(BiasGeluBackward);

template <class T>
void bias_gelu(const T* x, const float* bias, T* out, BiasRows shape) {
  CACHET_DISPATCH(BiasGelu, T)(x, bias, out, shape);
}
template <class T>
void bias_gelu_backward(const T* x, const float* bias, const T* grad, T* d_x, float* d_bias, BiasRows shape) {
  CACHET_DISPATCH(BiasGeluBackward, T)(x, bias, grad, d_x, d_bias, shape);
}

#define CACHET_FORMS(T)                                          \
  template void bias_gelu(const T*, const float*, T*, BiasRows); \
  template void bias_gelu_backward(const T*, const float*, const T*, T*, float*, BiasRows);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
