#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/processes/rendezvous.h"
#include "cachet/train/options.h"

namespace cachet::app {

/// The processes that train one model together, including this one.
///
/// With `--processes N`, this process leads N − 1 processes that it starts, which print nothing and end with it.
/// Alternatively, a launcher like torchrun sets RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and starts all processes.
class TrainingProcesses {
 public:
  /// Whether another process started this one for its --processes.
  static bool started_this();

  /// `asked`: the value of --processes; 0 without it. `settings` ("key=value") are added to the command lines of the
  /// started processes. Waits for all processes. Throws processes::ProcessLost, std::runtime_error, and, if the
  /// environment has another number of processes, UsageError.
  explicit TrainingProcesses(int64_t asked, const std::vector<std::string>& settings = {});
  ~TrainingProcesses();
  TrainingProcesses(const TrainingProcesses&) = delete;
  TrainingProcesses& operator=(const TrainingProcesses&) = delete;

  /// Null if this process trains alone.
  const std::shared_ptr<processes::ProcessGroup>& all() const { return all_; }
  /// Number of processes, including this one.
  int64_t count() const { return all_ ? all_->size() : 1; }
  bool follows() const { return all_ && !all_->leads(); }

  /// Sets the options of this process: its part of each batch, and its GPU.
  void share_out(train::Options& options) const;
  /// Reports an error that ends this process to the other processes, unless the error is the loss of another process.
  void fail(const std::exception& error) noexcept;

 private:
  struct Started {
    pid_t process = 0;
    int64_t rank = 0;
    bool ended = false;
  };
  void start_others(const processes::ProcessPlace& place, const std::vector<std::string>& settings);
  /// Waits for the started processes, and kills them when `patience` is over.
  void wait_for_others(std::chrono::seconds patience) noexcept;
  std::optional<std::string> fate_of_others();

  processes::ProcessPlace place_;
  std::vector<Started> started_;
  std::shared_ptr<processes::ProcessGroup> all_;
  bool failed_ = false;
};

}  // namespace cachet::app
