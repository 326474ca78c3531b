#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/data_path.h"
#include "cachet/data/vision/labelled_images.h"

namespace cachet::data {

struct ImageKind;  // image_kinds.h
extern const ImageKind kIdx;

enum class Split { train, validation, test };

/// What is peculiar to class folders.
struct ClassFolderOptions {
  int64_t channels = 3;  // 1: all is made grey; 3: grey is made RGB
  std::string train_folder = "train", validation_folder = "val";
  std::string test_folder{};      // empty: validation_folder holds the test images
  bool skip_other_files = false;  // files that are not JPEG or PNG by their name; otherwise they are an error
  bool strict_images = false;     // what the decoder only warns of is an error
};

/// Called after each class with the number of files found so far.
using IndexProgress = std::function<void(int64_t files)>;

/// A recipe's [data] table for images.
struct DatasetOptions {
  const ImageKind* kind = &kIdx;
  std::filesystem::path root{};  // a folder; relative to the working folder, else to CACHET_DATA
  double fraction = 1;           // fraction of the training images to use, in (0, 1]
  int64_t limit = 0;             // at most so many images of each split; 0 = all
  int64_t classes = 10;          // of kinds that do not know theirs; the model is made before the files are seen
  /// The model's classes in its order, by which those of the data are matched; empty: the data name the classes.
  std::vector<std::string> class_names{};
  double validation_fraction = 0;  // of the training images of each class, that validates instead
  uint64_t subset_seed = 0;        // draws what validation_fraction, fraction and limit keep
  io::OrientationRule orientation = io::OrientationRule::ignore;  // of image files
  ClassFolderOptions folders{};

  /// Whether each image has a size of its own.
  bool own_sizes() const;
};

/// Reads what images are before any are seen: kind, orientation, class_names, and, for kinds that have them, classes
/// and channels. `options` holds the defaults, which are for its kind.
void read_image_kind(const config::View& data, DatasetOptions& options);

/// Whether there are images to validate with that are neither training nor test images.
bool has_validation_images(const DatasetOptions& options);
/// Whether there are test images. There are none if a folder of class folders has no splits: its images train and
/// validate.
bool has_test_images(const DatasetOptions& options);

/// Reads these, root, fraction, limit, validation_fraction, subset_seed and, of kind class_folders, train_folder,
/// validation_folder, test_folder, skip_other_files and strict_images.
DatasetOptions read_dataset_options(const config::View& data, DataRoot root = DataRoot::required);

/// What a model must know of the data before the files are seen.
struct ImageTraits {
  ImageShape shape;  // height and width 0 where each image has its own; of IDX files a guess, 28 × 28 grey pixels
  int64_t classes = 0;
};
ImageTraits image_traits(const DatasetOptions& options);

/// What should lie in the folder, in words: "train.bin and test.bin (plain, .gz or .xz)".
std::string expected_files(const DatasetOptions& options);

/// The folder that `root` means: itself when absolute, else below `working_folder`, else below $CACHET_DATA.
/// Throws io::Error that names the folders looked at and the files expected there, also where there is no root.
std::filesystem::path find_dataset_root(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// The names that the data give their classes, in the order that a model trained on them has: the names of the training
/// folders, else those that the kind or a file next to the data knows. Opens no images. Throws as open_dataset() does.
std::vector<std::string> find_class_names(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// The images among all training images that validation_fraction draws, as a digest of their numbers; empty if it is 0.
std::string digest_of_validation_indices(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Opens one split; `progress` hears of long searches through folders. If options.class_names is not empty, labels are
/// the classes of that list, found by name (class_matching.h). Throws io::Error that names the file and the line in
/// it, or the class that is not in that list; std::invalid_argument for a split that the options do not have.
std::shared_ptr<const LabelledImages> open_dataset(
    const DatasetOptions& options, Split split,
    const std::filesystem::path& working_folder = std::filesystem::current_path(), const IndexProgress& progress = {});

/// A split without its images: `classes` classes with the names of options.class_names, else the names that the kind
/// knows, else numbers. `shape` is that of the images where these have one size.
std::shared_ptr<const LabelledImages> without_images(const DatasetOptions& options, int64_t classes,
                                                     const ImageShape& shape);

}  // namespace cachet::data
