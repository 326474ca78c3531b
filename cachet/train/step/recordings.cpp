#include "cachet/train/step/recordings.h"

#include <exception>
#include <utility>

#include "cachet/train/machine/error_message.h"

namespace cachet::train {

void Recordings::run(const std::string& key, const std::function<void()>& work) {
  Entry& entry = entries_[key];
  if (entry.recording) return entry.recording->replay();
  const bool is_new = !std::exchange(entry.has_run, true);
  if (is_new || entry.runs_directly) return work();
  std::unique_ptr<Recording> recording = record(work);
  if (!recording) {
    entry.runs_directly = true;
    return work();
  }
  recording->replay();
  entry.recording = std::move(recording);
  ++count_;
}

std::unique_ptr<Recording> Recordings::record(const std::function<void()>& work) {
  if (count_ == max_) {
    notes_.push_back("there are already " + std::to_string(max_) +
                     " CUDA graphs, so steps of further shapes run without a graph");
    return nullptr;
  }
  try {
    return record_(work);
  } catch (const std::exception& error) {
    notes_.push_back("a step runs without a CUDA graph, because its capture failed: " + error_message(error));
    return nullptr;
  }
}

void Recordings::forget() {
  entries_.clear();
  count_ = 0;
}

std::vector<std::string> Recordings::take_notes() { return std::exchange(notes_, {}); }

}  // namespace cachet::train
