#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/data/text/corpora/corpus.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::tasks {

/// A vocabulary that a recipe names, and a run keeps a copy of: what its tokens mean must not depend on a file
/// elsewhere.
struct SavedVocabulary {
  std::string key;   // in the recipe: "data.vocabulary", whose file and hash are at data.vocabulary_file and _hash
  std::string copy;  // what the copy is called in the run's folder
};

/// Adds the copy, and holds the recipe to it unless it names a `hash` itself.
void keep_vocabulary(const SavedVocabulary& vocabulary, data::VocabularyFile file, const std::string& hash,
                     SavedFiles& keep);

/// "key=value" that name the copies that a run has; nothing for those that it has not.
std::vector<std::string> saved_vocabulary_settings(const std::vector<SavedVocabulary>& vocabularies,
                                                   const std::filesystem::path& run);

}  // namespace cachet::tasks
