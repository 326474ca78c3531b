#include "cachet/data/vision/class_folders.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/class_matching.h"
#include "cachet/data/folder_walk.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_in(const fs::path& split, PassedOver* passed_over = nullptr) {
  std::vector<std::string> names;
  for (const auto& entry : sorted_entries(split, passed_over)) {
    if (is_folder(entry))
      names.push_back(entry.path().filename().string());
    else if (passed_over)
      passed_over->add_other(entry.path());
  }
  if (names.empty()) throw io::Error(split.string() + ": contains no folders of classes");
  return names;
}

struct FoundFiles {
  std::vector<std::string> names;  // below the split's folder
  std::vector<int64_t> labels;
};

// Goes through one split, class by class.
class FileSearch {
 public:
  FileSearch(const ClassFolderOptions& options, const IndexProgress& progress, PassedOver& passed_over)
      : options_(options), progress_(progress), passed_over_(passed_over) {}

  void add_class(const fs::path& folder, int64_t label) {
    const size_t before = found_.names.size();
    const std::string prefix = folder.filename().string() + "/";
    const auto use = [&](const fs::path& file, const std::string& name) {
      if (has_image_name(file))
        found_.names.push_back(prefix + name);
      else if (options_.skip_other_files)
        passed_over_.add_other(file);
      else if (others_++ == 0)
        first_other_ = file;
    };
    for_each_file_below(folder, use, &passed_over_);
    if (found_.names.size() == before && others_ == 0)
      throw io::Error(folder.string() + ": the class has no JPEG or PNG files");
    found_.labels.resize(found_.names.size(), label);
    if (progress_) progress_(static_cast<int64_t>(found_.names.size()));
  }

  FoundFiles finish() {
    if (others_ > 0) {
      throw io::Error(first_other_.string() + ": is not a .jpg, .jpeg, .jpe, .jfif or .png file" +
                      and_others(others_ - 1) + "; remove such files from the class folders, or " +
                      options_.how_to_skip);
    }
    found_.names.shrink_to_fit();
    found_.labels.shrink_to_fit();
    return std::move(found_);
  }

 private:
  const ClassFolderOptions& options_;
  const IndexProgress& progress_;
  PassedOver& passed_over_;
  FoundFiles found_;
  int64_t others_ = 0;
  fs::path first_other_;
};

/// The root itself if a split's folder is ".".
fs::path folder_below(const fs::path& root, const std::string& name) { return name == "." ? root : root / name; }

/// Where the splits are.
struct SplitFolders {
  fs::path train, validation, test;  // the root itself is the validation and the test split if it has no such folder
  bool has_train = false;

  SplitFolders(const fs::path& root, const ClassFolderOptions& folders)
      : train(folder_below(root, folders.train_folder)),
        validation(folder_below(root, folders.validation_folder)),
        test(folders.test_folder.empty() ? validation : folder_below(root, folders.test_folder)) {
    std::error_code unreadable;
    has_train = fs::is_directory(train, unreadable);
    if (!has_train && !fs::is_directory(validation, unreadable) && !fs::is_directory(test, unreadable))
      validation = test = root;
  }

  const fs::path& named_by() const { return has_train ? train : validation; }
};

void check_class_count(const std::vector<std::string>& names, const fs::path& split, const DatasetOptions& options) {
  const auto found = static_cast<int64_t>(names.size());
  if (found == options.classes) return;
  throw io::Error(split.string() + ": contains " + config::counted(found, "folder of a class", "folders of classes") +
                  ", but data.classes is " + std::to_string(options.classes) +
                  "; name a folder that has these classes, or set data.classes = " + std::to_string(found));
}

/// `found` is sorted. A class that is never shown in training is hardly meant.
void require_all(const std::vector<std::string>& found, const std::vector<std::string>& classes,
                 const fs::path& train) {
  for (const std::string& name : classes)
    if (!std::ranges::binary_search(found, name))
      throw io::Error(train.string() + ": has no folder " + io::in_quotes(name) +
                      ", but this is a class of data.class_names; add the folder, or remove the name from the list");
}

}  // namespace

std::vector<std::string> class_folder_names(const DatasetOptions& options, const fs::path& root) {
  return folders_in(SplitFolders(root, options.folders).named_by());
}

std::shared_ptr<const LabelledImages> open_class_folders(const std::filesystem::path& root, Split split,
                                                         const DatasetOptions& options, const IndexProgress& progress) {
  const SplitFolders splits(root, options.folders);
  const bool trains = split == Split::train;
  const bool tests = split == Split::test && !options.folders.test_folder.empty();
  const fs::path& folder = trains ? splits.train : tests ? splits.test : splits.validation;
  std::error_code unreadable;
  if (!fs::is_directory(folder, unreadable)) {
    throw io::Error(folder.string() + ": there is no such folder; data." +
                    (trains  ? "train_folder"
                     : tests ? "test_folder"
                             : "validation_folder") +
                    " must be the name of an existing folder");
  }
  PassedOver passed_over("a JPEG or PNG file of a class", "JPEG or PNG files of a class");
  const std::vector<std::string> found = folders_in(folder, &passed_over);
  std::vector<std::string> names = options.class_names;
  if (names.empty()) {
    names = folders_in(splits.named_by());
    check_class_count(names, splits.named_by(), options);
    for (const std::string& name : found)
      if (!std::ranges::binary_search(names, name))
        throw io::Error((folder / name).string() + ": " + splits.train.string() +
                        " has no folder with the name of this class");
  } else if (trains) {
    require_all(found, names, folder);
  }
  const std::vector<int64_t> classes = match_classes(found, names, folder.string());
  FileSearch search(options.folders, progress, passed_over);
  for (size_t i = 0; i < found.size(); ++i) search.add_class(folder / found[i], classes[i]);
  FoundFiles files = search.finish();
  const ImageFileOptions reading{options.folders.channels, options.folders.strict_images, options.orientation};
  return std::make_shared<LabelledImages>(std::make_shared<ImageFiles>(folder, std::move(files.names), reading),
                                          ClassLabels(std::move(files.labels), std::move(names)),
                                          std::move(passed_over));
}

}  // namespace cachet::data
