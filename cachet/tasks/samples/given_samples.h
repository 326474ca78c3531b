#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// A user's sample. `place` is the sample's location for messages ("list.txt:3"), or empty if `text` is enough.
struct GivenSample {
  std::string text, place;
};

/// A function that returns the next sample, or an empty optional after the last sample.
using NextSample = std::function<std::optional<GivenSample>()>;

/// The treatment of a sample that cannot be read.
enum class UnreadableSamples {
  end,     // throws the error of the sample
  record,  // makes an UnreadableSample, whose record {"index":…,"file":…,"error":…} has the reason
};
struct UnreadableSample : PreparedSample {
  std::string problem{};
};

struct GivenOptions {
  AnswerOptions answers{};
  int64_t batch = 8;  // number of samples that a task gets at once; if above 1, a thread reads ahead
  UnreadableSamples unreadable = UnreadableSamples::end;
};

/// A function that is called in order with each sample's index and text. The function returns whether to skip the
/// prediction of the sample.
using SkipGiven = std::function<bool(int64_t index, const std::string& text)>;
/// A function that is called in order with the records of the samples that need a prediction.
using UseAnswer = std::function<void(const PreparedSample& sample, const Record& record)>;

/// Predicts on samples in their order, and returns the number of samples. An io::Error about a sample begins with the
/// sample's location, and is thrown after the predictions of the earlier samples.
int64_t answer_all_given(Predictor& task, const NextSample& next, const GivenOptions& options, const SkipGiven& skip,
                         const UseAnswer& use);

}  // namespace cachet::tasks
