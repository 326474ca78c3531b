#include "cachet/processes/waiting.h"

#include <thread>

namespace cachet::processes {
namespace {

// ProcessGroup usually come within a second; after that a look costs the store more than the wait gains.
constexpr std::chrono::milliseconds kFirstPauses(5), kLaterPauses(50);
constexpr std::chrono::seconds kUsualWait(1);

}  // namespace

std::string names_of(const std::vector<int64_t>& ranks) {
  std::string names = ranks.size() == 1 ? "process " : "processes ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) names += i + 1 == ranks.size() ? " and " : ", ";
    names += std::to_string(ranks[i]);
  }
  return names;
}

Wait::Wait(const WaitingOptions& options, std::optional<std::chrono::milliseconds> most)
    : options_(options), most_(most), next_report_(start_ + options.report_every) {}

bool Wait::pause(const std::function<std::string()>& whom) {
  const Clock::time_point now = Clock::now();
  if (most_ && now - start_ >= *most_) return false;
  if (now >= next_report_) {
    next_report_ += options_.report_every;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    if (options_.report) options_.report("waiting for " + whom() + " (" + std::to_string(seconds) + " s)");
  }
  std::this_thread::sleep_for(now - start_ < kUsualWait ? kFirstPauses : kLaterPauses);
  return true;
}

}  // namespace cachet::processes
