#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::data {

/// Reads the key class_names of a recipe's [data]: the model's classes, in the order of the model. If the recipe has no
/// key class_names, returns an empty list: the data determine the classes, and the resolved recipe has no key
/// class_names, as in older versions. Empty and repeated names are recorded as problems.
std::vector<std::string> read_class_names(const config::View& data);

/// Matches the classes of a data set with the classes of a model by name: result[i] is the index of data_names[i] in
/// model_names. The model may have classes that the data set lacks. Throws io::Error if the model lacks classes (the
/// message names them) or two classes have the same name. The message begins with `place`, the path of the data set.
std::vector<int64_t> match_classes(const std::vector<std::string>& data_names,
                                   const std::vector<std::string>& model_names, std::string_view place);

/// Matches classes like match_classes(), for files that store a class as a number. If the class names of the data set
/// or of the model are only numbers ("0", "1", …), class i of the data is class i of the model. Throws io::Error like
/// match_classes(), and also if one list has only numbers and the lists have different lengths.
std::vector<int64_t> match_numbered_classes(const std::vector<std::string>& data_names,
                                            const std::vector<std::string>& model_names, std::string_view place);

/// Whether the class names are only the numbers of the classes: "0", "1", …
bool are_numbers(const std::vector<std::string>& names);

/// Whether a recipe can hold the class names: each name is UTF-8 and not empty, no two names are equal, and the
/// recipe's file has room for all names.
bool can_be_stored(const std::vector<std::string>& names);

}  // namespace cachet::data
