#include "cachet/kernels/feature_units.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/feature_units.h"

namespace cachet {
namespace {

using kernels::FeatureUnit;
using test::expect_near;
using test::Guarded;
using test::sweep;

struct UnitPoint {
  double value, to_a, to_g;
};

UnitPoint unit_by_definition(FeatureUnit unit, double a, double g) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double softplus = std::log1p(std::exp(a)), share = sigmoid(g), s = sigmoid(a);
  switch (unit) {
    case FeatureUnit::elu_plus_one:
      return {a > 0 ? a + 1 : std::exp(a), a > 0 ? 1 : std::exp(a), 0};
    case FeatureUnit::softplus:
      return {softplus, s, 0};
    case FeatureUnit::gelu:
      return {a * 0.5 * std::erfc(-a / std::sqrt(2.0)),
              0.5 * std::erfc(-a / std::sqrt(2.0)) + a * std::exp(-a * a / 2) / std::sqrt(2 * M_PI), 0};
    case FeatureUnit::sigmoid:
      return {s, s * (1 - s), 0};
    case FeatureUnit::glu:
      return {a * share, share, a * share * (1 - share)};
    case FeatureUnit::softplus_glu:
      break;
  }
  return {softplus * share, s * share, softplus * share * (1 - share)};
}

// Exponentials and logarithms are good to a few ε of their value; GELU's error function to 1.5e-7, 2.5 ε, of its input.
constexpr double kUnitRoundings = 24;

TEST(FeatureUnitsKernelRobustness, EqualTheirDefinitionForwardAndBackward) {
  for (const auto unit : {FeatureUnit::elu_plus_one, FeatureUnit::softplus, FeatureUnit::gelu, FeatureUnit::sigmoid,
                          FeatureUnit::glu, FeatureUnit::softplus_glu}) {
    const bool gated = unit == FeatureUnit::glu || unit == FeatureUnit::softplus_glu;
    sweep([&]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& name) {
      if (!std::is_same_v<T, float>) return;
      const std::string label = name + ", unit " + std::to_string(static_cast<int>(unit));
      constexpr int64_t kRows = 2;
      const int64_t columns = gated ? 2 * width : width, stride = columns + 3;
      const Guarded<float> products(kRows * stride, offset, random, 4.0f), g(kRows * width, offset, random);
      const kernels::UnitRows shape{kRows, width, stride};
      const auto at = [&](int64_t i) {
        const int64_t row = i / width, c = i % width;
        return unit_by_definition(unit, products[row * stride + c], gated ? products[row * stride + width + c] : 0.0f);
      };
      const auto value = [&](int64_t i) { return at(i).value; };
      const auto size = [&](int64_t i) { return 1 + std::abs(at(i).value); };
      const auto gradient = [&](int64_t i) {
        const int64_t row = i / columns, c = i % columns, feature = row * width + c % width;
        return g[feature] * (c < width ? at(feature).to_a : at(feature).to_g);
      };
      const auto gradient_size = [&](int64_t i) {
        const int64_t feature = i / columns * width + i % width;
        return (1 + std::abs(value(feature))) * 4 * std::abs(g[feature]);
      };
      for (const bool simd : {true, false}) {
        Guarded<float> features(kRows * width, offset), d(kRows * columns, offset);
        (simd ? kernels::feature_unit : kernels::scalar::feature_unit)(unit, products.data(), features.data(), shape);
        (simd ? kernels::feature_unit_backward : kernels::scalar::feature_unit_backward)(unit, products.data(),
                                                                                         g.data(), d.data(), shape);
        expect_near<float>(features, value, size, kUnitRoundings, label);
        expect_near<float>(d, gradient, gradient_size, kUnitRoundings, label + " backward");
      }
    });
  }
}

TEST(FeatureUnitsKernelRobustness, StayRightFarOut) {
  for (const auto unit : {FeatureUnit::elu_plus_one, FeatureUnit::softplus, FeatureUnit::gelu, FeatureUnit::sigmoid})
    test::for_each_instruction_set([&](const std::string& set) {
      std::vector<float> x;
      for (const float size : {0.0f, 1e-30f, 20.0f, 60.0f, 87.0f, 90.0f, 200.0f, 1e10f, 3e38f})
        x.insert(x.end(), {size, -size});
      const auto count = static_cast<int64_t>(x.size());
      std::vector<float> y(x.size()), d(x.size()), g(x.size(), 1.0f);
      kernels::feature_unit(unit, x.data(), y.data(), {1, count, count});
      kernels::feature_unit_backward(unit, x.data(), g.data(), d.data(), {1, count, count});
      for (size_t i = 0; i < x.size(); ++i) {
        // log1p(exp(a)) in float64 overflows where softplus is a.
        UnitPoint want = unit_by_definition(unit, x[i], 0);
        if (unit == FeatureUnit::softplus && x[i] > 80) want = {x[i], 1, 0};
        EXPECT_NEAR(y[i], want.value, 1e-6 * (1 + std::abs(want.value))) << set << ' ' << x[i];
        EXPECT_NEAR(d[i], want.to_a, 1e-6) << set << ' ' << x[i];
      }
      const float nan = std::numeric_limits<float>::quiet_NaN();
      std::vector<float> nans(x.size(), nan);
      kernels::feature_unit(unit, nans.data(), y.data(), {1, count, count});
      for (const float value : y) EXPECT_TRUE(std::isnan(value)) << set << ": NaN must not vanish";
    });
}

}  // namespace
}  // namespace cachet
