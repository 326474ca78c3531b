#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::data {

/// Reads class_names of a recipe's [data]: the model's classes in its order; empty if the recipe leaves them to the
/// data. A recipe without the key has none in its resolved form either, so that it is the same as before the key
/// existed. An empty name and one that is there twice are problems.
std::vector<std::string> read_class_names(const config::View& data);

/// The model's class of each class of a data set, found by name: result[i] is the index of data_names[i] in
/// model_names. The model may have classes that the data set lacks. Throws io::Error that begins with `place`, where
/// the data set lies, and names the classes that the model does not have; also where two classes have the same name.
std::vector<int64_t> match_classes(const std::vector<std::string>& data_names,
                                   const std::vector<std::string>& model_names, std::string_view place);

/// The same for files that store a class as a number. The names of such a data set may be its numbers alone ("0", "1",
/// …), and so may be the model's; then the number is the model's class. Throws io::Error as match_classes() does, and
/// where numbers are all there is and the data set has another number of classes than the model.
std::vector<int64_t> match_numbered_classes(const std::vector<std::string>& data_names,
                                            const std::vector<std::string>& model_names, std::string_view place);

/// Whether the names are the numbers of the classes: "0", "1", …
bool are_numbers(const std::vector<std::string>& names);

/// Whether a recipe can hold the names: each is UTF-8 and not empty, no two are the same, and all of them fit into a
/// recipe's file.
bool can_be_stored(const std::vector<std::string>& names);

}  // namespace cachet::data
