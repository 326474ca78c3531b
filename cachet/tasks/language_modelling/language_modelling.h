#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/text/corpora/segment_loader.h"
#include "cachet/nn/base/not_replayable.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/analyses/shows_samples.h"
#include "cachet/tasks/language_modelling/language_evaluation.h"
#include "cachet/tasks/language_modelling/language_modelling_plan.h"
#include "cachet/train/options.h"

namespace cachet::tasks {

/// Predicts the next token of a long text. The batch rows of the text are read in parallel, segment after segment. The
/// model's memory of each row continues from step to step (Transformer-XL, arXiv 1901.02860). The batch size is the
/// number of batch rows.
class LanguageModelling : public Task,
                          public GeneratesText,
                          public ScoresText,
                          public EvaluatesRecords,
                          public ExportsRewrittenModel,
                          public ShowsSamples {
 public:
  /// Opens the data and builds the model. Splits::given opens only the vocabulary. Throws io::Error if data cannot be
  /// read, and std::invalid_argument if they do not fit the model or the batch size.
  LanguageModelling(const LanguageModellingPlan& plan, const train::TrainOptions& training,
                    Splits splits = Splits::both);

  torch::nn::Module& model() override { return *model_; }
  std::vector<std::string> head_modules() const override { return {"output"}; }
  std::map<std::string, data::DataDigest> data_digests() const override;
  std::map<std::string, std::string> data_fingerprints() const override;
  /// Returns the digest of the training text, whose n-grams the baseline counts.
  std::string digest_of_comparisons() const override;
  std::vector<std::string> data_notes() const override;
  std::optional<std::string> why_not_replayed() override { return nn::why_not_replayed(model()); }
  int64_t batches_per_epoch() const override;
  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override;
  int64_t evaluation_size() const override;
  EvaluatedSamples evaluated_samples() const override;
  train::Metrics evaluate(const train::EvaluationProgress& progress) override;
  std::string evaluation_details() const override { return to_json(evaluation_); }
  void restore_evaluation(const std::string& details) override;
  /// Returns the number of records: one for each segment. The record has the losses of all batch rows in the segment.
  int64_t evaluation_records() const override;
  std::string record_digest(int64_t index) override;
  /// If the model has a memory, it first reads the segments before `first` again, and makes no records of them. If the
  /// model has no memory, it skips the segments before `first`.
  void record_evaluation(int64_t first, const SeenRecord& seen) override;
  train::Metrics evaluate_records(const NextRecord& next) override;
  void generate(const std::string& prompt, const GenerationOptions& options,
                const std::function<void(const std::string& piece)>& seen) override;
  void score_text(const std::function<std::optional<std::string>()>& next_line,
                  const std::function<void(const ScoredLine& line)>& seen,
                  const std::function<void(int64_t tokens)>& scored) override;
  /// Returns log p of the next token for 64 beginnings of texts, computed in the same way as in generation.
  ComparedScores compared_scores() override;
  std::string why_no_graph() const override { return kWritesTokenByToken; }
  /// Runs the model on one of the text's first segments, without the text before this segment.
  ShownSample run_over(int64_t index) override;

 protected:
  std::vector<report::Block> training_samples() const override;
  std::vector<report::Section> evaluation_sections() const override;
  std::vector<report::Section> training_sections(const std::vector<train::Event>& events) const override;

 private:
  data::Corpus open(data::SequenceSplit split, const data::CorpusOptions& options);
  data::BatchRowOptions evaluation_batch_rows() const;
  bool remembers_earlier_segments() const;
  /// Returns −log p (rows, L) of a segment's targets, on the model's device. Throws ops::NotFinite if the model returns
  /// NaN or infinity.
  at::Tensor losses_of(data::SegmentBatch& segment, models::LanguageSession& session);
  /// Predicts the segments of the held-out text, beginning with segment `first`.
  void foretell(int64_t first, const std::function<void(int64_t segment, const SegmentLosses& losses)>& use);
  const NgramBaseline& baseline();
  NgramBaseline make_baseline() const;
  LanguageEvaluation finished(const LanguageTally& tally);
  /// Throws std::invalid_argument if bits per byte are the deciding metric and cannot be measured.
  void require_bits(const std::string& decides) const;

  LanguageModellingOptions options_;
  train::TrainOptions training_options_;
  Splits splits_;
  std::unique_ptr<const data::TextEncoder> encoder_;
  std::optional<data::Corpus> training_, held_out_;
  std::optional<data::SegmentLoader> training_loader_;
  std::shared_ptr<models::LanguageModel> model_;
  LanguageEvaluation evaluation_;
  std::optional<NgramBaseline> baseline_;  // set by the first use
  HeldOutText held_out_text_;
};

}  // namespace cachet::tasks
