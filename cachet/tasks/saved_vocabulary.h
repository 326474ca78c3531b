#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/data/text/corpora/corpus.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::tasks {

/// A vocabulary that a recipe names and a run copies. Because the run has a copy of the vocabulary, the meaning of its
/// tokens does not depend on other files.
struct SavedVocabulary {
  std::string key;   // key in the recipe: "data.vocabulary"; its file and hash are at data.vocabulary_file and _hash
  std::string copy;  // name of the copy in the run's folder
};

/// Adds the copy to `keep`. If `hash` is empty, also adds a setting with which the recipe requires the copy's hash.
void keep_vocabulary(const SavedVocabulary& vocabulary, data::VocabularyFile file, const std::string& hash,
                     SavedFiles& keep);

/// For each vocabulary that the run has copied, returns a setting "key=value" with the path of the copy.
std::vector<std::string> saved_vocabulary_settings(const std::vector<SavedVocabulary>& vocabularies,
                                                   const std::filesystem::path& run);

}  // namespace cachet::tasks
