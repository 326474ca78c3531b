#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cachet/train/step/recordings.h"
#include "tests/support/step_executors.h"

namespace cachet::test {

/// Runs all work, and compares the calls of each run of a key with those of its second run: with the same key, an
/// executor may replay the second run instead. The first run may make values that later runs find.
class SameCallsExecutor : public LateExecutor {
 public:
  void run(const std::string& key, const std::function<void()>& work) override {
    if (keys_.insert(key).second) return LateExecutor::run(key, work);
    auto calls = std::make_unique<ReplayedCalls>();
    LateExecutor::run(key, [&] { calls->record(work); });
    std::unique_ptr<ReplayedCalls>& second = second_[key];
    if (!second) {
      second = std::move(calls);
      return;
    }
    ++*compared_;
    if (const auto difference = calls->difference_from(*second)) differences_->push_back(*difference);
  }
  void forget() override {
    second_.clear();
    keys_.clear();
  }

  /// Of all runs, which a test reads after the executor is gone.
  std::shared_ptr<const std::vector<std::string>> differences() const { return differences_; }
  std::shared_ptr<const int64_t> compared() const { return compared_; }

 private:
  std::set<std::string> keys_;
  std::map<std::string, std::unique_ptr<ReplayedCalls>> second_;
  std::shared_ptr<std::vector<std::string>> differences_ = std::make_shared<std::vector<std::string>>();
  std::shared_ptr<int64_t> compared_ = std::make_shared<int64_t>(0);
};

/// Records with the rules of the CUDA executor, up to `max` recordings. If `fails_at` is given, each recording fails at
/// that operator, as if the memory were full.
class RecordingExecutor : public LateExecutor {
 public:
  explicit RecordingExecutor(const ReplayedCalls::FailsAt& fails_at = nullptr, size_t max = 16)
      : recordings_(max, [fails_at](const std::function<void()>& work) {
          auto recording = std::make_unique<Recorded>();
          if (fails_at)
            recording->calls.record_until(fails_at, work);
          else
            recording->calls.record(work);
          return recording;
        }) {}

  void run(const std::string& key, const std::function<void()>& work) override {
    LateExecutor::run(key, [&] { recordings_.run(key, work); });
  }
  void forget() override { recordings_.forget(); }
  std::vector<std::string> take_notes() override { return recordings_.take_notes(); }

 private:
  struct Recorded : train::Recording {
    // On the CPU the recording has already calculated the results.
    void replay() override {
      if (std::exchange(has_run, true)) calls.replay();
    }
    ReplayedCalls calls;
    bool has_run = false;
  };

  train::Recordings recordings_;
};

}  // namespace cachet::test
