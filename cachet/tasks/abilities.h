#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

/// A sample that somebody gave, ready for the model: a task derives what it takes of it.
struct PreparedSample {
  virtual ~PreparedSample() = default;
  std::string given;
  int64_t index = 0;  // among all that were given
};
using PreparedSamples = std::vector<std::unique_ptr<PreparedSample>>;

/// Answers samples that somebody gives. The model is in evaluation mode.
class AnswersGivenSamples {
 public:
  virtual ~AnswersGivenSamples() = default;
  virtual SampleForm sample_form() const = 0;
  /// Reads a sample; one at a time, but beside answer_given() of others. Throws io::Error that says what is wrong with
  /// it; where it is a text, not with which.
  virtual std::unique_ptr<PreparedSample> prepare_given(const std::string& sample) = 0;
  /// A record for each, in their order.
  virtual std::vector<Record> answer_given(const PreparedSamples& samples, const AnswerOptions& options) = 0;
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
