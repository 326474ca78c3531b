#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/own_data/found_data.h"

namespace cachet::tasks {

/// Texts of a user's own in the form that recipes read: UTF-8, three splits, a vocabulary.
struct PreparedTexts {
  std::filesystem::path folder{};
  int64_t train = 0, validation = 0, test = 0;  // lines, pairs or texts
  int64_t train_bytes = 0;
  int64_t validation_bytes = 0;            // the smaller one of validation and test
  std::optional<int64_t> subwords{};       // pieces of subwords.model; nothing if the tokens are bytes
  std::vector<std::string> class_names{};  // of labelled texts, sorted
  int64_t usual_length = 0;                // bytes that 19 of 20 labelled texts do not exceed
  std::string given{};                     // the splits that the data have, in words; empty if they have none
  std::vector<std::string> notes{};        // lines for the user
};

/// Each writes a new folder below `prepared`, whose name ends in a digest of what was read, or takes the one that is
/// there. Text that is not UTF-8 is read as UTF-16 if it has that mark, else as Windows-1252; a note names it. If the
/// data have no splits, a tenth validates and a tenth tests: of a text its last lines, of pairs and labelled texts a
/// draw, of each class. If they have two, a tenth of the training data validates. Throws io::Error for what cannot be
/// read, and for too little text.
PreparedTexts prepare_text(const FoundData& found, const std::filesystem::path& prepared);
PreparedTexts prepare_pairs(const FoundData& found, const std::filesystem::path& prepared);
PreparedTexts prepare_labelled_texts(const FoundData& found, const std::filesystem::path& prepared);

}  // namespace cachet::tasks
