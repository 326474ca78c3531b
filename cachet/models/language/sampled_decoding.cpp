#include "cachet/models/language/sampled_decoding.h"

#include <random>
#include <stdexcept>

namespace cachet::models {
namespace {

std::mt19937_64 generator_of(uint64_t seed, uint64_t number) {
  std::seed_seq words{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(number),
                      static_cast<uint32_t>(number >> 32)};
  return std::mt19937_64(words);
}

}  // namespace

std::vector<Hypothesis> sampled_decoding(TranslationModel& model, const Sequences& source,
                                         std::span<const int64_t> numbers, const SamplingOptions& sampling,
                                         uint64_t seed, const LengthLimits& limits, double length_penalty) {
  check_sampling(sampling);
  if (static_cast<int64_t>(numbers.size()) != source.ids.size(0))
    throw std::invalid_argument("sampled_decoding: each sentence needs a number for its random seed");
  std::vector<std::mt19937_64> generators;
  for (const int64_t number : numbers) generators.push_back(generator_of(seed, static_cast<uint64_t>(number)));
  const auto choose = [&](const torch::Tensor& log_probabilities, const std::vector<int64_t>& sentences,
                          const std::vector<Hypothesis>& written) {
    const torch::Tensor scores = log_probabilities.to(at::kDouble).cpu().contiguous();
    const auto width = static_cast<size_t>(scores.size(1));
    std::vector<int64_t> tokens;
    for (size_t batch_row = 0; batch_row < sentences.size(); ++batch_row) {
      const auto sentence = static_cast<size_t>(sentences[batch_row]);
      const std::span<const double> own(scores.const_data_ptr<double>() + batch_row * width, width);
      const double uniform = static_cast<double>(generators[sentence]() >> 11) * 0x1p-53;
      tokens.push_back(drawn_token(sampling_distribution(own, written[sentence].tokens, sampling), uniform));
    }
    return tokens;
  };
  return write_one_by_one(model, source, limits, length_penalty, choose);
}

}  // namespace cachet::models
