#include "cachet/data/vision/class_folders.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "cachet/data/vision/folder_walk.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> class_folder_names(const fs::path& split) {
  std::vector<std::string> names;
  for (const auto& entry : sorted_entries(split)) {
    if (is_folder(entry)) names.push_back(entry.path().filename().string());
  }
  if (names.empty()) throw io::Error(split.string() + ": holds no class folders");
  return names;
}

struct FoundFiles {
  std::vector<std::string> names;  // below the split's folder
  std::vector<int64_t> labels;
};

// Goes through one split, class by class.
class FileSearch {
 public:
  FileSearch(bool skip_other_files, const IndexProgress& progress)
      : skip_other_files_(skip_other_files), progress_(progress) {}

  void add_class(const fs::path& folder, int64_t label) {
    const size_t before = found_.names.size();
    const std::string prefix = folder.filename().string() + "/";
    for_each_file_below(folder, [&](const fs::path& file, const std::string& name) {
      if (has_image_name(file))
        found_.names.push_back(prefix + name);
      else if (!skip_other_files_ && others_++ == 0)
        first_other_ = file;
    });
    if (found_.names.size() == before && others_ == 0)
      throw io::Error(folder.string() + ": the class has no JPEG or PNG files");
    found_.labels.resize(found_.names.size(), label);
    if (progress_) progress_(static_cast<int64_t>(found_.names.size()));
  }

  FoundFiles finish() {
    if (others_ > 0) {
      throw io::Error(first_other_.string() + ": is no .jpg, .jpeg, .jpe, .jfif or .png file" +
                      (others_ > 1 ? " (nor are " + std::to_string(others_ - 1) + " more)" : std::string()) +
                      "; remove such files from the class folders, or set data.skip_other_files = true");
    }
    found_.names.shrink_to_fit();
    found_.labels.shrink_to_fit();
    return std::move(found_);
  }

 private:
  bool skip_other_files_;
  const IndexProgress& progress_;
  FoundFiles found_;
  int64_t others_ = 0;
  fs::path first_other_;
};

void check_class_count(const std::vector<std::string>& names, const fs::path& split, const DatasetOptions& options) {
  const auto found = static_cast<int64_t>(names.size());
  if (found == options.classes) return;
  throw io::Error(split.string() + ": holds " + std::to_string(found) + " class folders, data.classes is " +
                  std::to_string(options.classes) +
                  "; name a folder with those, or set data.classes = " + std::to_string(found));
}

}  // namespace

std::shared_ptr<const LabelledImages> open_class_folders(const std::filesystem::path& root, Split split,
                                                         const DatasetOptions& options, const IndexProgress& progress) {
  const fs::path train = root / options.folders.train_folder, validation = root / options.folders.validation_folder;
  std::error_code unreadable;
  const bool has_train = fs::is_directory(train, unreadable), has_validation = fs::is_directory(validation, unreadable);
  const fs::path& folder = split == Split::train ? train : has_train || has_validation ? validation : root;
  if (!fs::is_directory(folder, unreadable)) {
    throw io::Error(folder.string() + ": there is no such folder; data." +
                    (split == Split::train ? "train_folder" : "validation_folder") + " names it");
  }
  const fs::path& named_by = has_train ? train : folder;
  std::vector<std::string> names = class_folder_names(named_by);
  check_class_count(names, named_by, options);
  FileSearch search(options.folders.skip_other_files, progress);
  for (const std::string& name : class_folder_names(folder)) {
    const auto place = std::ranges::lower_bound(names, name);
    if (place == names.end() || *place != name) {
      throw io::Error((folder / name).string() + ": " + train.string() + " has no class of that name");
    }
    search.add_class(folder / name, place - names.begin());
  }
  FoundFiles found = search.finish();
  const ImageFileOptions files{options.folders.channels, options.folders.strict_images};
  return std::make_shared<LabelledImages>(std::make_shared<ImageFiles>(folder, std::move(found.names), files),
                                          ClassLabels(std::move(found.labels), std::move(names)));
}

}  // namespace cachet::data
