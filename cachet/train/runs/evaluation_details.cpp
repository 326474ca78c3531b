#include "cachet/train/runs/evaluation_details.h"

#include <nlohmann/json.hpp>

#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"

namespace cachet::train {
namespace {

using DetailsJson = nlohmann::ordered_json;

constexpr uint64_t kMaxDetailsBytes = 256 << 20;  // a confusion matrix of 2,000 classes is 8 MB

}  // namespace

void write_evaluation_details(const std::filesystem::path& file, int64_t step, const std::string& details,
                              io::FileSystem& file_system) {
  const DetailsJson json{{"schema", 1}, {"step", step}, {"details", DetailsJson::parse(details)}};
  io::write_file_atomically(file, json.dump() + "\n", file_system);
}

std::optional<std::string> read_evaluation_details(const std::filesystem::path& file, int64_t step) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return std::nullopt;
  try {
    const io::JsonFields json(io::read_text_file(file, kMaxDetailsBytes), file.string());
    json.schema(1);
    if (json.count("step") > step) return std::nullopt;
    return json.json("details");
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

}  // namespace cachet::train
