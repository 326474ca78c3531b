#pragma once

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cachet/train/step/step_executor.h"
#include "tests/support/replayed_calls.h"

namespace cachet::test {

/// Runs all work at once, but fails if numbers are read before the next step was launched: all reads of a step come
/// after the first work of the step after it, except after the last step before settle().
class LateExecutor : public train::StepExecutor {
 public:
  void run(const std::string& key, const std::function<void()>& work) override {
    if (key.starts_with("first;")) ++*launched_;
    work();
  }
  void forget() override {}
  void write(const std::vector<double>& numbers, const at::Tensor& vector) override {
    vector.copy_(at::tensor(numbers, at::kDouble));
  }
  std::unique_ptr<train::HostRead> read(const at::Tensor& vector) override {
    return std::make_unique<Read>(vector.clone(), launched_, *launched_, late_reads_);
  }

  /// How many reads waited until the next step was launched.
  int64_t late_reads() const { return *late_reads_; }

 private:
  class Read : public train::HostRead {
   public:
    Read(at::Tensor numbers, std::shared_ptr<int64_t> launched, int64_t step, std::shared_ptr<int64_t> late)
        : numbers_(std::move(numbers)), launched_(std::move(launched)), step_(step), late_(std::move(late)) {}
    std::vector<double> wait() override {
      if (*launched_ > step_) ++*late_;
      const double* values = numbers_.const_data_ptr<double>();
      return {values, values + numbers_.numel()};
    }

   private:
    at::Tensor numbers_;
    std::shared_ptr<int64_t> launched_;
    int64_t step_;
    std::shared_ptr<int64_t> late_;
  };

  std::shared_ptr<int64_t> launched_ = std::make_shared<int64_t>(0), late_reads_ = std::make_shared<int64_t>(0);
};

/// How often a ReplayExecutor replayed, which a test reads after the executor is gone.
struct ReplayCount {
  int64_t replays = 0;
};

/// Records the second run of each key and replays it from then on, as an executor on CUDA does.
class ReplayExecutor : public LateExecutor {
 public:
  void run(const std::string& key, const std::function<void()>& work) override {
    ReplayedCalls& calls = calls_[key];
    if (!warm_.insert(key).second && calls.empty()) {
      LateExecutor::run(key, [&] { calls.record(work); });
    } else if (calls.empty()) {
      LateExecutor::run(key, work);
    } else {
      LateExecutor::run(key, [&] { calls.replay(); });
      ++count_->replays;
    }
  }
  void forget() override {
    calls_.clear();
    warm_.clear();
  }
  int64_t replays() const { return count_->replays; }
  std::shared_ptr<const ReplayCount> count() const { return count_; }
  size_t keys() const { return calls_.size(); }

 private:
  std::map<std::string, ReplayedCalls> calls_;
  std::set<std::string> warm_;
  std::shared_ptr<ReplayCount> count_ = std::make_shared<ReplayCount>();
};

}  // namespace cachet::test
