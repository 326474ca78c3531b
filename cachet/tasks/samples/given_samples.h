#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// A sample that somebody gives, and where it stands, for messages: "list.txt:3"; empty where it names itself.
struct GivenSample {
  std::string text, place;
};

/// Returns the next one; nothing after the last.
using NextSample = std::function<std::optional<GivenSample>()>;

/// What becomes of a sample that cannot be read.
enum class UnreadableSamples {
  end,     // its error is thrown
  record,  // it is an UnreadableSample, whose record {"index":…,"file":…,"error":…} has the reason
};
struct UnreadableSample : PreparedSample {
  std::string problem{};
};

struct GivenOptions {
  AnswerOptions answers{};
  int64_t batch = 8;  // samples that a task gets at once; with more than 1 the next are read meanwhile, by a thread
  UnreadableSamples unreadable = UnreadableSamples::end;
};

/// Called in order with each sample's index and text: whether it needs no answer.
using SkipGiven = std::function<bool(int64_t index, const std::string& text)>;
/// Called in order with the records of the others.
using UseAnswer = std::function<void(const PreparedSample& sample, const Record& record)>;

/// Predicts on samples in their order, and returns their number. An io::Error of a sample gets the sample's index
/// before it, and is thrown after the samples before it are predicted.
int64_t answer_all_given(Predictor& task, const NextSample& next, const GivenOptions& options, const SkipGiven& skip,
                         const UseAnswer& use);

}  // namespace cachet::tasks
