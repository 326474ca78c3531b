#include "cachet/data/random.h"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <numeric>
#include <utility>

namespace cachet::data {

CounterRandom::CounterRandom(uint64_t seed, RandomStream stream, uint64_t epoch, uint64_t index) {
  // Each part passes through the scrambler before the next is added, so that (1, 2) and (2, 1) do not meet.
  state_ = scramble(seed + kGolden);
  for (const uint64_t part : {static_cast<uint64_t>(stream), epoch, index}) state_ = scramble(state_ + part + kGolden);
}

uint64_t CounterRandom::below(uint64_t bound) {
  // Numbers below 2^64 mod bound would make the small results likelier: draw again.
  const uint64_t rejected = (0 - bound) % bound;
  uint64_t number = next();
  while (number < rejected) number = next();
  return number % bound;
}

double CounterRandom::normal() {  // Box–Muller; 1 − uniform() is never 0
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

void CounterRandom::normals(float* out, int64_t count) {  // both numbers of each pair, in float32
  for (int64_t i = 0; i < count; i += 2) {
    const auto radius = std::sqrt(-2 * std::log(static_cast<float>(1 - uniform())));
    const auto angle = static_cast<float>(2 * std::numbers::pi * uniform());
    out[i] = radius * std::cos(angle);
    if (i + 1 < count) out[i + 1] = radius * std::sin(angle);
  }
}

double CounterRandom::gamma(double shape) {  // Marsaglia and Tsang (2000)
  if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
  }
}

double CounterRandom::beta(double a, double b) {
  const double x = gamma(a);
  const double y = gamma(b);
  return x + y > 0 ? x / (x + y) : 0.5;  // both underflow only for tiny a and b
}

std::vector<int64_t> permutation(int64_t size, CounterRandom random) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace cachet::data
