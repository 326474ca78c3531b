#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/data/text/encoders/coded_text.h"
#include "cachet/models/language/token_sampling.h"
#include "cachet/tasks/translation/translation_options.h"
#include "cachet/train/step/metrics.h"

/// Capabilities of a task other than training and evaluating. A command casts a task to the interface that the command
/// needs (dynamic_cast). If a task does not have the interface that a command needs, the command prints a message about
/// the task.
namespace cachet::tasks {

/// A line of JSON with its line end. A record begins with the sample's number, without spaces: `{"index":7,`. If an
/// interrupted process left the last line incomplete, a reader recognises the incomplete line by its beginning.
using Record = std::string;
using SeenRecord = std::function<void(const Record& record)>;
/// A function that returns the next saved record, or an empty optional after the last record.
using NextRecord = std::function<std::optional<Record>()>;

struct AnswerOptions {
  int64_t top = 5;      // number of most probable classes to name for each sample
  bool logits = false;  // whether records include the logit of every class, if the task has logits
};

/// The form of a user's sample: the name of an image file, or the text.
enum class SampleForm { image_file, text };

/// A user's sample, prepared for the model. A task derives its own class of samples from this class.
struct PreparedSample {
  virtual ~PreparedSample() = default;
  std::string given;
  std::string digest;  // digest of the bytes of the decoded image file; empty for texts
  int64_t index = 0;   // index among all samples of the user
};
using PreparedSamples = std::vector<std::unique_ptr<PreparedSample>>;

/// The options for continuing a text.
struct GenerationOptions {
  int64_t tokens = 100;
  models::SamplingOptions sampling{};
  uint64_t seed = 0;
};

/// Predicts on samples that a user gives. The model must be in evaluation mode.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual SampleForm sample_form() const = 0;
  /// Whether predictions rank classes. If the predictions do not rank classes, the task ignores AnswerOptions.
  virtual bool ranks_classes() const { return true; }
  /// Reads a sample. While a sample is read, no other function of the task may run except answer_given() for other
  /// samples. If the sample cannot be read, throws io::Error, which names the sample only if it is an image file.
  virtual std::unique_ptr<PreparedSample> prepare_given(const std::string& sample) = 0;
  /// Returns a record for each sample, in the order of the samples.
  virtual std::vector<Record> answer_given(const PreparedSamples& samples, const AnswerOptions& options) = 0;
  /// Returns notes for the user about the samples read so far, such as the number of truncated sequences.
  virtual std::vector<std::string> notes_on_given() const { return {}; }
};

/// Predicts on the samples of the evaluation data in their order, beginning with any sample. Predictions can also
/// continue a file of records that an interruption left incomplete. The model must be in evaluation mode.
class AnswersEvaluationSamples {
 public:
  virtual ~AnswersEvaluationSamples() = default;
  /// Returns a digest of the bytes of the picture or text of sample `index`, and of its labels (class, annotations,
  /// masks). If the evaluation has not decoded the image, reads the image's file.
  virtual std::string sample_digest(int64_t index) = 0;
  /// If version 0.1.0 used another rule for predictions, returns the digest that version 0.1.0 computed for the sample.
  /// If a record has the digest of version 0.1.0, the record is computed again. If version 0.1.0 used the present rule
  /// for predictions, returns an empty text.
  virtual std::string earlier_digest(int64_t /*index*/) { return {}; }
  virtual void answer_evaluation(int64_t first, const AnswerOptions& options, const SeenRecord& seen) = 0;
};

/// The interface of tasks whose samples are pictures: it shows the predictions of a task as pictures.
class DrawsAnswers {
 public:
  virtual ~DrawsAnswers() = default;
  /// Returns the bytes of a PNG file. The picture shows the sample and the predictions of its record whose score is at
  /// least `least_score` (0 to 1).
  virtual std::string picture_of_answer(const PreparedSample& sample, const Record& record, double least_score) = 0;
};

/// A file in a folder.
struct NamedFile {
  std::string name{}, bytes{};
};

/// Writes the predictions of a task as files for other programs.
class WritesResults {
 public:
  virtual ~WritesResults() = default;
  /// Makes files of predictions from the records of a user's samples.
  virtual std::vector<NamedFile> results_of_given(const NextRecord& next) = 0;
  /// Makes files of predictions from the records of the evaluation samples, in the order of the samples.
  virtual std::vector<NamedFile> results_of_evaluation(const NextRecord& next) = 0;
};

