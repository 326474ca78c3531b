#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/vision/dataset_options.h"

namespace cachet::data {

/// Finds the files of one split below root/<train or validation folder>/<class>/, at any depth, in the order of their
/// names, byte by byte: ImageFiles. Classes are options.class_names; if that is empty, class_folder_names(). A root
/// that has neither of the two folders is the validation split itself. Hidden files and skipped ones are passed over.
/// Throws io::Error that names the folder or file: a missing split, no classes, a class without images, a class that is
/// not among the classes, a class without a training folder, another number of classes than options.classes, files that
/// are not images by their names (.jpg, .jpeg, .jpe, .jfif, .png in any case) unless they are to be skipped.
std::shared_ptr<const LabelledImages> open_class_folders(const std::filesystem::path& root, Split split,
                                                         const DatasetOptions& options, const IndexProgress& progress);

/// The sorted names of the training split's folders; if that split is missing, as for an evaluation alone, those of the
/// validation split. Throws io::Error where neither can be read, and where there are none.
std::vector<std::string> class_folder_names(const DatasetOptions& options, const std::filesystem::path& root);

}  // namespace cachet::data
