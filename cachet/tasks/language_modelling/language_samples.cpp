#include "cachet/tasks/language_modelling/language_samples.h"

#include <algorithm>

#include "cachet/config/utf8.h"
#include "cachet/models/language/token_generator.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kGivenTokens = 32, kWrittenTokens = 48;
constexpr models::SamplingOptions kLikelierTokens{.temperature = 0.8, .top_p = 0.95};

std::string shown(const data::TextEncoder& encoder, const std::vector<int64_t>& tokens) {
  return config::printable(encoder.decode(std::vector<data::Token>(tokens.begin(), tokens.end())));
}

}  // namespace

std::vector<WrittenSample> write_samples(models::LanguageModel& model, const models::SegmentOptions& segments,
                                         const data::TokenSequence& text, const data::TextEncoder& encoder,
                                         int64_t count) {
  count = std::min(count, text.size() / kGivenTokens);
  std::vector<WrittenSample> samples;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> given(kGivenTokens), written;
    text.read(i * (text.size() / count), kGivenTokens, given.data());
    models::TokenGenerator generator(model, segments, kLikelierTokens, static_cast<uint64_t>(i),
                                     encoder.vocabulary().size);
    generator.read(given);
    for (int64_t token = 0; token < kWrittenTokens; ++token) written.push_back(generator.next());
    samples.push_back({shown(encoder, given), shown(encoder, written)});
  }
  return samples;
}

}  // namespace cachet::tasks
