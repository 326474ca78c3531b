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

/// Capabilities of a task other than training and evaluating. A command asks a task for the interface that it needs
/// (dynamic_cast), and prints a line if the task does not have it.
namespace cachet::tasks {

/// A line of JSON with its line end. It begins with the sample's number, without spaces: `{"index":7,`. This identifies
/// a line that was cut short.
using Record = std::string;
using SeenRecord = std::function<void(const Record& record)>;
/// Returns the next saved record; nothing after the last.
using NextRecord = std::function<std::optional<Record>()>;

struct AnswerOptions {
  int64_t top = 5;      // classes to name for each sample
  bool logits = false;  // whether a record has the logit of every class too, of a task that has such
};

/// The form of a user's sample: the name of an image file, or the text itself.
enum class SampleForm { image_file, text };

/// A user's sample, prepared for the model. A task derives a class for its samples.
struct PreparedSample {
  virtual ~PreparedSample() = default;
  std::string given;
  std::string digest;  // of an image file's bytes, as they were decoded; empty of texts
  int64_t index = 0;   // among all that were given
};
using PreparedSamples = std::vector<std::unique_ptr<PreparedSample>>;

/// How a text is continued.
struct GenerationOptions {
  int64_t tokens = 100;
  models::SamplingOptions sampling{};
  uint64_t seed = 0;
};

/// Predicts on samples that a user gives. The model is in evaluation mode.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual SampleForm sample_form() const = 0;
  /// Whether predictions rank classes. Other tasks ignore AnswerOptions.
  virtual bool ranks_classes() const { return true; }
  /// Reads a sample. Calls do not overlap, except with answer_given() of other samples. Throws io::Error that names the
  /// fault; for a text, the error does not name the sample.
  virtual std::unique_ptr<PreparedSample> prepare_given(const std::string& sample) = 0;
  /// A record for each, in their order.
  virtual std::vector<Record> answer_given(const PreparedSamples& samples, const AnswerOptions& options) = 0;
  /// Lines for the user on changes that rules made to the samples so far.
  virtual std::vector<std::string> notes_on_given() const { return {}; }
};

/// Predicts on the samples of the evaluation data in their order, from `first` on, so that an interrupted file of
/// records can be continued. The model is in evaluation mode.
class AnswersEvaluationSamples {
 public:
  virtual ~AnswersEvaluationSamples() = default;
  /// The digest of sample `index`: of the bytes of its picture or its text, and of its labels (class, annotations,
  /// masks). If this evaluation has not decoded an image file, the file is read.
  virtual std::string sample_digest(int64_t index) = 0;
  /// The digest of this sample in version 0.1.0, if that version computed predictions by another rule; its records are
  /// then made again. Empty if the rule is the same.
  virtual std::string earlier_digest(int64_t /*index*/) { return {}; }
  virtual void answer_evaluation(int64_t first, const AnswerOptions& options, const SeenRecord& seen) = 0;
};

/// Draws its predictions on samples that are pictures.
class DrawsAnswers {
 public:
  virtual ~DrawsAnswers() = default;
  /// The bytes of a PNG file: the sample with the predictions of its record whose score is at least `least_score` (0 to
  /// 1).
  virtual std::string picture_of_answer(const PreparedSample& sample, const Record& record, double least_score) = 0;
};

/// A file of a folder.
struct NamedFile {
  std::string name{}, bytes{};
};

/// Writes its predictions as files that other programs read.
class WritesResults {
 public:
  virtual ~WritesResults() = default;
  /// From the records of a user's samples.
  virtual std::vector<NamedFile> results_of_given(const NextRecord& next) = 0;
  /// From the records of the evaluation samples, in their order.
  virtual std::vector<NamedFile> results_of_evaluation(const NextRecord& next) = 0;
};

/// Evaluates in two steps, of which only the first runs the model: it saves records, and computes the metrics from the
/// records. An interrupted evaluation can therefore continue from its records, and a finished one can be scored again
/// without the model. The model is in evaluation mode.
class EvaluatesRecords {
 public:
  virtual ~EvaluatesRecords() = default;
  /// How many records a whole evaluation has: usually one for each sample.
  virtual int64_t evaluation_records() const = 0;
  /// The digest of everything that record `index` is made of except the model, as
  /// AnswersEvaluationSamples::sample_digest().
  virtual std::string record_digest(int64_t index) = 0;
  /// As AnswersEvaluationSamples::earlier_digest().
  virtual std::string earlier_digest(int64_t /*index*/) { return {}; }
  /// Passes the records from number `first` on to `seen`, in the order of the samples in evaluate(), as soon as each is
  /// computed.
  virtual void record_evaluation(int64_t first, const SeenRecord& seen) = 0;
  /// As evaluate(), from all records in their order: the same numbers, bit for bit. Throws std::runtime_error if a line
  /// is not a record of these samples, and if records are missing.
  virtual train::Metrics evaluate_records(const NextRecord& next) = 0;
};

/// Formats the numbers of its evaluation as the usual table of its field.
class TabulatesEvaluation {
 public:
  virtual ~TabulatesEvaluation() = default;
  /// The table of the last evaluation, lines with line ends.
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

/// Continues a text that a user gives. The model is in evaluation mode.
class GeneratesText {
 public:
  virtual ~GeneratesText() = default;
  /// Calls `seen` with each piece of text when it is made, without the prompt. Throws io::Error for a prompt that
  /// cannot be read, std::invalid_argument for invalid options.
  virtual void generate(const std::string& prompt, const GenerationOptions& options,
                        const std::function<void(const std::string& piece)>& seen) = 0;
};

/// A line and its translations, the best first. A line without a word has none.
struct TranslatedLine {
  struct Translation {
    std::string text{};  // without line ends
    double score = 0;
  };
  int64_t index = 0;  // from 0
  std::string source{};
  std::vector<Translation> translations{};
};

/// Translates lines that a user gives. The model is in evaluation mode.
class TranslatesText {
 public:
  virtual ~TranslatesText() = default;
  /// next_line returns the lines without line ends, and nothing after the last. `seen` gets each line in its order,
  /// also an empty one. Throws std::invalid_argument for invalid options.
  virtual void translate(const std::function<std::optional<std::string>()>& next_line,
                         const TranslationOptions& options,
                         const std::function<void(const TranslatedLine& line)>& seen) = 0;
  /// The options of the recipe's evaluations.
  virtual TranslationOptions translation_options() const = 0;
  /// Lines for the user on changes that rules made to the lines so far.
  virtual std::vector<std::string> notes_on_translated() const = 0;
};

/// A line of a text, and how likely a model finds it.
struct ScoredLine {
  int64_t index = 0;        // from 0
  int64_t tokens = 0;       // with its end
  double loss = 0;          // the sum of the tokens' −log p, in nats
  data::TextSize text{};    // with its end
  data::CodedText coded{};  // the part of it that the tokens encode
};

/// Computes the likelihood of a text that a user gives, as consecutive lines. The model is in evaluation mode.
class ScoresText {
 public:
  virtual ~ScoresText() = default;
  /// next_line returns the lines without line ends, and nothing after the last. `seen` gets each line in order, after
  /// all of its tokens were scored. `scored` gets the number of tokens repeatedly, also within long lines.
  virtual void score_text(const std::function<std::optional<std::string>()>& next_line,
                          const std::function<void(const ScoredLine& line)>& seen,
                          const std::function<void(int64_t tokens)>& scored) = 0;
};

using AnswersGivenSamples [[deprecated("Predictor")]] = Predictor;

}  // namespace cachet::tasks
