#include "cachet/models/language/greedy_decoding.h"

namespace cachet::models {

std::vector<Hypothesis> greedy_decoding(TranslationModel& model, const Sequences& source, const LengthLimits& limits,
                                        double length_penalty) {
  return write_one_by_one(model, source, limits, length_penalty,
                          [](const torch::Tensor& log_probabilities, const auto&, const auto&) {
                            const torch::Tensor best = log_probabilities.argmax(1).cpu().contiguous();
                            const auto* tokens = best.const_data_ptr<int64_t>();
                            return std::vector<int64_t>(tokens, tokens + best.numel());
                          });
}

}  // namespace cachet::models
