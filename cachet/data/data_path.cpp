#include "cachet/data/data_path.h"

#include <cstdlib>
#include <vector>

#include "cachet/config/installed_folder.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

/// The folder `data` of Cachet's source tree, which its recipes name: an installation has it too.
constexpr const char* kOwnData = "data";

bool is_own_data(const std::filesystem::path& value) { return !value.empty() && *value.begin() == kOwnData; }

/// Where a path may lie that a user gives or could give. The value itself if it is absolute.
std::vector<std::filesystem::path> places_of(const std::filesystem::path& value,
                                             const std::filesystem::path& working_folder) {
  std::vector<std::filesystem::path> places{working_folder / value};
  const char* search_root = std::getenv("CACHET_DATA");
  if (value.is_absolute() || search_root == nullptr || *search_root == '\0') return places;
  places.push_back(std::filesystem::path(search_root) / value);
  if (is_own_data(value)) places.push_back(std::filesystem::path(search_root) / value.lexically_relative(kOwnData));
  return places;
}

bool is_kind(const std::filesystem::path& place, PathKind kind) {
  std::error_code unreadable;
  const auto status = std::filesystem::status(place, unreadable);
  const bool folder = kind != PathKind::file && std::filesystem::is_directory(status);
  return folder || (kind != PathKind::folder && std::filesystem::is_regular_file(status));
}

const char* name_of(PathKind kind) {
  switch (kind) {
    case PathKind::folder:
      return "folder";
    case PathKind::file:
      return "file";
    case PathKind::file_or_folder:
      return "file or folder";
  }
  return "";
}

/// The first path at which the value lies; the data that come with the program are the last.
std::optional<std::filesystem::path> first_existing(const std::filesystem::path& value,
                                                    const std::vector<std::filesystem::path>& places, PathKind kind) {
  for (const auto& place : places)
    if (is_kind(place, kind)) return place.lexically_normal();
  if (!is_own_data(value)) return std::nullopt;
  for (const auto& folder : config::installed_folders(kOwnData)) {
    const std::filesystem::path place = folder / value.lexically_relative(kOwnData);
    if (is_kind(place, kind)) return place.lexically_normal();
  }
  return std::nullopt;
}

/// What lies at the path if it is of another kind: "/data/a.txt is a file, and a folder is needed".
std::optional<std::string> other_kind_at(const std::filesystem::path& value,
                                         const std::vector<std::filesystem::path>& places, PathKind kind) {
  if (kind == PathKind::file_or_folder) return std::nullopt;
  const PathKind other = kind == PathKind::folder ? PathKind::file : PathKind::folder;
  const auto found = first_existing(value, places, other);
  if (!found) return std::nullopt;
  return found->string() + " is a " + name_of(other) + ", and a " + name_of(kind) + " is needed";
}

}  // namespace

std::optional<std::filesystem::path> existing_data_path(const std::filesystem::path& value, PathKind kind,
                                                        const std::filesystem::path& working_folder) {
  return first_existing(value, places_of(value, working_folder), kind);
}

std::filesystem::path find_data_path(const std::string& key, const std::filesystem::path& value, PathKind kind,
                                     const std::filesystem::path& working_folder, const std::string& hint) {
  if (value.empty()) throw io::Error(key + ": names nothing; " + hint + ".");
  const auto places = places_of(value, working_folder);
  if (const auto found = first_existing(value, places, kind)) return *found;
  if (const auto other = other_kind_at(value, places, kind)) throw io::Error(key + ": " + *other + "; " + hint + ".");
  std::string message = key + ": there is no " + name_of(kind) + " " + places[0].lexically_normal().string();
  for (size_t i = 1; i < places.size(); ++i) message += " or " + places[i].lexically_normal().string();
  message += "; " + hint + ".";
  if (value.is_relative() && places.size() == 1)
    message += " To search a second folder, set the environment variable CACHET_DATA to it.";
  throw io::Error(message);
}

}  // namespace cachet::data
