#include "cachet/tasks/records.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace cachet::tasks {
namespace {

bool is_record(const std::string& line, int64_t index) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  const auto found = json.find("index");
  return found != json.end() && found->is_number_integer() && found->get<int64_t>() == index;
}

}  // namespace

int64_t resume_records(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  int64_t count = 0;
  uintmax_t whole = 0;
  while (std::getline(file, line) && !file.eof()) {
    if (!is_record(line, count))
      throw std::runtime_error(path.string() + ": line " + std::to_string(count + 1) +
                               " is no prediction that could be gone on with; choose another file");
    ++count;
    whole += line.size() + 1;
  }
  if (std::filesystem::exists(path) && std::filesystem::file_size(path) > whole)
    std::filesystem::resize_file(path, whole);
  return count;
}

}  // namespace cachet::tasks
