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

/// What was done by rule to lines that were translated.
struct LineCounts {
  int64_t lines = 0, in_parts = 0, replaced = 0;  // replaced: bytes that were not UTF-8
  int64_t first_in_parts = 0;                     // its number, from 1
};

/// A line cut into parts of at most `most` tokens: between words where that can be, greedily from the left; a longer
/// word is cut between tokens. A line without a token has no part.
std::vector<std::vector<data::Token>> parts_of_line(std::string_view line, const data::SentenceEncoder& encoder,
                                                    int64_t most, int64_t& replaced);

/// Translates lines: a number of them is read, their parts are translated in batches of like lengths, and the parts'
/// translations are joined by spaces, so that each line gives one line.
void translate_lines(models::TranslationModel& model, const data::ParallelEncoders& encoders, int64_t most_tokens,
                     const std::function<std::optional<std::string>()>& next_line, const TranslationOptions& options,
                     LineCounts& counts, const std::function<void(const TranslatedLine& line)>& seen);

}  // namespace cachet::tasks
