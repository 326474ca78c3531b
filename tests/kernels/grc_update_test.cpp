#include "cachet/kernels/grc_update.h"

#include "tests/kernels/sweep.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr int64_t kBatch = 2, kLength = 3;

template <class T>
struct GrcOperands {
  GrcOperands(int64_t w, bool shared, bool norm, int64_t offset, std::mt19937& random)
      : width(w),
        held(shared ? kLength : kBatch * kLength),
        tokens(kBatch * kLength * 3 * w, offset, random, 2.0f),
        cached(held * 2 * w, offset, random, 2.0f),
        reset(kBatch * kLength * w, offset, random),
        d_next(kBatch * kLength * w, offset, random),
        d_reset(kBatch * kLength * w, offset, random),
        cache(held * w, offset, random),
        bias(w, offset, random),
        norm_weight(w, offset, random),
        norm_bias(w, offset, random),
        d_mean(kLength * w, offset, random),
        inputs{tokens.data(),
               cached.data(),
               reset.data(),
               cache.data(),
               bias.data(),
               norm ? norm_weight.data() : nullptr,
               norm ? norm_bias.data() : nullptr,
               1e-5f},
        shape{kBatch, kLength, w, shared} {}
  int64_t width, held;
  Guarded<T> tokens, cached, reset, d_next, d_reset;
  Guarded<float> cache, bias, norm_weight, norm_bias, d_mean;
  kernels::GrcInputs<T> inputs;
  kernels::GrcShape shape;
};

template <class T>
struct GrcResults {
  GrcResults(const GrcOperands<T>& in, int64_t offset)
      : reset_cache(kBatch * kLength * in.width, offset),
        next(kBatch * kLength * in.width, offset),
        reset_again(kBatch * kLength * in.width, offset),
        d_tokens(kBatch * kLength * 3 * in.width, offset),
        mean(kLength * in.width, offset),
        d_gates(in.shape.shared ? kLength * 2 * in.width : 0, offset),
        d_cache(in.held * in.width, offset),
        d_norm_weight(in.inputs.norm_weight ? in.width : 0, offset),
        d_norm_bias(in.inputs.norm_weight ? in.width : 0, offset),
        scratch(3 * in.width, offset) {}
  kernels::GrcGradients<T> gradients(const GrcOperands<T>& in) {
    return {d_tokens.data(), in.shape.shared ? d_gates.data() : nullptr, d_cache.data(), d_norm_weight.data(),
            d_norm_bias.data()};
  }
  Guarded<T> reset_cache, next, reset_again, d_tokens;
  Guarded<float> mean, d_gates, d_cache, d_norm_weight, d_norm_bias, scratch;
};

template <class T>
GrcResults<T> run(const GrcOperands<T>& in, int64_t offset, bool simd) {
  GrcResults<T> out(in, offset);
  // Rows in two parts, as threads would take them.
  for (const kernels::GrcRows rows : {kernels::GrcRows{0, 2}, kernels::GrcRows{2, kLength}}) {
    if (simd) {
      kernels::grc_reset(in.inputs, out.reset_cache.data(), in.shape, rows);
      kernels::grc_blend(in.inputs, out.next.data(), out.mean.data(), out.scratch.data(), in.shape, rows);
      kernels::grc_blend_backward(in.inputs, in.d_next.data(), in.d_mean.data(), out.gradients(in), out.scratch.data(),
                                  in.shape, rows);
      kernels::grc_reset_backward(in.inputs, in.d_reset.data(), out.reset_again.data(), out.gradients(in), in.shape,
                                  rows);
    } else {
      kernels::scalar::grc_reset(in.inputs, out.reset_cache.data(), in.shape, rows);
      kernels::scalar::grc_blend(in.inputs, out.next.data(), out.mean.data(), out.scratch.data(), in.shape, rows);
      kernels::scalar::grc_blend_backward(in.inputs, in.d_next.data(), in.d_mean.data(), out.gradients(in),
                                          out.scratch.data(), in.shape, rows);
      kernels::scalar::grc_reset_backward(in.inputs, in.d_reset.data(), out.reset_again.data(), out.gradients(in),
                                          in.shape, rows);
    }
  }
  return out;
}

// The operator's test holds the scalar form to the equations; here the SIMD form is held to the scalar one. Both are
// float32 with other roundings inside: a gate is off by a few ε, GELU by 1.5e-7 times its input (its error function's
// approximation), and LayerNorm multiplies what is off by up to √(1/(variance + ε)); width-long sums add theirs.
TEST(GrcUpdateKernelRobustness, SimdEqualsScalarForwardAndBackward) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& name) {
    if (width == 0) return;
    for (const bool shared : {true, false})
      for (const bool norm : {false, true}) {
        const std::string label = name + (shared ? ", shared" : ", own") + (norm ? ", norm" : "");
        const GrcOperands<T> in(width, shared, norm, offset, random);
        const GrcResults<T> simd = run(in, offset, true), scalar = run(in, offset, false);
        // Both sides round to T: where float32 differs, they may end a step of T apart.
        const double narrow = test::unit_roundoff<T>() * 0x1p24 * 2;
        const double roundings = norm ? (width == 1 ? 4e5 : 6e3) : 64;
        const auto compare = [&](const auto& a, const auto& b, double scale, const char* what) {
          expect_near<T>(
              a, [&](int64_t i) { return b[i]; }, [&](int64_t i) { return 1.0 + std::abs(b[i]); }, scale,
              label + ' ' + what);
        };
        compare(simd.reset_cache, scalar.reset_cache, 64 + narrow, "r*C");
        compare(simd.reset_again, scalar.reset_again, 64 + narrow, "r*C again");
        compare(simd.next, scalar.next, roundings + narrow, "next");
        compare(simd.mean, scalar.mean, roundings, "mean");
        compare(simd.d_tokens, scalar.d_tokens, roundings + narrow, "token gradients");
        compare(simd.d_gates, scalar.d_gates, roundings + narrow * kBatch, "gate gradients");
        compare(simd.d_cache, scalar.d_cache, 64, "cache gradients");
        compare(simd.d_norm_weight, scalar.d_norm_weight, roundings * kBatch * kLength, "norm weight");
        compare(simd.d_norm_bias, scalar.d_norm_bias, 64, "norm bias");
      }
  });
}

}  // namespace
}  // namespace cachet
