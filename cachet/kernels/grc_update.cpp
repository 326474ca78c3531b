#include "cachet/kernels/grc_update.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/grc_update.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

template <class D, class T>
HWY_INLINE hn::Vec<D> Gate(D d, const T* token_product, const T* cache_product) {
  return Sigmoid(d, hn::Add(LoadFloat(d, token_product), LoadFloat(d, cache_product)));
}

/// The candidate's product, bias added.
template <class D, class T>
HWY_INLINE hn::Vec<D> CandidateProduct(D d, const GrcInputs<T>& in, const GrcRow<T>& at, int64_t i) {
  const auto sum = hn::Add(LoadFloat(d, at.token_candidate + i), LoadFloat(d, at.reset_product + i));
  return in.candidate_bias ? hn::Add(sum, hn::LoadU(d, in.candidate_bias + i)) : sum;
}

HWY_INLINE Moments RowMoments(const float* row, int64_t width, float eps) {
  const float inverse_width = 1.0f / static_cast<float>(width);
  const float mean =
      inverse_width * SumOfRow(width, [&](auto d, int64_t i, auto sum) { return hn::Add(sum, hn::LoadU(d, row + i)); });
  const float variance = inverse_width * SumOfRow(width, [&](auto d, int64_t i, auto sum) {
                           const auto off = hn::Sub(hn::LoadU(d, row + i), hn::Set(d, mean));
                           return hn::MulAdd(off, off, sum);
                         });
  return {mean, 1.0f / std::sqrt(variance + eps)};
}

/// GELU of the candidate's product into a row, and the row's moments.
template <class T>
HWY_INLINE Moments ActivatedCandidate(const GrcInputs<T>& in, const GrcRow<T>& at, int64_t width, float* row) {
  ForEachVector(width, [&](auto d, int64_t i) { hn::StoreU(Gelu(d, CandidateProduct(d, in, at, i)), d, row + i); });
  return RowMoments(row, width, in.norm_eps);
}

template <class D>
HWY_INLINE hn::Vec<D> Normalized(D d, const float* row, const Moments& m, int64_t i) {
  return hn::Mul(hn::Sub(hn::LoadU(d, row + i), hn::Set(d, m.mean)), hn::Set(d, m.inverse_deviation));
}

template <class T>
void GrcReset(const GrcInputs<T>& in, T* reset_cache, const GrcShape& s, GrcRows rows) {
  for (int64_t sample = 0; sample < s.batch; ++sample)
    for (int64_t t = rows.from; t < rows.to; ++t) {
      const GrcRow<T> at(in, s, sample, t);
      T* out = reset_cache + at.row * s.width;
      ForEachVector(s.width, [&](auto d, int64_t i) {
        StoreFloat(hn::Mul(Gate(d, at.token_reset + i, at.cache_reset + i), hn::LoadU(d, at.cache + i)), d, out + i);
      });
    }
}

template <class T>
void GrcBlend(const GrcInputs<T>& in, T* next, float* mean, float* scratch, const GrcShape& s, GrcRows rows) {
  const float weight = 1.0f / static_cast<float>(s.batch);
  for (int64_t t = rows.from; t < rows.to; ++t) {
    float* average = mean + t * s.width;
    ForEachVector(s.width, [&](auto d, int64_t i) { hn::StoreU(hn::Zero(d), d, average + i); });
    for (int64_t sample = 0; sample < s.batch; ++sample) {
      const GrcRow<T> at(in, s, sample, t);
      T* out = next + at.row * s.width;
      const auto blend = [&](auto d, int64_t i, auto candidate) {
        const auto u = Gate(d, at.token_update + i, at.cache_update + i), c = hn::LoadU(d, at.cache + i);
        const auto value = hn::MulAdd(u, hn::Sub(candidate, c), c);
        StoreFloat(value, d, out + i);
        hn::StoreU(hn::MulAdd(value, hn::Set(d, weight), hn::LoadU(d, average + i)), d, average + i);
      };
      if (in.norm_weight) {
        const Moments m = ActivatedCandidate(in, at, s.width, scratch);
        ForEachVector(s.width, [&](auto d, int64_t i) {
          const auto z = Normalized(d, scratch, m, i);
          blend(d, i, hn::MulAdd(z, hn::LoadU(d, in.norm_weight + i), hn::LoadU(d, in.norm_bias + i)));
        });
      } else {
        ForEachVector(s.width, [&](auto d, int64_t i) { blend(d, i, CandidateProduct(d, in, at, i)); });
      }
    }
  }
}

