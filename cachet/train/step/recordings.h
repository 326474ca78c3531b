#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cachet::train {

/// Work that was recorded, such as a CUDA graph.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
};

/// The recordings of an executor, by key. The first run of a key runs directly, the second run is recorded, and all
/// later runs are replays. If a recording fails, for example because the memory is full, or if there are already
/// `max` recordings, the work of that key always runs directly, and take_notes() returns the reason.
class Recordings {
 public:
  /// Records `work` without calculating its results, or throws.
  using Record = std::function<std::unique_ptr<Recording>(const std::function<void()>& work)>;

  Recordings(size_t max, Record record) : max_(max), record_(std::move(record)) {}

  /// Runs, records or replays `work`, as StepExecutor::run() describes.
  void run(const std::string& key, const std::function<void()>& work);
  /// Forgets all recordings and all keys.
  void forget();
  std::vector<std::string> take_notes();

 private:
  struct Entry {
    std::unique_ptr<Recording> recording;
    bool has_run = false;
    bool runs_directly = false;
  };

  std::unique_ptr<Recording> record(const std::function<void()>& work);

  size_t max_;
  Record record_;
  std::map<std::string, Entry> entries_;
  size_t count_ = 0;  // of recordings
  std::vector<std::string> notes_;
};

}  // namespace cachet::train
