#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// What a task can do besides training and evaluating. A command asks a task for the interface that it needs
/// (dynamic_cast), and says in a line where the task has none.
namespace cachet::tasks {

/// A line of JSON, its end included, with the sample's number under "index".
using Record = std::string;
using SeenRecord = std::function<void(const Record& record)>;

struct AnswerOptions {
  int64_t top = 5;      // classes to name for each sample
  bool logits = false;  // whether a record has the logit of every class too, of a task that has such
};

/// What somebody gives who gives a sample: the name of an image file, or a text itself.
enum class SampleForm { image_file, text };

/// Answers samples that somebody gives, each on its own. The model is in evaluation mode.
class AnswersGivenSamples {
 public:
  virtual ~AnswersGivenSamples() = default;
  virtual SampleForm sample_form() const = 0;
  /// Throws io::Error that says what is wrong with the sample; where it is a text, not with which.
  virtual Record answer_given(const std::string& sample, int64_t index, const AnswerOptions& options) = 0;
  /// What was done by rule to those that were given so far, lines for the user.
  virtual std::vector<std::string> notes_on_given() const { return {}; }
};

/// Answers the samples of the evaluation data in their order, from the `first` on, so that a file of records can be
/// gone on with. The model is in evaluation mode.
class AnswersEvaluationSamples {
 public:
  virtual ~AnswersEvaluationSamples() = default;
  virtual void answer_evaluation(int64_t first, const AnswerOptions& options, const SeenRecord& seen) = 0;
};

}  // namespace cachet::tasks
