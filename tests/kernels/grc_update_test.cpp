#include "cachet/kernels/grc_update.h"

#include <cmath>
#include <vector>

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/grc_update.h"

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

/// A number that the definition gives in float64, and how far float32 arithmetic may be off, in units of ε = 2⁻²⁴.
struct Value {
  double want = 0, error = 0;
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double distribution_of(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double gelu_slope_of(double x) { return distribution_of(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }

/// One row of one sample by the equations of ops/cache/grc_update.h, with its errors to first order. The primitives: a
/// sum of numbers is off by ε of their magnitudes for each rounding. A gate of x is off by (8 + |x|)ε: its exponential
/// by 4 ε, sum and quotient by 2 ε, its argument by |x|ε. Φ is off by 5 ε, e^(−x²/2) by 8 ε of itself.
class RowDefinition {
 public:
  template <class T>
  RowDefinition(const GrcOperands<T>& in, int64_t sample, int64_t t) : width_(in.width) {
    const int64_t row = sample * kLength + t, held = in.shape.shared ? t : row, w = in.width;
    for (int64_t i = 0; i < w; ++i) {
      Element e;
      const auto token = [&](int64_t part) { return static_cast<double>(in.tokens[(row * 3 + part) * w + i]); };
      const double xr = token(0) + in.cached[held * 2 * w + i], xu = token(1) + in.cached[(held * 2 + 1) * w + i];
      e.cache = in.cache[held * w + i];
      e.r = {sigmoid_of(xr), 8 + std::abs(xr)};
      e.u = {sigmoid_of(xu), 8 + std::abs(xu)};
      const double bias = in.bias[i], reset = in.reset[row * w + i];
      e.product = {token(2) + reset + bias, 2 * (std::abs(token(2)) + std::abs(reset) + std::abs(bias))};
      e.candidate = e.product;
      const double next = in.d_next[row * w + i], mean = in.d_mean[t * w + i] / kBatch;
      e.grad = {next + mean, 3 * (std::abs(next) + std::abs(mean))};
      const double g = in.d_reset[row * w + i];
      e.reset_cache = {e.r.want * e.cache, std::abs(e.cache) * (e.r.error + 1)};
      e.d_reset = {g * e.cache * e.r.want * (1 - e.r.want), std::abs(g * e.cache) * (e.r.error + 4)};
      e.d_cache_of_reset = {g * e.r.want, std::abs(g) * (e.r.error + 1)};
      elements_.push_back(e);
    }
    if (in.inputs.norm_weight) normalize(in);
    for (Element& e : elements_) {
      const double size = std::abs(e.candidate.want) + std::abs(e.cache), g = std::abs(e.grad.want);
      e.next = {(1 - e.u.want) * e.cache + e.u.want * e.candidate.want, (e.u.error + 3) * size + e.candidate.error};
      // u(1 − u) is at most 1/4, and off by as much as u, and 1 ε.
      e.d_update = {e.grad.want * (e.candidate.want - e.cache) * e.u.want * (1 - e.u.want),
                    e.grad.error * size / 4 + g * ((e.u.error + 5) * size + (e.candidate.error + size) / 4)};
      e.d_cache_of_blend = {e.grad.want * (1 - e.u.want), e.grad.error + g * (e.u.error + 2)};
      e.d_candidate = {e.grad.want * e.u.want, e.grad.error + g * (e.u.error + 1)};
      e.d_product = e.d_candidate;
    }
    if (in.inputs.norm_weight) normalize_backward(in);
  }

  struct Element {
    double cache = 0;
    Value r, u, product, z, candidate, grad, reset_cache, next;
    Value d_reset, d_cache_of_reset, d_update, d_cache_of_blend, d_candidate, d_product;
  };
  const Element& operator[](int64_t i) const { return elements_[static_cast<size_t>(i)]; }

 private:
  /// The mean over the row of what value(element) gives.
  template <class Of>
  Value mean_of(const Of& value) const {
    Value mean;
    double size = 0;
    for (const Element& e : elements_) {
      const Value v = value(e);
      mean.want += v.want / width(), mean.error += v.error / width(), size += std::abs(v.want) / width();
    }
    mean.error += (width() + 2) * size;
    return mean;
  }
  double width() const { return static_cast<double>(width_); }

  // LayerNorm of GELU of the products.
  template <class T>
  void normalize(const GrcOperands<T>& in) {
    const auto activated = [](const Element& e) -> Value {
      const double p = e.product.want;
      return {p * distribution_of(p), 6 * std::abs(p) + 1.13 * e.product.error};
    };
    const Value mean = mean_of(activated);
    const auto off = [&](const Element& e) -> Value {
      const Value h = activated(e);
      return {h.want - mean.want, h.error + mean.error + std::abs(h.want) + std::abs(mean.want)};
    };
    const Value variance = mean_of([&](const Element& e) -> Value {
      const Value v = off(e);
      return {v.want * v.want, 2 * std::abs(v.want) * v.error};
    });
    const double spread = variance.want + in.inputs.norm_eps;
    inverse_ = {1 / std::sqrt(spread), 0};
    inverse_.error = inverse_.want * (variance.error / (2 * spread) + 3);
    for (size_t i = 0; i < elements_.size(); ++i) {
      Element& e = elements_[i];
      const Value v = off(e);
      const double weight = in.norm_weight[static_cast<int64_t>(i)], bias = in.norm_bias[static_cast<int64_t>(i)];
      e.z = {v.want * inverse_.want, inverse_.want * v.error + std::abs(v.want) * (inverse_.error + inverse_.want)};
      e.candidate = {e.z.want * weight + bias,
                     std::abs(weight) * e.z.error + 2 * (std::abs(e.z.want * weight) + std::abs(bias))};
    }
  }

  // The gradient of the products, through LayerNorm and GELU.
  template <class T>
  void normalize_backward(const GrcOperands<T>& in) {
    for (size_t i = 0; i < elements_.size(); ++i) {
      Value& g = elements_[i].d_product;
      const double weight = in.norm_weight[static_cast<int64_t>(i)];
      g = {g.want * weight, std::abs(weight) * (g.error + std::abs(g.want))};
    }
    const Value mean_g = mean_of([](const Element& e) { return e.d_product; });
    const Value mean_gz = mean_of([](const Element& e) -> Value {
      return {e.d_product.want * e.z.want,
              e.d_product.error * std::abs(e.z.want) + std::abs(e.d_product.want) * e.z.error};
    });
    for (Element& e : elements_) {
      const Value g = e.d_product;
      const double z = std::abs(e.z.want), centred = g.want - mean_g.want - e.z.want * mean_gz.want;
      const double size = std::abs(g.want) + std::abs(mean_g.want) + z * std::abs(mean_gz.want);
      const double off = g.error + mean_g.error + z * mean_gz.error + std::abs(mean_gz.want) * e.z.error + 3 * size;
      const Value d_activated{centred * inverse_.want, inverse_.want * off + size * (inverse_.error + inverse_.want)};
      // GELU's slope is at most 1.13, and its own slope 0.8.
      const double slope = gelu_slope_of(e.product.want), slope_off = 9 + 0.8 * e.product.error;
      e.d_product = {d_activated.want * slope, 1.13 * d_activated.error + std::abs(d_activated.want) * slope_off};
    }
  }

  int64_t width_;
  Value inverse_;
  std::vector<Element> elements_;
};

TEST(GrcUpdateKernelRobustness, EqualsItsDefinitionForwardAndBackward) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& name) {
    if (width == 0) return;
    for (const bool shared : {true, false})
      for (const bool norm : {false, true}) {
        const std::string label = name + (shared ? ", shared" : ", own") + (norm ? ", norm" : "");
        const GrcOperands<T> in(width, shared, norm, offset, random);
        std::vector<RowDefinition> rows;
        for (int64_t row = 0; row < kBatch * kLength; ++row) rows.emplace_back(in, row / kLength, row % kLength);
        // A sum over rows of value(element): its errors, and one rounding for each of its terms.
        const auto sum_of = [&](const auto& numbers, int64_t channel, const auto& value) {
          Value sum;
          double size = 0;
          for (const int64_t row : numbers) {
            const Value v = value(rows[static_cast<size_t>(row)][channel]);
            sum.want += v.want, sum.error += v.error, size += std::abs(v.want);
          }
          sum.error += static_cast<double>(numbers.size() + 2) * size;
          return sum;
        };
        const auto batch_of = [&](int64_t t) { return std::vector<int64_t>{t, kLength + t}; };
        const std::vector<int64_t> all{0, 1, 2, 3, 4, 5};
        for (const bool simd : {true, false}) {
          const GrcResults<T> out = run(in, offset, simd);
          const std::string which = label + (simd ? "" : ", scalar");
          const auto compare = [&]<class Number>(const Guarded<Number>& actual, const auto& value, const char* what) {
            expect_near<Number>(
                actual, [&](int64_t i) { return value(i).want; }, [&](int64_t i) { return value(i).error; }, 1,
                which + ' ' + what);
          };
          const auto element = [&](int64_t i) { return rows[static_cast<size_t>(i / width)][i % width]; };
          compare(
              out.reset_cache, [&](int64_t i) { return element(i).reset_cache; }, "r*C");
          compare(
              out.reset_again, [&](int64_t i) { return element(i).reset_cache; }, "r*C again");
          compare(
              out.next, [&](int64_t i) { return element(i).next; }, "next");
          compare(
              out.mean,
              [&](int64_t i) {
                const Value sum = sum_of(batch_of(i / width), i % width, [](const auto& e) { return e.next; });
                return Value{sum.want / kBatch, sum.error / kBatch};
              },
              "mean");
          compare(
              out.d_tokens,
              [&](int64_t i) {
                const auto& e = rows[static_cast<size_t>(i / (3 * width))][i % width];
                const int64_t part = i / width % 3;
                return part == 0 ? e.d_reset : part == 1 ? e.d_update : e.d_product;
              },
              "token gradients");
          compare(
              out.d_cache,
              [&](int64_t i) {
                const int64_t row = i / width;
                const std::vector<int64_t> of = shared ? batch_of(row) : std::vector<int64_t>{row};
                return sum_of(of, i % width, [](const auto& e) -> Value {
                  return {e.d_cache_of_blend.want + e.d_cache_of_reset.want,
                          e.d_cache_of_blend.error + e.d_cache_of_reset.error +
                              4 * (std::abs(e.d_cache_of_blend.want) + std::abs(e.d_cache_of_reset.want))};
                });
              },
              "cache gradients");
          compare(
              out.d_gates,
              [&](int64_t i) {
                const int64_t t = i / (2 * width), c = i % width;
                if (i % (2 * width) < width) return sum_of(batch_of(t), c, [](const auto& e) { return e.d_reset; });
                // The update gate's were rounded to T before: they are summed up as they were stored.
                Value sum;
                for (const int64_t row : batch_of(t)) {
                  const double stored = out.d_tokens[(row * 3 + 1) * width + c];
                  sum.want += stored, sum.error += kBatch * std::abs(stored);
                }
                return sum;
              },
              "gate gradients");
          const auto norm_gradient = [](const auto& e) -> Value {
            return {e.d_candidate.want * e.z.want,
                    e.d_candidate.error * std::abs(e.z.want) + std::abs(e.d_candidate.want) * e.z.error};
          };
          compare(
              out.d_norm_weight, [&](int64_t i) { return sum_of(all, i, norm_gradient); }, "norm weight");
          compare(
              out.d_norm_bias, [&](int64_t i) { return sum_of(all, i, [](const auto& e) { return e.d_candidate; }); },
              "norm bias");
        }
      }
  });
}

}  // namespace
}  // namespace cachet
