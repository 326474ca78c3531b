#include "app/training/training_processes.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <thread>

#include "app/commands/command.h"
#include "app/machine/subprocess.h"
#include "app/training/training_job.h"
#include "cachet/processes/meeting.h"
#include "cachet/report/program_name.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/error_message.h"

namespace cachet::app {
namespace {

using processes::LocalSocket;
using processes::ProcessPlace;

// Whose process this one is, where --processes started it.
constexpr const char* kStartedBy = "CACHET_STARTED_BY";

/// The threads of the machine, shared among as many processes; a number that the user chose stays.
void share_threads(int64_t processes) {
  const int64_t threads = std::max<int64_t>(1, std::thread::hardware_concurrency() / processes);
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), /*overwrite=*/0);
}

/// Ends this process when the one that started it does.
void end_with_parent() {
  const char* parent = getenv(kStartedBy);
  if (parent == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) throw std::runtime_error("the parent process of this process has ended");
}

void report_waiting(const std::string& line) { std::cerr << report::program_name() << " train: " + line + "\n"; }

}  // namespace

bool TrainingProcesses::started_this() { return getenv(kStartedBy) != nullptr; }

TrainingProcesses::TrainingProcesses(int64_t asked, const std::vector<std::string>& settings) {
  const std::optional<ProcessPlace> given = processes::place_from_environment();
  if (given && asked > 0 && given->size != asked)
    throw UsageError("--processes is " + std::to_string(asked) + ", but WORLD_SIZE is " + std::to_string(given->size) +
                     "; leave one of them out");
  if (given) {
    place_ = *given;
    if (place_.size == 1) return;
    end_with_parent();
    all_ = processes::meet(place_, /*socket=*/nullptr, {.waiting = {.report = report_waiting}});
    all_->name_stragglers(report_waiting);
    return;
  }
  if (asked <= 1) return;
  place_.size = asked;
  LocalSocket socket;
  place_.port = socket.port();
  share_threads(asked);
  try {
    start_others(place_, settings);
    all_ = processes::meet(place_, &socket,
                           {.waiting = {.report = report_waiting},
                            .while_waiting =
                                [this] {
                                  if (const auto fate = fate_of_others()) throw std::runtime_error(*fate);
                                },
                            .join = std::chrono::seconds(120)});
  } catch (...) {
    wait_for_others(/*patience=*/std::chrono::seconds(0));
    throw;
  }
  all_->ask_about_lost([this] { return fate_of_others(); });
}

TrainingProcesses::~TrainingProcesses() {
  // They leave by themselves if a verdict made them leave; otherwise they are waiting, and find this one gone.
  if (failed_) all_.reset();
  wait_for_others(/*patience=*/std::chrono::seconds(5));
}

void TrainingProcesses::share_out(train::Options& options) const {
  if (!all_) return;
  options.train.shard.rank = all_->rank();
  options.train.shard.world_size = all_->size();
  options.train.device = train::choice_of_process(options.train.device, place_.local_rank);
}

void TrainingProcesses::fail(const std::exception& error) noexcept {
  failed_ = true;
  const bool is_of_another = dynamic_cast<const processes::ProcessLost*>(&error) != nullptr;
  if (all_ && !is_of_another) all_->tell_failure(train::error_message(error));
}

void TrainingProcesses::start_others(const ProcessPlace& place, const std::vector<std::string>& settings) {
  std::vector<std::string> words = command_words();
  words.erase(words.begin());
  for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
  for (int64_t rank = 1; rank < place.size; ++rank) {
    const std::string number = std::to_string(rank);
    started_.push_back({start_again(words, {{"RANK", number},
                                            {"LOCAL_RANK", number},
                                            {"WORLD_SIZE", std::to_string(place.size)},
                                            {"MASTER_ADDR", place.host},
                                            {"MASTER_PORT", std::to_string(place.port)},
                                            {kStartedBy, std::to_string(getpid())}}),
                        rank});
  }
}

void TrainingProcesses::wait_for_others(std::chrono::seconds patience) noexcept {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (Started& other : started_) {
    while (!other.ended) {
      other.ended = waitpid(other.process, nullptr, WNOHANG) != 0;
      if (other.ended) break;
      if (std::chrono::steady_clock::now() >= until) kill(other.process, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

// One that was ended comes first: those that ended by themselves may have done so because it was.
std::optional<std::string> TrainingProcesses::fate_of_others() {
  std::optional<std::string> ended;
  for (Started& other : started_) {
    int status = 0;
    if (other.ended || waitpid(other.process, &status, WNOHANG) <= 0) continue;
    other.ended = true;
    const std::string who = "process " + std::to_string(other.rank);
    if (WIFSIGNALED(status))
      return who + " was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) +
             ")";
    ended = who + " ended with code " + std::to_string(WEXITSTATUS(status));
  }
  return ended;
}

}  // namespace cachet::app
