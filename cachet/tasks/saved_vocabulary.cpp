#include "cachet/tasks/saved_vocabulary.h"

#include <system_error>
#include <utility>

#include "cachet/config/toml_text.h"
#include "cachet/io/digests/sha256.h"

namespace cachet::tasks {

void keep_vocabulary(const SavedVocabulary& vocabulary, data::VocabularyFile file, const std::string& hash,
                     SavedFiles& keep) {
  if (hash.empty()) keep.settings.push_back(vocabulary.key + "_hash=" + config::toml_text(io::sha256_hex(file.bytes)));
  keep.files.emplace(vocabulary.copy, std::move(file.bytes));
}

std::vector<std::string> saved_vocabulary_settings(const std::vector<SavedVocabulary>& vocabularies,
                                                   const std::filesystem::path& run) {
  std::vector<std::string> settings;
  for (const SavedVocabulary& vocabulary : vocabularies) {
    std::error_code error;
    const std::filesystem::path own = std::filesystem::absolute(run / vocabulary.copy, error);
    if (std::filesystem::is_regular_file(own, error))
      settings.push_back(vocabulary.key + "_file=" + config::toml_text(own.string()));
  }
  return settings;
}

}  // namespace cachet::tasks
