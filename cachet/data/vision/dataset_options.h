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
#include "cachet/data/vision/on_bad_image.h"

namespace cachet::data {

struct ImageKind;  // image_kinds.h
extern const ImageKind kIdx;

enum class Split { train, validation, test };

/// The options for class folders.
struct ClassFolderOptions {
  int64_t channels = 3;  // 1: all images become grey; 3: grey images become RGB
  std::string train_folder = "train", validation_folder = "val";
  std::string test_folder{};      // empty: validation_folder holds the test images
  bool skip_other_files = false;  // whether to skip files without a JPEG or PNG ending, which are otherwise an error
  bool strict_images = false;     // whether warnings of the decoder are errors
  /// The end of the error about other files: how the user skips them.
  std::string how_to_skip = "set data.skip_other_files = true";
};

/// The options for tar shards: patterns of the shards' names, relative to the root (shard_pattern.h).
struct ShardOptions {
  std::string train_shards = "train-*.tar", validation_shards = "val-*.tar";
  std::string test_shards{};  // empty: validation_shards have the test images
  int64_t window = 10'000;    // number of consecutive samples that are shuffled together (windowed_batches.h)
};

/// A function that is called after the files of each class were found, with the number of files found so far.
using IndexProgress = std::function<void(int64_t files)>;

/// The [data] table of a recipe for images.
struct DatasetOptions {
  const ImageKind* kind = &kIdx;
  std::filesystem::path root{};  // a folder; relative to the working folder, else to CACHET_DATA
  double fraction = 1;           // fraction of the training images to use, in (0, 1]
  int64_t limit = 0;             // largest number of images of each split; 0 = all
  int64_t classes = 10;          // number of classes, needed before the files are read if the kind has no fixed number
  /// The classes in the model's order. The data set's classes are matched with the model's by name. If the list is
  /// empty, the class names come from the data.
  std::vector<std::string> class_names{};
  double validation_fraction = 0;  // fraction of each class's training images that are used for validation instead
  uint64_t subset_seed = 0;        // seed for drawing the images of validation_fraction, fraction and limit
  io::OrientationRule orientation = io::OrientationRule::ignore;  // treatment of image files' EXIF orientation
  ClassFolderOptions folders{};  // channels, skip_other_files and strict_images are also those of shards
  ShardOptions shards{};
  OnBadImage on_bad_image = OnBadImage::stop;  // treatment of images in shards that cannot be decoded

  /// Whether each image has its own size.
  bool own_sizes() const;
};

/// Reads the keys for the kind of images, before any image is read: kind, orientation and class_names. If the kind of
/// images has the keys classes and channels, also reads these two keys. Before the call, `options` must have the
/// default values of the keys.
void read_image_kind(const config::View& data, DatasetOptions& options);

/// Whether there are validation images that are neither training images nor test images.
bool has_validation_images(const DatasetOptions& options);
/// Makes the training split different from the validation split, so that a folder can be evaluated as a whole.
void separate_training_split(DatasetOptions& options);
/// Whether there are test images. If a root of class folders has no splits, there are no test images: all its images
/// are used for training and validation.
bool has_test_images(const DatasetOptions& options);

/// Reads the keys of read_image_kind(), and root, fraction, limit, validation_fraction and subset_seed. For
/// class_folders, also reads train_folder, validation_folder, test_folder, skip_other_files and strict_images. For
/// shards, also reads train_shards, validation_shards, test_shards, window, on_bad_image, skip_other_files and
/// strict_images.
DatasetOptions read_dataset_options(const config::View& data, DataRoot root = DataRoot::required);

/// Properties of the data that a model needs before the files are read.
struct ImageTraits {
  ImageShape shape;  // height and width 0 if each image has its own size; for IDX files, a guess: 28 × 28 grey
  int64_t classes = 0;
};
ImageTraits image_traits(const DatasetOptions& options);

/// Returns a description of the files that the folder should have: "train.bin and test.bin (plain, .gz or .xz)".
std::string expected_files(const DatasetOptions& options);

/// Finds the folder of `options.root` by the rules of existing_data_path(). Throws io::Error if `root` is empty or no
/// such folder exists; the error names the tried folders and the expected files.
std::filesystem::path find_dataset_root(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Returns the class names of the data, in the order of a model that is trained on them: the names of the training
/// folders, the kind's names, or the names in a file next to the data. Opens no images. Throws like open_dataset().
std::vector<std::string> find_class_names(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Returns a digest of the indices of the training images that validation_fraction selects. Returns an empty text if
/// the fraction is 0.
std::string digest_of_validation_indices(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Opens one split. `progress` is called during long searches through folders. If options.class_names is not empty,
/// labels are indices in that list, matched by name (class_matching.h). Throws io::Error for a faulty file (with its
/// line) or a missing class (with its name). Throws std::invalid_argument if `options` do not have the split `split`.
std::shared_ptr<const LabelledImages> open_dataset(
    const DatasetOptions& options, Split split,
    const std::filesystem::path& working_folder = std::filesystem::current_path(), const IndexProgress& progress = {});

/// Returns an empty split: no images, but `classes` classes. The class names are options.class_names, else the known
/// names of the kind, else the numbers of the classes. `shape` is the shape of the images if all images have one size.
std::shared_ptr<const LabelledImages> without_images(const DatasetOptions& options, int64_t classes,
                                                     const ImageShape& shape);

}  // namespace cachet::data
