#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/data/text/corpora/corpus.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::tasks {

/// A vocabulary that a recipe names, and a run keeps a copy of: what its tokens mean must not depend on a file
/// elsewhere.
struct KeptVocabulary {
  std::string key;   // in the recipe: "data.vocabulary", whose file and hash are at data.vocabulary_file and _hash
  std::string copy;  // what the copy is called in the run's folder
};

/// Adds the copy, and holds the recipe to it unless it names a `hash` itself.
void keep_vocabulary(const KeptVocabulary& vocabulary, data::VocabularyFile file, const std::string& hash,
                     KeptFiles& keep);

/// "key=value" that name the copies that a run has; nothing for those that it has not.
std::vector<std::string> kept_vocabulary_settings(const std::vector<KeptVocabulary>& vocabularies,
                                                  const std::filesystem::path& run);

}  // namespace cachet::tasks
