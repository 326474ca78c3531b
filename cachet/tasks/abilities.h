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

/// What a task can do besides training and evaluating. A command asks a task for the interface that it needs
/// (dynamic_cast), and says in a line where the task has none.
namespace cachet::tasks {

/// A line of JSON, its end included. It begins with the sample's number, without spaces: `{"index":7,`; by that a line
/// that was cut short is known.
using Record = std::string;
using SeenRecord = std::function<void(const Record& record)>;
/// Gives the next of records that were kept; nothing behind the last.
using NextRecord = std::function<std::optional<Record>()>;

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
  std::string digest;  // of an image file's bytes, as they were decoded; empty of texts
  int64_t index = 0;   // among all that were given
};
using PreparedSamples = std::vector<std::unique_ptr<PreparedSample>>;

/// How a text goes on.
struct GenerationOptions {
  int64_t tokens = 100;
  models::SamplingOptions sampling{};
  uint64_t seed = 0;
};

/// Answers samples that somebody gives. The model is in evaluation mode.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual SampleForm sample_form() const = 0;
  /// Whether answers name classes; AnswerOptions say nothing to others.
  virtual bool ranks_classes() const { return true; }
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
  /// Of all that sample `index` is made of: the bytes of its picture or its text, and what is said of it (its class,
  /// its annotations and masks). An image file is read where this evaluation has not decoded it.
  virtual std::string sample_digest(int64_t index) = 0;
  /// What version 0.1.0 took as the digest of this sample if it answered samples by another rule; then its records are
  /// made again. Empty if the rule is the same.
  virtual std::string earlier_digest(int64_t /*index*/) { return {}; }
  virtual void answer_evaluation(int64_t first, const AnswerOptions& options, const SeenRecord& seen) = 0;
};

/// Shows what it answered to samples that are pictures.
class DrawsAnswers {
 public:
  virtual ~DrawsAnswers() = default;
  /// The bytes of a PNG file: the sample with what its record says drawn over it, as far as that is at least so sure
  /// (0 to 1).
  virtual std::string picture_of_answer(const PreparedSample& sample, const Record& record, double least_score) = 0;
};

/// A file beside others of a folder.
struct NamedFile {
  std::string name{}, bytes{};
};

/// Says what it answered in files that other programs read.
class WritesResults {
 public:
  virtual ~WritesResults() = default;
  /// Of records of samples that were given.
  virtual std::vector<NamedFile> results_of_given(const NextRecord& next) = 0;
  /// Of records of the evaluation samples, in their order.
  virtual std::vector<NamedFile> results_of_evaluation(const NextRecord& next) = 0;
};

/// Evaluates in two steps, of which only the first runs the model: it keeps what its numbers are made of as records,
/// and makes the numbers of these. So an evaluation that was cut short goes on from the records that it left, and one
/// that is through is scored again in no time. The model is in evaluation mode.
class EvaluatesRecords {
 public:
  virtual ~EvaluatesRecords() = default;
  /// How many records a whole evaluation has: as a rule one a sample.
  virtual int64_t evaluation_records() const = 0;
  /// Of all that record `index` is made of besides the model, as AnswersEvaluationSamples::sample_digest() has it.
  virtual std::string record_digest(int64_t index) = 0;
  /// As AnswersEvaluationSamples::earlier_digest().
  virtual std::string earlier_digest(int64_t /*index*/) { return {}; }
  /// Gives the records from number `first` on, in the order in which evaluate() looks at the samples, as soon as they
  /// are there.
  virtual void record_evaluation(int64_t first, const SeenRecord& seen) = 0;
  /// As evaluate(), of all these records in their order: the same numbers, bit for bit. Throws std::runtime_error for
  /// what is no record of these samples, and where records are missing.
  virtual train::Metrics evaluate_records(const NextRecord& next) = 0;
};

/// Has a table for the numbers of its evaluation that people of its field know.
class TabulatesEvaluation {
 public:
  virtual ~TabulatesEvaluation() = default;
  /// Of the last evaluation, lines with their ends.
  virtual std::string evaluation_table() const = 0;
};

/// Scores whose numbers depend on how they are computed.
class SignsScores {
 public:
  virtual ~SignsScores() = default;
  /// How those of the last evaluation were computed, by metric: "bleu", and sacreBLEU's signature. Empty if it has
  /// none.
  virtual std::vector<std::pair<std::string, std::string>> score_signatures() const = 0;
};

/// Writes on behind a text that somebody gives. The model is in evaluation mode.
class GeneratesText {
 public:
  virtual ~GeneratesText() = default;
  /// Calls `seen` with each piece of text as it is made, the prompt not among them. Throws io::Error for a prompt that
  /// cannot be read, std::invalid_argument for options that make no sense.
  virtual void generate(const std::string& prompt, const GenerationOptions& options,
                        const std::function<void(const std::string& piece)>& seen) = 0;
};

/// A line and its translations, the best first; none of a line without a word.
struct TranslatedLine {
  struct Translation {
    std::string text{};  // without line ends
    double score = 0;
  };
  int64_t index = 0;  // from 0
  std::string source{};
  std::vector<Translation> translations{};
};

/// Translates lines that somebody gives. The model is in evaluation mode.
class TranslatesText {
 public:
  virtual ~TranslatesText() = default;
  /// next_line gives the lines without their ends, nothing behind the last; `seen` gets each line in its order,
  /// whatever is in it. Throws std::invalid_argument for options that make no sense.
  virtual void translate(const std::function<std::optional<std::string>()>& next_line,
                         const TranslationOptions& options,
                         const std::function<void(const TranslatedLine& line)>& seen) = 0;
  /// The options of the recipe's evaluations.
  virtual TranslationOptions translation_options() const = 0;
  /// What was done by rule to the lines so far, lines for the user.
  virtual std::vector<std::string> notes_on_translated() const = 0;
};

/// A line of a text, and how likely a model finds it.
struct ScoredLine {
  int64_t index = 0;        // from 0
  int64_t tokens = 0;       // its end among them
  double loss = 0;          // the sum of their −log p, in nats
  data::TextSize text{};    // its end among it
  data::CodedText coded{};  // the part of it that the tokens tell
};

/// Says how likely it finds a text that somebody gives, whose lines follow each other. The model is in evaluation mode.
class ScoresText {
 public:
  virtual ~ScoresText() = default;
  /// next_line gives the lines without their ends, nothing behind the last; `seen` gets each line in order, when all of
  /// its tokens were scored, and `scored` the number of tokens again and again, within long lines too.
  virtual void score_text(const std::function<std::optional<std::string>()>& next_line,
                          const std::function<void(const ScoredLine& line)>& seen,
                          const std::function<void(int64_t tokens)>& scored) = 0;
};

using AnswersGivenSamples [[deprecated("Predictor")]] = Predictor;

}  // namespace cachet::tasks
