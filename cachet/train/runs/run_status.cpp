#include "cachet/train/runs/run_status.h"

#include <nlohmann/json.hpp>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"

namespace cachet::train {
namespace {

using StatusJson = nlohmann::ordered_json;

constexpr const char* kRunning = "running";

constexpr uint64_t kMaxStatusBytes = 1 << 20;

StopReason ending_from(const io::JsonFields& json, const std::string& word) {
  for (const StopReason ending : {StopReason::finished, StopReason::early_stop, StopReason::out_of_time,
                                  StopReason::interrupted, StopReason::not_finite, StopReason::failed})
    if (word == to_string(ending)) return ending;
  json.fail("'state' is " + io::in_quotes(word) + ", which is not a state of a run");
}

Status status_from_json(const std::string& text, const std::string& name) {
  const io::JsonFields json(text, name);
  json.schema(1);
  Status status;
  const std::string state = json.text("state");
  status.running = state == kRunning;
  if (!status.running) status.ending = ending_from(json, state);
  status.message = json.text("message");
  status.step = json.count("step");
  status.total_steps = json.count("total_steps");
  status.epoch = json.count("epoch");
  status.epochs = json.count("epochs");
  return status;
}

}  // namespace

const char* to_string(StopReason ending) {
  switch (ending) {
    case StopReason::finished:
      return "finished";
    case StopReason::early_stop:
      return "stopped early";
    case StopReason::out_of_time:
      return "out of time";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::not_finite:
      return "not finite";
    case StopReason::failed:
      return "failed";
    case StopReason::killed:
      return "killed";
  }
  return "";
}

std::string to_json(const Status& status) {
  const StatusJson json{{"schema", 1},
                        {"state", state_word(status)},
                        {"message", status.message},
                        {"step", status.step},
                        {"total_steps", status.total_steps},
                        {"epoch", status.epoch},
                        {"epochs", status.epochs}};
  return json.dump(2, ' ', false, StatusJson::error_handler_t::replace) + "\n";
}

std::optional<Status> read_status(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return std::nullopt;
  try {
    return status_from_json(io::read_text_file(file, kMaxStatusBytes), file.string());
  } catch (const io::NewerSchema&) {
    throw;
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

std::optional<Status> current_status(const RunFolder& folder) {
  const auto look = [&]() -> std::optional<Status> {
    std::error_code unreadable;
    if (!std::filesystem::exists(folder.status(), unreadable)) return std::nullopt;
    return status_from_json(io::read_text_file(folder.status(), kMaxStatusBytes), folder.status().string());
  };
  std::optional<Status> status = look();
  if (!status || !status->running || is_being_trained(folder.path())) return status;
  status = look();  // it may have come to its end between the two looks
  if (!status || !status->running) return status;
  status->running = false;
  status->ending = StopReason::killed;
  return status;
}

bool is_complete(const Status& status) {
  return !status.running && (status.ending == StopReason::finished || status.ending == StopReason::early_stop);
}

std::string state_word(const Status& status) { return status.running ? kRunning : to_string(status.ending); }

std::string to_text(const Status& status) {
  if (!status.running && status.ending == StopReason::finished) return state_word(status);
  return state_word(status) + " at step " + std::to_string(status.step) + " of " + std::to_string(status.total_steps);
}

}  // namespace cachet::train
