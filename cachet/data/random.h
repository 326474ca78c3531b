#pragma once

#include <cstdint>
#include <vector>

namespace cachet::data {

/// The purpose of a random number. The random numbers of different purposes are independent, even under the same key.
enum class RandomStream : uint64_t {
  augmentation,
  permutation,
  mixing,
  partners,
  subset,
  region,
  colour,
  policy,
  noise,
  buckets,
  expressions,
  pairs,
  held_out,
  composition,
  windows
};

/// Random numbers that depend only on (seed, stream, epoch, index).
///
/// The generators of different samples have no state in common. Therefore, any thread may compute the random numbers of
/// any sample, and a resumed run has the same random numbers as an uninterrupted run. The generator is SplitMix64
/// (Steele, Lea, Flood 2014), started at a hash of the key. The distributions are defined here, because the
/// distributions of <random> differ between standard libraries.
class CounterRandom {
 public:
  CounterRandom(uint64_t seed, RandomStream stream, uint64_t epoch, uint64_t index);

  uint64_t next() { return scramble(state_ += kGolden); }

  /// Returns a number that is uniform on [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double least, double most) { return least + (most - least) * uniform(); }

  /// Returns an integer that is uniform on 0 … bound − 1, without modulo bias. Requires bound >= 1.
  uint64_t below(uint64_t bound);

  bool chance(double probability) { return uniform() < probability; }

  double normal();                          // mean 0, standard deviation 1
  void normals(float* out, int64_t count);  // writes `count` normal numbers; each costs half as much as normal()
  double gamma(double shape);               // scale 1, shape > 0
  double beta(double a, double b);          // a, b > 0

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  static uint64_t scramble(uint64_t x);

  uint64_t state_;
};

/// All random numbers of one sample. For different purposes (RandomStream), the random numbers are independent.
struct SampleRandom {
  uint64_t seed = 0, epoch = 0, index = 0;

  CounterRandom stream(RandomStream name) const { return {seed, name, epoch, index}; }
};

/// Returns a random permutation of 0 … size − 1 (Fisher–Yates).
std::vector<int64_t> permutation(int64_t size, CounterRandom random);

inline uint64_t CounterRandom::scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace cachet::data
