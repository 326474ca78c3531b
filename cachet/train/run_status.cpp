#include "cachet/train/run_status.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/parse_json.h"
#include "cachet/io/read_file.h"

namespace cachet::train {
namespace {

using StatusJson = nlohmann::ordered_json;

constexpr const char* kRunning = "running";

Ending ending_from(const std::string& word) {
  for (const Ending ending : {Ending::finished, Ending::early_stop, Ending::out_of_time, Ending::interrupted,
                              Ending::not_finite, Ending::failed})
    if (word == to_string(ending)) return ending;
  throw std::invalid_argument(word);
}

}  // namespace

const char* to_string(Ending ending) {
  switch (ending) {
    case Ending::finished:
      return "finished";
    case Ending::early_stop:
      return "stopped early";
    case Ending::out_of_time:
      return "out of time";
    case Ending::interrupted:
      return "interrupted";
    case Ending::not_finite:
      return "not finite";
    case Ending::failed:
      return "failed";
    case Ending::killed:
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
    const StatusJson json = io::parse_json<StatusJson>(io::read_text_file(file, 1 << 20));
    Status status;
    const std::string state = json.at("state");
    status.running = state == kRunning;
    if (!status.running) status.ending = ending_from(state);
    json.at("message").get_to(status.message);
    json.at("step").get_to(status.step);
    json.at("total_steps").get_to(status.total_steps);
    json.at("epoch").get_to(status.epoch);
    json.at("epochs").get_to(status.epochs);
    return status;
  } catch (const StatusJson::exception&) {
    return std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

std::optional<Status> current_status(const RunFolder& folder) {
  std::optional<Status> status = read_status(folder.status());
  if (!status || !status->running || is_being_trained(folder.path())) return status;
  status = read_status(folder.status());  // it may have come to its end between the two looks
  if (!status || !status->running) return status;
  status->running = false;
  status->ending = Ending::killed;
  return status;
}

bool is_complete(const Status& status) {
  return !status.running && (status.ending == Ending::finished || status.ending == Ending::early_stop);
}

std::string state_word(const Status& status) { return status.running ? kRunning : to_string(status.ending); }

std::string to_text(const Status& status) {
  if (!status.running && status.ending == Ending::finished) return state_word(status);
  return state_word(status) + " at step " + std::to_string(status.step) + " of " + std::to_string(status.total_steps);
}

}  // namespace cachet::train
