#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/own_data/found_data.h"

namespace cachet::tasks {

/// A user's texts in the form that recipes read: UTF-8, three splits, a vocabulary.
struct PreparedTexts {
  std::filesystem::path folder{};
  int64_t train = 0, validation = 0, test = 0;  // numbers of lines, pairs or texts
  int64_t train_bytes = 0;
  int64_t validation_bytes = 0;            // bytes of the smaller of the splits validation and test
  std::optional<int64_t> subwords{};       // number of pieces in subwords.model; empty if the tokens are bytes
  std::vector<std::string> class_names{};  // classes of labelled texts, sorted
  int64_t usual_length = 0;                // 95th percentile of the labelled texts' numbers of bytes
  std::string given{};                     // names of the splits that the data had; empty if there were none
  std::vector<std::string> notes{};        // lines for the user
};

/// Returns a note that the results of the split `split` ("validation") do not measure `classes`, because these classes
/// have too few samples. If `classes` is empty, the note is empty.
std::string unmeasured_classes_note(const std::vector<std::string>& classes, const std::string& split);

/// Each function prepares texts in a folder of `prepared` whose name ends in a digest of the input, or reuses this
/// folder. Text that is not UTF-8 is read with as_utf8() (text_encodings.h), and a note names the encoding and the
/// first line. If the data have no splits, a tenth is used for validation and a tenth for tests: the last lines of a
/// text, or random labelled texts of each class. A twentieth of sentence pairs (at most 1,000) is drawn for validation,
/// and as many pairs for tests. If the data have `train` and one other split, the other is for tests; a tenth of
/// `train` (a twentieth of pairs) is for validation. Throws io::Error if a file cannot be read, or for too little text.
PreparedTexts prepare_text(const FoundData& found, const std::filesystem::path& prepared);
PreparedTexts prepare_pairs(const FoundData& found, const std::filesystem::path& prepared);
PreparedTexts prepare_labelled_texts(const FoundData& found, const std::filesystem::path& prepared);

}  // namespace cachet::tasks
