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

/// The options for class folders.
struct ClassFolderOptions {
  int64_t channels = 3;  // 1: all images become grey; 3: grey images become RGB
  std::string train_folder = "train", validation_folder = "val";
  std::string test_folder{};      // empty: validation_folder holds the test images
  bool skip_other_files = false;  // files without a JPEG or PNG ending are skipped; otherwise they are an error
  bool strict_images = false;     // warnings of the decoder are errors
};

/// Function that is called after each class with the number of files found so far.
using IndexProgress = std::function<void(int64_t files)>;

/// A recipe's [data] table for images.
struct DatasetOptions {
  const ImageKind* kind = &kIdx;
  std::filesystem::path root{};  // a folder; relative to the working folder, else to CACHET_DATA
  double fraction = 1;           // fraction of the training images to use, in (0, 1]
  int64_t limit = 0;             // largest number of images of each split; 0 = all
  int64_t classes = 10;          // for kinds without a fixed number; the model is made before the files are read
  /// The model's classes in its order; classes of the data are matched with them. If empty, the data name the classes.
  std::vector<std::string> class_names{};
  double validation_fraction = 0;  // fraction of the training images of each class that validate instead
  uint64_t subset_seed = 0;        // draws the images of validation_fraction, fraction and limit
  io::OrientationRule orientation = io::OrientationRule::ignore;  // for image files
  ClassFolderOptions folders{};

  /// Whether each image has its own size.
  bool own_sizes() const;
};

/// Reads, before any image is read, the keys for the kind of images: kind, orientation and class_names, and for kinds
/// that have them, classes and channels. `options` holds the defaults for the kind.
void read_image_kind(const config::View& data, DatasetOptions& options);

/// Whether there are validation images that are neither training images nor test images.
bool has_validation_images(const DatasetOptions& options);
/// Whether there are test images. There are no test images if a root of class folders has no splits, because then its
/// images are used for training and validation.
bool has_test_images(const DatasetOptions& options);

/// Reads the keys of read_image_kind(), and root, fraction, limit, validation_fraction and subset_seed. For
/// class_folders, also reads train_folder, validation_folder, test_folder, skip_other_files and strict_images.
DatasetOptions read_dataset_options(const config::View& data, DataRoot root = DataRoot::required);

/// Properties of the data that a model needs before the files are read.
struct ImageTraits {
  ImageShape shape;  // height and width 0 if each image has its own; a guess for IDX files, 28 × 28 grey pixels
  int64_t classes = 0;
};
ImageTraits image_traits(const DatasetOptions& options);

/// Describes the files that the folder should hold: "train.bin and test.bin (plain, .gz or .xz)".
std::string expected_files(const DatasetOptions& options);

/// Finds the folder of `root`: an absolute path itself, else below `working_folder`, else below $CACHET_DATA. Throws
/// io::Error, which names the folders that were tried and the expected files, also if there is no root.
std::filesystem::path find_dataset_root(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Returns the class names of the data, in the order of a model that is trained on the data: the names of the training
/// folders, else the names of the kind or of a file next to the data. Opens no images. Throws as open_dataset() does.
std::vector<std::string> find_class_names(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Returns a digest of the indices of the training images drawn by validation_fraction; empty if the fraction is 0.
std::string digest_of_validation_indices(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Opens one split. `progress` is called during long searches through folders. If options.class_names is not empty,
/// labels are indices in that list, matched by name (class_matching.h). Throws io::Error, which names the file and its
/// line, or the missing class. Throws std::invalid_argument for a split that the options do not have.
std::shared_ptr<const LabelledImages> open_dataset(
    const DatasetOptions& options, Split split,
    const std::filesystem::path& working_folder = std::filesystem::current_path(), const IndexProgress& progress = {});

/// Returns a split that has no images and `classes` classes. The names are options.class_names, else the known names of
/// the kind, else numbers. `shape` is the shape of the images if all images have one size.
std::shared_ptr<const LabelledImages> without_images(const DatasetOptions& options, int64_t classes,
                                                     const ImageShape& shape);

}  // namespace cachet::data