/// Evaluates in two steps: first runs the model and saves records of the samples, then computes the metrics from the
/// records. An interrupted evaluation can therefore continue from its records. A finished evaluation can be scored
/// again without the model. The model must be in evaluation mode.
class EvaluatesRecords {
 public:
  virtual ~EvaluatesRecords() = default;
  /// Returns the number of records of a whole evaluation: usually one for each sample.
  virtual int64_t evaluation_records() const = 0;
  /// Returns a digest of all inputs of record `index` except the model (compare
  /// AnswersEvaluationSamples::sample_digest()).
  virtual std::string record_digest(int64_t index) = 0;
  /// Returns the digest of record `index` in version 0.1.0, like AnswersEvaluationSamples::earlier_digest().
  virtual std::string earlier_digest(int64_t /*index*/) { return {}; }
  /// Computes the records, beginning with record `first`. Passes each record to `seen` as soon as it is computed. The
  /// records have the order of the samples in evaluate().
  virtual void record_evaluation(int64_t first, const SeenRecord& seen) = 0;
  /// Computes the metrics from all records in their order, bitwise equal to the metrics of evaluate(). Throws
  /// std::runtime_error if a line is not a record of the evaluation's samples, or if the record of a sample is missing.
  virtual train::Metrics evaluate_records(const NextRecord& next) = 0;
};

/// Formats the metrics of an evaluation as a table in the usual form of the field.
class TabulatesEvaluation {
 public:
  virtual ~TabulatesEvaluation() = default;
  /// Returns the table of the last evaluation, as lines with line ends.
  virtual std::string evaluation_table() const = 0;
};

/// Describes how a task's scores were computed. The value of a score such as BLEU depends on the method of its
/// computation.
class SignsScores {
 public:
  virtual ~SignsScores() = default;
  /// Returns pairs of a metric and the signature of its computation in the last evaluation, such as "bleu" and
  /// sacreBLEU's signature.
  virtual std::vector<std::pair<std::string, std::string>> score_signatures() const = 0;
};

/// Continues a user's text. The model must be in evaluation mode.
class GeneratesText {
 public:
  virtual ~GeneratesText() = default;
  /// Continues a prompt. Passes each new piece of text to `seen` as soon as it is generated, but not the prompt. Throws
  /// io::Error if the prompt cannot be read, std::invalid_argument if options are invalid.
  virtual void generate(const std::string& prompt, const GenerationOptions& options,
                        const std::function<void(const std::string& piece)>& seen) = 0;
};

/// A line and its translations, the best first. A line without words has no translations.
struct TranslatedLine {
  struct Translation {
    std::string text{};  // text without line ends
    double score = 0;
  };
  int64_t index = 0;  // index of the line, from 0
  std::string source{};
  std::vector<Translation> translations{};
};

/// Translates a user's lines. The model must be in evaluation mode.
class TranslatesText {
 public:
  virtual ~TranslatesText() = default;
  /// Translates a user's lines. `next_line` returns a line without its end, or an empty optional after the last line.
  /// `seen` gets each line in order, including empty lines. Throws std::invalid_argument if options are invalid.
  virtual void translate(const std::function<std::optional<std::string>()>& next_line,
                         const TranslationOptions& options,
                         const std::function<void(const TranslatedLine& line)>& seen) = 0;
  /// Returns the options with which the recipe's evaluations translate.
  virtual TranslationOptions translation_options() const = 0;
  /// Returns notes for the user about the lines translated so far that were cut into parts, or that were not UTF-8.
  virtual std::vector<std::string> notes_on_translated() const = 0;
};

/// A line of a text, and its likelihood under a model.
struct ScoredLine {
  int64_t index = 0;        // index of the line, from 0
  int64_t tokens = 0;       // number of tokens, including the end of the line
  double loss = 0;          // the sum of the tokens' −log p, in nats
  data::TextSize text{};    // size of the line, including the line's end
  data::CodedText coded{};  // the part of the line that the tokens encode
};

/// Computes the likelihood of a user's text, line after line. The model must be in evaluation mode.
class ScoresText {
 public:
  virtual ~ScoresText() = default;
  /// Scores lines. `next_line` returns a line without its end, or an empty optional after the last line. `seen` gets
  /// each line in order, as soon as the tokens of the line are scored. While lines are scored, `scored` gets the number
  /// of tokens scored so far, even within long lines.
  virtual void score_text(const std::function<std::optional<std::string>()>& next_line,
                          const std::function<void(const ScoredLine& line)>& seen,
                          const std::function<void(int64_t tokens)>& scored) = 0;
};

using AnswersGivenSamples [[deprecated("Predictor")]] = Predictor;

}  // namespace cachet::tasks
