#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::data {

/// Reads class_names of a recipe's [data]: the model's classes in its order. The list is empty if the recipe leaves the
/// classes to the data. A recipe without the key also has none in its resolved form, which is then the same as before
/// the key existed. Empty and repeated names are reported as problems.
std::vector<std::string> read_class_names(const config::View& data);

/// Finds, by name, the model's class for each class of a data set: result[i] is the index of data_names[i] in
/// model_names. The model may have classes that the data set lacks. Throws io::Error, which begins with `place`, the
/// path of the data set, if the model lacks classes (the message names them) or two classes have the same name.
std::vector<int64_t> match_classes(const std::vector<std::string>& data_names,
                                   const std::vector<std::string>& model_names, std::string_view place);

/// Works as match_classes(), for files that store a class as a number. If the class names of the data set or of the
/// model are only numbers ("0", "1", …), the number is the model's class. Throws io::Error as match_classes() does, and
/// if one list has only numbers and the two lists differ in length.
std::vector<int64_t> match_numbered_classes(const std::vector<std::string>& data_names,
                                            const std::vector<std::string>& model_names, std::string_view place);

/// Whether the class names are only the numbers of the classes: "0", "1", …
bool are_numbers(const std::vector<std::string>& names);

/// Whether a recipe can hold the class names: each name is UTF-8 and not empty, no two names are equal, and the
/// recipe's file has room for all names.
bool can_be_stored(const std::vector<std::string>& names);

}  // namespace cachet::data
