#include "cachet/train/data_parallel/joint_training.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cachet/io/json/parse_json.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/machine/environment.h"
#include "cachet/train/machine/interruption.h"
#include "cachet/train/step/live_run.h"

namespace cachet::train {
namespace {

/// By what it is called in a message.
using Terms = std::map<std::string, std::string>;

Terms terms_of(const RunIdentity& own) {
  Terms terms{{"recipe", own.config_hash},
              {"kind of device", c10::DeviceTypeName(own.device, /*lower_case=*/true)},
              {"train.accumulate", std::to_string(own.accumulate)},
              {"version of cachet", cachet_version()},
              {"LibTorch", torch_version()}};
  for (const auto& [split, digest] : own.data) terms[split + " data"] = digest.identity();
  return terms;
}

/// Why processes with these terms, by rank, do not train together; empty where they do.
std::string disagreement(const std::vector<std::string>& all) {
  std::vector<Terms> terms;
  for (const std::string& text : all) terms.push_back(io::parse_json<nlohmann::json>(text).get<Terms>());
  for (size_t rank = 1; rank < terms.size(); ++rank) {
    for (const auto& [name, value] : terms[0]) {
      const auto found = terms[rank].find(name);
      // Data that a process has not opened it does not train with.
      if (found != terms[rank].end() && found->second != value)
        return "process " + std::to_string(rank) + " has a different " + name + " from process 0 (" +
               found->second.substr(0, 16) + ", not " + value.substr(0, 16) + ")";
    }
  }
  return {};
}

}  // namespace

void agree(const RunIdentity& own, processes::ProcessGroup& processes) {
  const std::vector<std::string> all = processes.gather(nlohmann::json(terms_of(own)).dump());
  const std::string why_not = processes.broadcast(processes.leads() ? disagreement(all) : std::string());
  if (!why_not.empty()) throw std::runtime_error(why_not);
}

Leader::~Leader() { name_stragglers({}); }

void Leader::name_stragglers(std::function<void(const std::string& line)> say) {
  if (processes_) processes_->name_stragglers(std::move(say));
}

void Leader::begin(const RunIdentity& own, const std::optional<std::filesystem::path>& checkpoint) {
  if (!processes_) return;
  agree(own, *processes_);
  processes_->connect();
  processes_->broadcast(checkpoint ? std::filesystem::absolute(*checkpoint).string() : std::string());
  they_wait_ = true;
}

void Leader::announce(Command act) {
  if (processes_) processes_->broadcast(static_cast<int64_t>(act));
}

std::vector<std::string> Leader::gather_faults() const {
  std::vector<std::string> faults;
  if (!processes_) return faults;
  for (const std::string& list : processes_->gather("[]"))
    for (const nlohmann::json& fault : io::parse_json<nlohmann::json>(list)) faults.push_back(fault.get<std::string>());
  return faults;
}

void Leader::leave() noexcept {
  if (!they_wait_) return;
  try {
    announce(Command::leave);
  } catch (const std::exception&) {  // those that are gone have left
  }
}

bool run_worker(TrainingTask& task, const Options& options, const std::string& config_hash,
                const std::shared_ptr<processes::ProcessGroup>& processes) {
  const Interruption interruption;
  LiveRun live(task, options, processes);
  agree({config_hash, live.device().type(), task.data_digests(), options.train.accumulate}, *processes);
  processes->connect();
  if (const std::string checkpoint = processes->broadcast(std::string()); !checkpoint.empty())
    live.restore(read_checkpoint(checkpoint));
  while (true) {
    switch (static_cast<Command>(processes->broadcast(int64_t{0}))) {
      case Command::step:
        live.advance(interruption.signal());
        break;
      case Command::give_state:
        live.send_state();
        break;
      case Command::renew_average:
        live.renew_average();
        break;
      case Command::give_faults:
        processes->gather(
            nlohmann::json(task.take_data_faults()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        break;
      case Command::leave:
        return interruption.requested();
    }
  }
}

}  // namespace cachet::train
