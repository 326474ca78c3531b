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

/// The processes that train one model together with this one.
///
/// `--processes N` starts N − 1 more of this command, which print nothing and end when this one does; it leads.
/// torchrun, or whoever else sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, starts all of them itself.
class TrainingProcesses {
 public:
  /// Whether --processes of another process started this one.
  static bool started_this();

  /// `asked`: the number of --processes, 0 without it. The processes that it starts get `settings` ("key=value") after
  /// those of the command line. Waits until all are there. Throws UsageError where the environment has another number,
  /// processes::ProcessLost, std::runtime_error.
  explicit TrainingProcesses(int64_t asked, const std::vector<std::string>& settings = {});
  ~TrainingProcesses();
  TrainingProcesses(const TrainingProcesses&) = delete;
  TrainingProcesses& operator=(const TrainingProcesses&) = delete;

  /// Null where this one trains alone.
  const std::shared_ptr<processes::ProcessGroup>& all() const { return all_; }
  /// How many there are, this one included.
  int64_t count() const { return all_ ? all_->size() : 1; }
  bool follows() const { return all_ && !all_->leads(); }

  /// What of a run's options is this process's: its part of each batch, its GPU.
  void share_out(train::Options& options) const;
  /// This one ends for an error, which the others find where it is its own.
  void fail(const std::exception& error) noexcept;

 private:
  struct Started {
    pid_t process = 0;
    int64_t rank = 0;
    bool ended = false;
  };
  void start_others(const processes::ProcessPlace& place, const std::vector<std::string>& settings);
  /// Ends those that are still there after so long.
  void wait_for_others(std::chrono::seconds patience) noexcept;
  std::optional<std::string> fate_of_others();

  processes::ProcessPlace place_;
  std::vector<Started> started_;
  std::shared_ptr<processes::ProcessGroup> all_;
  bool failed_ = false;
};

}  // namespace cachet::app
