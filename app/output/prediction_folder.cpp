#include "app/output/prediction_folder.h"

#include <algorithm>
#include <iostream>
#include <system_error>

#include "app/commands/command.h"
#include "cachet/io/files/atomic_file.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

constexpr const char *kRecordsName = "predictions.jsonl", *kPicturesName = "pictures";

bool is_prediction_folder(const fs::path& folder) {
  std::error_code unreadable;
  return fs::is_regular_file(folder / kRecordsName, unreadable);
}

/// Whether a folder that is read holds `path`: what is written there would be read the next time.
bool holds(const fs::path& folder, const fs::path& path) {
  std::error_code absent;
  if (!fs::is_directory(folder, absent)) return false;
  const fs::path above = fs::weakly_canonical(folder, absent), below = fs::weakly_canonical(path, absent);
  return std::mismatch(above.begin(), above.end(), below.begin(), below.end()).first == above.end();
}

/// A link to another folder of pictures stays, and so do those pictures.
void empty(const fs::path& folder) {
  std::error_code absent;
  const bool has_pictures = !fs::is_symlink(fs::symlink_status(folder / kPicturesName, absent));
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / kPicturesName, absent)) {
    if (has_pictures && entry.is_regular_file(absent) && entry.path().extension() == ".png")
      fs::remove(entry.path(), absent);
  }
  for (const char* name : {kRecordsName, "results.json", "images.json", "bbox.json", "segm.json"})
    fs::remove(folder / name, absent);
}

}  // namespace

bool PredictionFolder::is_meant(const std::string& path) {
  std::error_code absent;
  return !path.empty() && (fs::is_directory(path, absent) || !fs::path(path).has_extension());
}

PredictionFolder::PredictionFolder(const OutputArgument& output, const std::vector<fs::path>& inputs)
    : path_(output.path), overwrite_(output.overwrite) {
  // Its records name their run.
  require_folder_output(output, {{}, inputs, [](const auto&) { return true; }}, is_prediction_folder);
  for (const fs::path& input : inputs) {
    if (holds(input, path_))
      throw UsageError(output.path + " is in the folder " + input.string() +
                       ", which is an input of this command; give another folder");
  }
}

tasks::RecordFile PredictionFolder::open_records() {
  lock_ = locked_output_folder(path_);
  if (overwrite_) empty(path_);
  return {records(), tasks::EarlierRecords::resumed};
}

void PredictionFolder::write_picture(const std::string& name, const std::string& png) const {
  std::error_code failed;
  fs::create_directories(path_ / kPicturesName, failed);
  io::write_file_atomically(path_ / kPicturesName / name, std::string_view(png));
}

void PredictionFolder::write(const std::vector<tasks::NamedFile>& files) const {
  for (const tasks::NamedFile& file : files) io::write_file_atomically(path_ / file.name, std::string_view(file.bytes));
}

void report_earlier_records(const fs::path& file, const tasks::RecordFile& records, const std::string& of_all) {
  if (const int64_t removed = records.removed_lines(); removed > 0)
    std::cerr << file.string() << ": removed " << removed
              << (removed == 1 ? " repeated or damaged line" : " repeated or damaged lines")
              << ". Two processes wrote to this file at the same time\n";
  if (const int64_t again = records.forgotten(); again > 0)
    std::cerr << file.string() << ": " << again
              << (again == 1 ? " prediction of version 0.1.0 does not record"
                             : " predictions of version 0.1.0 do not record")
              << " the bytes of the samples, and " << (again == 1 ? "is" : "are") << " computed again\n";
  if (const int64_t again = records.forgotten(tasks::WhyForgotten::earlier_rule); again > 0)
    std::cerr << file.string() << ": " << again
              << (again == 1 ? " prediction of version 0.1.0 depends" : " predictions of version 0.1.0 depend")
              << " on the other images of the batch, and " << (again == 1 ? "is" : "are") << " computed again\n";
  if (const int64_t done = records.done(); done > 0)
    std::cerr << file.string() << " holds " << done << of_all << (done == 1 ? " prediction" : " predictions")
              << "; resuming\n";
}

void PictureNames::add(const std::string& sample) {
  const std::lock_guard lock(mutex_);
  const std::string stem = fs::path(sample).stem().string();
  std::string name = io::name_with_suffix(stem, ".png");
  for (auto number = static_cast<int64_t>(names_.size()); taken_.contains(name); ++number)
    name = io::name_with_suffix(stem, "-" + std::to_string(number) + ".png");
  taken_.insert(name);
  names_.push_back(name);
}

std::string PictureNames::of(int64_t index) const {
  const std::lock_guard lock(mutex_);
  return names_.at(static_cast<size_t>(index));
}

}  // namespace cachet::app
