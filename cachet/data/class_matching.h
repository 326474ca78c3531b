#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::data {

/// Reads class_names of a recipe's [data]: the model's classes in its order. The list is empty if the recipe leaves
/// them to the data. The resolved form of a recipe without the key has no key either, so that it is the same as before
/// the key existed. Empty and repeated names are problems.
std::vector<std::string> read_class_names(const config::View& data);

/// Finds the model's class of each class of a data set by name: result[i] is the index of data_names[i] in model_names.
/// The model may have classes that the data set lacks. Throws io::Error that begins with `place`, the path of the data
/// set, and names the classes that the model lacks; also if two classes have the same name.
std::vector<int64_t> match_classes(const std::vector<std::string>& data_names,
                                   const std::vector<std::string>& model_names, std::string_view place);

/// Does the same for files that store a class as a number. If the names of the data set or of the model are only its
/// numbers ("0", "1", …), the number is the model's class. Throws io::Error as match_classes() does, and if one list
/// has only numbers and the two numbers of classes differ.
std::vector<int64_t> match_numbered_classes(const std::vector<std::string>& data_names,
                                            const std::vector<std::string>& model_names, std::string_view place);

/// Whether the names are the numbers of the classes: "0", "1", …
bool are_numbers(const std::vector<std::string>& names);

/// Whether a recipe can hold the names: each is UTF-8 and not empty, no two are the same, and all of them fit into a
/// recipe's file.
bool can_be_stored(const std::vector<std::string>& names);

}  // namespace cachet::data
