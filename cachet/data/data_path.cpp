#include "cachet/data/data_path.h"

#include <cstdlib>
#include <vector>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

std::vector<std::filesystem::path> places_of(const std::filesystem::path& value,
                                             const std::filesystem::path& working_folder) {
  std::vector<std::filesystem::path> places{working_folder / value};  // the value itself when it is absolute
  const char* search_root = std::getenv("CACHET_DATA");
  if (value.is_relative() && search_root != nullptr && *search_root != '\0')
    places.push_back(std::filesystem::path(search_root) / value);
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

std::optional<std::filesystem::path> first_existing(const std::vector<std::filesystem::path>& places, PathKind kind) {
  for (const auto& place : places)
    if (is_kind(place, kind)) return place.lexically_normal();
  return std::nullopt;
}

}  // namespace

std::optional<std::filesystem::path> existing_data_path(const std::filesystem::path& value, PathKind kind,
                                                        const std::filesystem::path& working_folder) {
  return first_existing(places_of(value, working_folder), kind);
}

std::filesystem::path find_data_path(const std::string& key, const std::filesystem::path& value, PathKind kind,
                                     const std::filesystem::path& working_folder, const std::string& hint) {
  if (value.empty()) throw io::Error(key + ": names nothing; " + hint + ".");
  const auto places = places_of(value, working_folder);
  if (const auto found = first_existing(places, kind)) return *found;
  std::string message = key + ": there is no " + name_of(kind) + " " + places[0].lexically_normal().string();
  if (places.size() > 1) message += " or " + places[1].lexically_normal().string();
  message += "; " + hint + ".";
  if (value.is_relative() && places.size() == 1) message += " CACHET_DATA may name a folder to look in too.";
  throw io::Error(message);
}

}  // namespace cachet::data
