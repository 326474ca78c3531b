#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cachet/kernels/bfloat16.h"

namespace cachet::test {

/// Numbers for a kernel, somewhere in memory that it may not touch: they begin `offset` numbers into it, so that no
/// vector need be aligned, and the words before and after them must stay what they were.
template <class T>
class Guarded {
 public:
  Guarded(int64_t count, int64_t offset)
      : count_(count), first_(kGuard + offset), memory_(static_cast<size_t>(count + 2 * kGuard + offset), guard()) {
    for (int64_t i = 0; i < count; ++i) data()[i] = kernels::from_float<T>(0.0f);
  }
  Guarded(int64_t count, int64_t offset, std::mt19937& random, float spread = 1.0f) : Guarded(count, offset) {
    std::normal_distribution<float> normal(0.0f, spread);
    for (int64_t i = 0; i < count; ++i) data()[i] = kernels::from_float<T>(normal(random));
  }

  T* data() { return memory_.data() + first_; }
  const T* data() const { return memory_.data() + first_; }
  float operator[](int64_t i) const { return kernels::to_float(data()[i]); }
  int64_t size() const { return count_; }

  bool untouched_around() const {
    const T mark = guard();
    for (int64_t i = 0; i < static_cast<int64_t>(memory_.size()); ++i) {
      const bool ours = i >= first_ && i < first_ + count_;
      if (!ours && std::memcmp(&memory_[static_cast<size_t>(i)], &mark, sizeof(T)) != 0) return false;
    }
    return true;
  }

 private:
  static constexpr int64_t kGuard = 64;
  static T guard() { return kernels::from_float<T>(-12345.0f); }
  int64_t count_, first_;
  std::vector<T> memory_;
};

/// Rounding of a type: half the distance between 1 and the next number.
template <class T>
constexpr double unit_roundoff() {
  return std::is_same_v<T, float> ? 0x1p-24 : 0x1p-9;
}

/// Calls body(name of the instruction set) once for each that this processor has and the kernels were compiled for.
template <class Body>
void for_each_instruction_set(const Body& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    body(std::string(hwy::TargetName(target)));
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// Runs body(T*, width, offset, random, label) for both types, every instruction set, every width from 0 beyond three
/// of the widest vectors, and misaligned starts. Reports how many cases that were.
template <class Body>
void sweep(const Body& body, int64_t widest = 3 * 16 + 1, int64_t step = 1) {
  std::mt19937 random(20261121);
  int64_t cases = 0;
  for_each_instruction_set([&](const std::string& set) {
    for (int64_t width = 0; width <= widest; width += step)
      for (const int64_t offset : {0, 1, 7}) {
        if (::testing::Test::HasFailure()) return;
        const std::string label = set + ", width " + std::to_string(width) + ", offset " + std::to_string(offset);
        body(static_cast<float*>(nullptr), width, offset, random, label + ", float32");
        body(static_cast<kernels::BFloat16*>(nullptr), width, offset, random, label + ", bfloat16");
        cases += 2;
      }
  });
  std::cout << "[  sweep   ] " << cases << " cases" << std::endl;
  ::testing::Test::RecordProperty("cases", std::to_string(cases));
}

/// Holds a result to what it should be. `magnitude` (i) is the sum of the absolute values of what result i is summed up
/// from: a sum of n terms, in any order and with n roundings of float32 each, is off by at most about n·ε times that;
/// T's own rounding comes on top.
template <class T, class Actual, class Expected, class Magnitude>
void expect_near(const Actual& actual, const Expected& expected, const Magnitude& magnitude, double roundings,
                 const std::string& label) {
  ASSERT_TRUE(actual.untouched_around()) << label << ": wrote outside";
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double want = expected(i),
                 bound = roundings * 0x1p-24 * magnitude(i) + 2 * unit_roundoff<T>() * std::abs(want) + 1e-30;
    ASSERT_LE(std::abs(static_cast<double>(actual[i]) - want), bound) << label << ", element " << i;
  }
}

}  // namespace cachet::test
