#include "cachet/train/evaluation_details.h"

#include <nlohmann/json.hpp>

#include "cachet/io/atomic_file.h"
#include "cachet/io/error.h"
#include "cachet/io/parse_json.h"
#include "cachet/io/read_file.h"

namespace cachet::train {
namespace {

using DetailsJson = nlohmann::ordered_json;

constexpr uint64_t kMostDetailsBytes = 256 << 20;  // a confusion matrix of 2,000 classes is 8 MB

}  // namespace

void write_evaluation_details(const std::filesystem::path& file, int64_t step, const std::string& details) {
  const DetailsJson json{{"schema", 1}, {"step", step}, {"details", DetailsJson::parse(details)}};
  io::write_file_atomically(file, json.dump() + "\n");
}

std::optional<std::string> read_evaluation_details(const std::filesystem::path& file, int64_t step) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return std::nullopt;
  try {
    const auto json = io::parse_json<DetailsJson>(io::read_text_file(file, kMostDetailsBytes));
    if (json.at("schema") != 1 || json.at("step").get<int64_t>() > step) return std::nullopt;
    return json.at("details").dump();
  } catch (const DetailsJson::exception&) {
    return std::nullopt;
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

}  // namespace cachet::train
