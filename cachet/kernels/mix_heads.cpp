#include "cachet/kernels/mix_heads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/mix_heads.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

template <class T>
void MixHeads(const T* self, const T* memory, const float* gate, T* out, MixHeadsShape s) {
  for (int64_t row = 0; row < s.tokens * s.heads; ++row) {
    const float give = gate[row % s.heads], keep = 1.0f - give;
    ForEachVector(s.memory_head_dim, [&](auto d, int64_t i) {
      const auto kept = hn::Mul(hn::Set(d, keep), LoadFloat(d, self + i));
      StoreFloat(hn::MulAdd(hn::Set(d, give), LoadFloat(d, memory + i), kept), d, out + i);
    });
    ForEachVector(s.head_dim - s.memory_head_dim, [&](auto d, int64_t i) {
      StoreFloat(hn::Mul(hn::Set(d, keep), LoadFloat(d, self + s.memory_head_dim + i)), d, out + s.memory_head_dim + i);
    });
    self += s.head_dim, out += s.head_dim, memory += s.memory_head_dim;
  }
}

template <class T>
void MixHeadsBackward(const T* grad, const T* self, const T* memory, const float* gate, T* d_self, T* d_memory,
                      float* d_gate, MixHeadsShape s) {
  for (int64_t row = 0; row < s.tokens * s.heads; ++row) {
    const int64_t head = row % s.heads;
    const float give = gate[head], keep = 1.0f - give;
    float sum = 0.0f;
    ForEachVector(s.memory_head_dim, [&](auto d, int64_t i) {
      const auto g = LoadFloat(d, grad + i);
      const auto more = hn::Sub(LoadFloat(d, memory + i), LoadFloat(d, self + i));
      sum += hn::GetLane(hn::SumOfLanes(d, hn::Mul(more, g)));
      StoreFloat(hn::Mul(hn::Set(d, keep), g), d, d_self + i);
      StoreFloat(hn::Mul(hn::Set(d, give), g), d, d_memory + i);
    });
    ForEachVector(s.head_dim - s.memory_head_dim, [&](auto d, int64_t i) {
      const int64_t c = s.memory_head_dim + i;
      const auto g = LoadFloat(d, grad + c);
      sum -= hn::GetLane(hn::SumOfLanes(d, hn::Mul(LoadFloat(d, self + c), g)));
      StoreFloat(hn::Mul(hn::Set(d, keep), g), d, d_self + c);
    });
    d_gate[head] += sum;
    grad += s.head_dim, self += s.head_dim, d_self += s.head_dim;
    memory += s.memory_head_dim, d_memory += s.memory_head_dim;
  }
}

CACHET_KERNEL(MixHeads);
CACHET_KERNEL(MixHeadsBackward);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(MixHeads);
CACHET_EXPORT(MixHeadsBackward);

template <class T>
void mix_heads(const T* self, const T* memory, const float* gate, T* out, MixHeadsShape shape) {
  CACHET_DISPATCH(MixHeads, T)(self, memory, gate, out, shape);
}
template <class T>
void mix_heads_backward(const T* grad, const T* self, const T* memory, const float* gate, T* d_self, T* d_memory,
                        float* d_gate, MixHeadsShape shape) {
  CACHET_DISPATCH(MixHeadsBackward, T)(grad, self, memory, gate, d_self, d_memory, d_gate, shape);
}

#define CACHET_FORMS(T)                                                         \
  template void mix_heads(const T*, const T*, const float*, T*, MixHeadsShape); \
  template void mix_heads_backward(const T*, const T*, const T*, const float*, T*, T*, float*, MixHeadsShape);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
