#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/parallel/parallel_corpus.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/translation/sentence_translation.h"

namespace cachet::tasks {

/// The numbers of translated lines, of lines translated in parts, and of replaced bytes.
struct LineCounts {
  int64_t lines = 0, in_parts = 0, replaced = 0;  // replaced: bytes that were not UTF-8
  int64_t first_in_parts = 0;                     // number, from 1, of the first line that was cut into parts
};

/// Cuts a line into parts of at most `most` tokens, greedily from the left. Cuts are between words if possible; a word
/// longer than a part is cut between tokens. A line without tokens has no parts.
std::vector<std::vector<data::Token>> parts_of_line(std::string_view line, const data::SentenceEncoder& encoder,
                                                    int64_t most, int64_t& replaced);

/// Translates lines: reads several lines, translates their parts in batches of similar lengths, and joins the
/// translations of the parts by spaces. Each input line gives one translated line. `inference`: see translate_batch().
void translate_lines(models::TranslationModel& model, const data::ParallelEncoders& encoders, int64_t most_tokens,
                     const std::function<std::optional<std::string>()>& next_line, const TranslationOptions& options,
                     LineCounts& counts, const std::function<void(const TranslatedLine& line)>& seen,
                     train::ReplayedInference* inference = nullptr);

}  // namespace cachet::tasks
