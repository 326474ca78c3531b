#pragma once

#include <filesystem>
#include <memory>

#include "cachet/data/vision/dataset_options.h"

namespace cachet::data {

/// Finds the files of one split below root/<train or validation folder>/<class>/, at any depth, in the order of their
/// names, byte by byte: ImageFiles. Classes are the sorted names of the training split's folders; where that split is
/// missing, as for an evaluation alone, those of the validation split; a root that has neither of the two folders is
/// the validation split itself. Names that begin with a dot are passed over. Throws io::Error that names the folder or
/// file: a missing split, no classes, a class without images, a class that training does not have, another number of
/// classes than options.classes, files that are no images by their names (.jpg, .jpeg, .jpe, .jfif, .png in any case)
/// unless they are to be skipped.
std::shared_ptr<const LabelledImages> open_class_folders(const std::filesystem::path& root, Split split,
                                                         const DatasetOptions& options, const IndexProgress& progress);

}  // namespace cachet::data