template <class T>
void GrcBlendBackward(const GrcInputs<T>& in, const T* d_next, const float* d_mean, const GrcGradients<T>& out,
                      float* scratch, const GrcShape& s, GrcRows rows) {
  const int64_t width = s.width;
  const float weight = 1.0f / static_cast<float>(s.batch);
  float *activated = scratch, *d_candidate = scratch + width;
  for (int64_t t = rows.from; t < rows.to; ++t)
    for (int64_t sample = 0; sample < s.batch; ++sample) {
      const GrcRow<T> at(in, s, sample, t);
      const T* grad = d_next ? d_next + at.row * width : nullptr;
      const float* grad_of_mean = d_mean ? d_mean + t * width : nullptr;
      T *d_update = out.token_products + at.row * 3 * width + width, *d_product = d_update + width;
      float* d_cache = out.cache ? out.cache + at.cache_row * width : nullptr;
      // What the blend gives to gate, candidate and cache; returns the candidate's.
      const auto unblend = [&](auto d, int64_t i, auto candidate) {
        auto g = grad ? LoadFloat(d, grad + i) : hn::Zero(d);
        if (grad_of_mean) g = hn::MulAdd(hn::Set(d, weight), hn::LoadU(d, grad_of_mean + i), g);
        const auto u = Gate(d, at.token_update + i, at.cache_update + i), c = hn::LoadU(d, at.cache + i);
        const auto rest = hn::Sub(hn::Set(d, 1.0f), u);
        StoreFloat(hn::Mul(hn::Mul(g, hn::Sub(candidate, c)), hn::Mul(u, rest)), d, d_update + i);
        if (d_cache) hn::StoreU(hn::MulAdd(rest, g, hn::LoadU(d, d_cache + i)), d, d_cache + i);
        return hn::Mul(g, u);
      };
      if (!in.norm_weight) {
        ForEachVector(width, [&](auto d, int64_t i) {
          StoreFloat(unblend(d, i, CandidateProduct(d, in, at, i)), d, d_product + i);
        });
        continue;
      }
      const Moments m = ActivatedCandidate(in, at, width, activated);
      ForEachVector(width, [&](auto d, int64_t i) {
        const auto z = Normalized(d, activated, m, i), w = hn::LoadU(d, in.norm_weight + i);
        const auto g = unblend(d, i, hn::MulAdd(z, w, hn::LoadU(d, in.norm_bias + i)));
        hn::StoreU(hn::MulAdd(g, z, hn::LoadU(d, out.norm_weight + i)), d, out.norm_weight + i);
        hn::StoreU(hn::Add(g, hn::LoadU(d, out.norm_bias + i)), d, out.norm_bias + i);
        hn::StoreU(hn::Mul(g, w), d, d_candidate + i);
      });
      // LayerNorm: (g − mean g − z·mean(g·z)) / deviation, then GELU.
      const float inverse_width = 1.0f / static_cast<float>(width);
      const float mean_g = inverse_width * SumOfRow(width, [&](auto d, int64_t i, auto sum) {
                             return hn::Add(sum, hn::LoadU(d, d_candidate + i));
                           });
      const float mean_gz = inverse_width * SumOfRow(width, [&](auto d, int64_t i, auto sum) {
                              return hn::MulAdd(hn::LoadU(d, d_candidate + i), Normalized(d, activated, m, i), sum);
                            });
      ForEachVector(width, [&](auto d, int64_t i) {
        const auto z = Normalized(d, activated, m, i);
        const auto centred = hn::Sub(hn::LoadU(d, d_candidate + i), hn::Set(d, mean_g));
        const auto g = hn::Mul(hn::NegMulAdd(z, hn::Set(d, mean_gz), centred), hn::Set(d, m.inverse_deviation));
        StoreFloat(hn::Mul(g, GeluSlope(d, CandidateProduct(d, in, at, i))), d, d_product + i);
      });
    }
}

