#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

// A run has a copy of the subword model that its texts are read with, subwords.model: it can be moved to another
// machine, and nothing that happens to the file that its recipe names changes what its tokens mean.

/// The copy in a run's folder, absolute; empty where there is none.
std::filesystem::path own_subword_model(const std::filesystem::path& run);

/// Lets a plan read the copy of the run that it goes on with, where the run has one.
void use_own_subwords(RecipePlan& plan, const std::filesystem::path& run);

/// The subword model that a plan reads, as a run of it keeps it.
struct SubwordsToKeep {
  std::map<std::string, std::string> files;  // name and bytes; none of a recipe without subwords
  std::vector<std::string> settings;  // what holds the recipe to them: data.vocabulary_hash, unless it is written
};
/// Throws io::Error where the model that the recipe names cannot be read.
SubwordsToKeep subwords_to_keep(const RecipePlan& plan);

}  // namespace cachet::tasks
