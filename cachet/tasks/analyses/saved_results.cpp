#include "cachet/tasks/analyses/saved_results.h"

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/parse_json.h"
#include "cachet/tasks/analyses/result_values.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPartSchema = 6;  // of what an analysis writes: another one is measured anew
constexpr uint64_t kMaxPartBytes = uint64_t{1} << 28;

std::string part_name(const Analysis& analysis, AnalysedRun& run, AnalysedRun* beside) {
  const AnalysisOptions& options = run.options();
  const AnalysisEffort effort = analysis.effort();
  std::string source =
      std::to_string(kPartSchema) + '\0' + run.digest(effort) + '\0' + (beside ? beside->digest(effort) : "") + '\0';
  // Names of runs stand in what is measured of two.
  if (beside) source += run.name() + '\0' + beside->name() + '\0';
  if (analysis.effort() == AnalysisEffort::steps)
    source += std::to_string(options.steps);
  else
    source += std::to_string(options.samples) + '\0' + std::to_string(options.batch);
  return std::string(analysis.word()) + "-" + io::sha256_hex(source).substr(0, 16);
}

ordered_json to_json(const ImagesRead& read) { return {{"images", read.images}, {"digest", read.digest}}; }

/// Nothing if the text was changed by hand.
ImagesRead images_from_json(const ordered_json& json) {
  try {
    return {json.at("images").get<std::map<std::string, std::vector<int64_t>>>(), json.at("digest").get<std::string>()};
  } catch (const ordered_json::exception&) {
    return {};
  }
}

}  // namespace

std::optional<SavedResult> SavedResults::find(const std::string& part) const {
  std::error_code absent;
  if (folder_.empty() || !fs::is_regular_file(part_file(part), absent)) return std::nullopt;
  const auto json = io::parse_json<ordered_json>(io::read_text_file(part_file(part), kMaxPartBytes), /*throws=*/false);
  if (!json.is_object() || !json.contains("values") || !json.contains("left_out")) return std::nullopt;
  if (!json.at("left_out").is_string()) return std::nullopt;
  SavedResult result;
  result.values = json.at("values").dump();
  result.left_out = json.at("left_out").get<std::string>();
  if (const auto read = json.find("read"); read != json.end() && read->is_array())
    for (size_t i = 0; i < std::min(read->size(), result.images.size()); ++i)
      result.images[i] = images_from_json((*read)[i]);
  result.file = [pictures = folder_ / "pictures", part](const std::string& name) {
    std::error_code gone;
    const fs::path file = pictures / (part + "-" + name);
    return fs::is_regular_file(file, gone) ? io::read_text_file(file, kMaxPartBytes) : std::string();
  };
  return result;
}

SavedResult SavedResults::keep(const std::string& part, const AnalysisResult& result,
                               std::array<ImagesRead, 2> images) const {
  if (folder_.empty()) {
    auto files = std::make_shared<std::map<std::string, std::string>>();
    for (const NamedFile& file : result.files) (*files)[file.name] = file.bytes;
    return {result.values, "", false, {}, [files](const std::string& name) { return (*files)[name]; }};
  }
  for (const NamedFile& file : result.files)
    write_analysis_file(folder_ / "pictures" / (part + "-" + file.name), file.bytes);
  write_analysis_file(part_file(part), ordered_json{{"left_out", ""},
                                                    {"values", ordered_json::parse(result.values)},
                                                    {"read", {to_json(images[0]), to_json(images[1])}}}
                                               .dump() +
                                           "\n");
  return *find(part);
}

SavedResult SavedResults::keep_lack(const std::string& part, const std::string& why) const {
  if (!folder_.empty())
    write_analysis_file(part_file(part),
                        ordered_json{{"left_out", why}, {"values", ordered_json::object()}}.dump() + "\n");
  return {"{}", why};
}

namespace {

/// Whether the page can be drawn of what a file holds, which somebody may have changed.
bool can_be_shown(const Analysis& analysis, const SavedResult& result) {
  if (!result.left_out.empty()) return true;
  try {
    analysis.section({{"", "", result.values, result.file}});
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Whether the image files that it was made of have their bytes still.
bool is_of_images(const SavedResult& result, const std::array<AnalysedRun*, 2>& runs, AnalysisEffort effort) {
  if (!result.left_out.empty()) return true;  // a model lacks something, whatever the images
  for (size_t i = 0; i < runs.size(); ++i)
    if (runs[i] != nullptr && runs[i]->digest_of_images(effort, result.images[i].images) != result.images[i].digest)
      return false;
  return true;
}

}  // namespace

SavedResult measured_or_kept(const Analysis& analysis, AnalysedRun& run, AnalysedRun* beside, const SavedResults& kept,
                             const train::EvaluationProgress& progress) {
  const std::string part = kept.keeps() ? part_name(analysis, run, beside) : std::string();
  const AnalysisEffort effort = analysis.effort();
  const std::array<AnalysedRun*, 2> runs{&run, beside};
  if (kept.keeps()) {
    for (AnalysedRun* each : runs)
      if (each != nullptr) each->keep_image_digests(effort);
    if (auto result = kept.find(part); result && can_be_shown(analysis, *result) && is_of_images(*result, runs, effort))
      return *result;
  }
  progress(0, 1);
  if (const auto why = analysis.lacks(run.model())) return kept.keep_lack(part, *why);
  if (beside)
    if (const auto why = analysis.lacks(beside->model())) return kept.keep_lack(part, *why);
  try {
    const AnalysisResult result = analysis.measure(run, beside, progress);
    std::array<ImagesRead, 2> images;
    for (size_t i = 0; i < runs.size(); ++i)
      if (kept.keeps() && runs[i] != nullptr) images[i] = runs[i]->images_read(effort);
    return kept.keep(part, result, std::move(images));
  } catch (const NotMeasurable& why) {
    return {"{}", why.what(), /*refused=*/true};
  }
}

bool is_analysis_folder(const fs::path& folder) {
  std::error_code absent;
  return fs::is_directory(folder / "parts", absent) || fs::is_regular_file(folder / "analysis.json", absent);
}

void empty_analysis_folder(const fs::path& folder) {
  std::error_code absent;
  for (const char* kind : {"parts", "pictures"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / kind, absent)) {
      const fs::path suffix = entry.path().extension();
      if (entry.is_regular_file(absent) && (suffix == ".json" || suffix == ".png")) fs::remove(entry.path(), absent);
    }
  for (const char* name : {"analysis.html", "analysis.json"}) fs::remove(folder / name, absent);
}

void write_analysis_file(const fs::path& file, const std::string& text) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) throw io::Error(file.parent_path().string() + ": the folder cannot be created: " + failed.message());
  io::write_file_atomically(file, std::string_view(text));
}

}  // namespace cachet::tasks
