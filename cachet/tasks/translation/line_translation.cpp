#include "cachet/tasks/translation/line_translation.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cachet::tasks {
namespace {

using Tokens = std::vector<data::Token>;

void add_in_pieces(const Tokens& tokens, int64_t most, std::vector<Tokens>& parts) {
  for (auto first = tokens.begin(); first != tokens.end();) {
    const auto last = first + std::min<int64_t>(most, tokens.end() - first);
    parts.emplace_back(first, last);
    first = last;
  }
}

// Translations of the parts of a line, one after the other: the i-th best of each.
std::vector<TranslatedLine::Translation> joined_translations(std::span<const std::vector<models::Hypothesis>> parts,
                                                             const data::SentenceEncoder& target,
                                                             double length_penalty) {
  size_t count = parts.empty() ? 0 : parts.front().size();
  for (const auto& part : parts) count = std::min(count, part.size());
  std::vector<TranslatedLine::Translation> translations;
  for (size_t rank = 0; rank < count; ++rank) {
    TranslatedLine::Translation whole;
    std::vector<double> log_probabilities;
    for (const auto& part : parts) {
      const std::string text = text_of(part[rank], target);
      if (!whole.text.empty() && !text.empty()) whole.text += ' ';
      whole.text += text;
      const auto& own = part[rank].log_probabilities;
      log_probabilities.insert(log_probabilities.end(), own.begin(), own.end());
    }
    whole.score = models::hypothesis_score(log_probabilities, length_penalty);
    translations.push_back(std::move(whole));
  }
  return translations;
}

}  // namespace

std::vector<Tokens> parts_of_line(std::string_view line, const data::SentenceEncoder& encoder, int64_t most,
                                  int64_t& replaced) {
  const auto whole = encoder.encode(line);
  replaced += whole.replaced;
  if (whole.tokens.empty()) return {};
  if (static_cast<int64_t>(whole.tokens.size()) <= most) return {whole.tokens};
  std::vector<Tokens> parts;
  int64_t count = 0;
  size_t part_begin = 0;
  const auto end_part = [&](size_t end) {
    if (end > part_begin) add_in_pieces(encoder.encode(line.substr(part_begin, end - part_begin)).tokens, most, parts);
    part_begin = end;
    count = 0;
  };
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin + 1), line.size());  // a word with the space before it
    const auto tokens = static_cast<int64_t>(encoder.encode(line.substr(begin, end - begin)).tokens.size());
    if (count > 0 && count + tokens > most) end_part(begin);
    count += tokens;
    begin = end;
  }
  end_part(line.size());
  return parts;
}

void translate_lines(models::TranslationModel& model, const data::ParallelEncoders& encoders, int64_t most_tokens,
                     const std::function<std::optional<std::string>()>& next_line, const TranslationOptions& options,
                     LineCounts& counts, const std::function<void(const TranslatedLine& line)>& seen,
                     train::ReplayedInference* inference) {
  check_translation(options);
  bool more = true;
  while (more) {
    std::vector<TranslatedLine> lines;
    std::vector<SentenceToTranslate> parts;
    std::vector<size_t> first_parts;  // of each line
    while (static_cast<int64_t>(lines.size()) < options.lines) {
      std::optional<std::string> line = next_line();
      if (!line) {
        more = false;
        break;
      }
      first_parts.push_back(parts.size());
      lines.push_back({counts.lines++, std::move(*line), {}});
      int64_t part = 0;
      for (Tokens& tokens : parts_of_line(lines.back().source, encoders.source, most_tokens, counts.replaced)) {
        tokens.push_back(encoders.source.marks.end);
        constexpr int64_t kPartsOfALine = int64_t{1} << 24;  // more than 16 MiB can hold
        parts.push_back({std::move(tokens), lines.back().index * kPartsOfALine + part++});
      }
      if (part > 1 && counts.in_parts++ == 0) counts.first_in_parts = counts.lines;
    }
    first_parts.push_back(parts.size());
    const auto found = translate_sentences(model, parts, options, {}, inference);
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::span own(found.data() + first_parts[i], first_parts[i + 1] - first_parts[i]);
      lines[i].translations = joined_translations(own, encoders.target, options.beam.length_penalty);
      seen(lines[i]);
    }
  }
}

}  // namespace cachet::tasks