template <class T>
void GrcResetBackward(const GrcInputs<T>& in, const T* d_reset_cache, T* reset_cache, const GrcGradients<T>& out,
                      const GrcShape& s, GrcRows rows) {
  const int64_t width = s.width;
  for (int64_t t = rows.from; t < rows.to; ++t) {
    float* d_gates = out.cache_products ? out.cache_products + t * 2 * width : nullptr;
    if (d_gates) ForEachVector(2 * width, [&](auto d, int64_t i) { hn::StoreU(hn::Zero(d), d, d_gates + i); });
    for (int64_t sample = 0; sample < s.batch; ++sample) {
      const GrcRow<T> at(in, s, sample, t);
      const T* grad = d_reset_cache + at.row * width;
      T *d_reset = out.token_products + at.row * 3 * width, *product = reset_cache + at.row * width;
      float* d_cache = out.cache ? out.cache + at.cache_row * width : nullptr;
      ForEachVector(width, [&](auto d, int64_t i) {
        const auto g = LoadFloat(d, grad + i), c = hn::LoadU(d, at.cache + i);
        const auto r = Gate(d, at.token_reset + i, at.cache_reset + i);
        const auto slope = hn::Mul(r, hn::Sub(hn::Set(d, 1.0f), r));
        const auto d_gate = hn::Mul(hn::Mul(g, c), slope);
        StoreFloat(hn::Mul(r, c), d, product + i);
        StoreFloat(d_gate, d, d_reset + i);
        if (d_cache) hn::StoreU(hn::MulAdd(g, r, hn::LoadU(d, d_cache + i)), d, d_cache + i);
        if (d_gates) hn::StoreU(hn::Add(d_gate, hn::LoadU(d, d_gates + i)), d, d_gates + i);
      });
      if (!d_gates) continue;
      ForEachVector(width, [&](auto d, int64_t i) {
        float* sum = d_gates + width + i;
        hn::StoreU(hn::Add(LoadFloat(d, d_reset + width + i), hn::LoadU(d, sum)), d, sum);
      });
    }
  }
}

CACHET_KERNEL(GrcReset);
CACHET_KERNEL(GrcBlend);
CACHET_KERNEL(GrcBlendBackward);
CACHET_KERNEL(GrcResetBackward);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(GrcReset);
CACHET_EXPORT(GrcBlend);
CACHET_EXPORT(GrcBlendBackward);
CACHET_EXPORT(GrcResetBackward);

template <class T>
void grc_reset(const GrcInputs<T>& in, T* reset_cache, const GrcShape& shape, GrcRows rows) {
  CACHET_DISPATCH(GrcReset, T)(in, reset_cache, shape, rows);
}
template <class T>
void grc_blend(const GrcInputs<T>& in, T* next, float* mean, float* scratch, const GrcShape& shape, GrcRows rows) {
  CACHET_DISPATCH(GrcBlend, T)(in, next, mean, scratch, shape, rows);
}
template <class T>
void grc_blend_backward(const GrcInputs<T>& in, const T* d_next, const float* d_mean, const GrcGradients<T>& out,
                        float* scratch, const GrcShape& shape, GrcRows rows) {
  CACHET_DISPATCH(GrcBlendBackward, T)(in, d_next, d_mean, out, scratch, shape, rows);
}
template <class T>
void grc_reset_backward(const GrcInputs<T>& in, const T* d_reset_cache, T* reset_cache, const GrcGradients<T>& out,
                        const GrcShape& shape, GrcRows rows) {
  CACHET_DISPATCH(GrcResetBackward, T)(in, d_reset_cache, reset_cache, out, shape, rows);
}

#define CACHET_FORMS(T)                                                                                         \
  template void grc_reset(const GrcInputs<T>&, T*, const GrcShape&, GrcRows);                                   \
  template void grc_blend(const GrcInputs<T>&, T*, float*, float*, const GrcShape&, GrcRows);                   \
  template void grc_blend_backward(const GrcInputs<T>&, const T*, const float*, const GrcGradients<T>&, float*, \
                                   const GrcShape&, GrcRows);                                                   \
  template void grc_reset_backward(const GrcInputs<T>&, const T*, T*, const GrcGradients<T>&, const GrcShape&, GrcRows);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
