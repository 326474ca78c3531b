#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/fixed_decoder.h"

namespace cachet::models {

/// Runs or replays a pass that reads `tensors` and the model, and returns its outputs. With equal keys and equal
/// shapes, the pass makes the same calls (train::ReplayedInference::run).
using RunPass = std::function<std::vector<at::Tensor>(const std::string& key, const std::vector<at::Tensor*>& tensors,
                                                      const std::function<std::vector<at::Tensor>()>& pass)>;

/// Translates sentences as beam_search() does, but with all of the search on the device, in tensors of fixed sizes. All
/// tokens of a search make the same calls, which `run` may replay. With a beam of one, the search is greedy.
///
/// The sizes are rounded up, so that few of them occur: the number of sentences to a multiple of 8, the length of the
/// sources to a multiple of 16 (at most the model's longest), and the capacity of the decoder's state to 32 tokens,
/// which doubles when the state is full. Sentences that have ended stay in the batch. The host asks only after every
/// 16th token whether all sentences have ended. The hypotheses equal those of beam_search() if no two scores are equal
/// up to rounding: the model's log-probabilities differ by rounding, because attention masks the free capacity. Throws
/// the errors of beam_search(); NotFinite may be thrown up to 15 tokens later.
std::vector<std::vector<Hypothesis>> fixed_beam_search(TranslationModel& model, FixedDecoder& decoder,
                                                       const Sequences& source, const BeamOptions& options,
                                                       const RunPass& run);

}  // namespace cachet::models
