#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/nn/base/not_replayable.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/analyses/shows_samples.h"
#include "cachet/tasks/translation/line_translation.h"
#include "cachet/tasks/translation/rounded_pairs.h"
#include "cachet/tasks/translation/translation_evaluation.h"
#include "cachet/tasks/translation/translation_plan.h"
#include "cachet/train/options.h"

namespace cachet::tasks {

/// Trains an encoder-decoder to translate sentences, on smoothed targets (Szegedy et al., arXiv 1512.00567), and
/// evaluates it by the BLEU of its translations. data.max_tokens is the number of tokens of a micro-batch. A step has
/// train.accumulate micro-batches. The gradient of a step is divided by the number of target tokens of the step.
class TranslationTask : public Task,
                        public TranslatesText,
                        public EvaluatesRecords,
                        public SignsScores,
                        public ExportsRewrittenModel,
                        public ShowsSamples {
 public:
  /// Opens the data and builds the model. Splits::given opens only the vocabularies. Throws io::Error if data cannot be
  /// read, and std::invalid_argument if the data do not fit the model.
  TranslationTask(const TranslationPlan& plan, const train::TrainOptions& training, Splits splits = Splits::both);

  torch::nn::Module& model() override { return *model_; }
  std::vector<std::string> head_modules() const override { return {"output"}; }
  std::map<std::string, data::DataDigest> data_digests() const override;
  std::map<std::string, std::string> data_fingerprints() const override;
  std::optional<std::string> why_not_replayed() override { return nn::why_not_replayed(model()); }
  std::optional<std::string> why_inference_not_replayed() override;
  void round_shapes(bool rounded) override;
  int64_t batches_per_epoch() const override;
  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override;
  int64_t evaluation_size() const override;
  /// Returns the number of translated pairs or, if no pair is translated, the number of pairs with measured losses.
  EvaluatedSamples evaluated_samples() const override;
  train::Metrics evaluate(const train::EvaluationProgress& progress) override;
  std::string evaluation_details() const override { return to_json(evaluation_); }
  void restore_evaluation(const std::string& details) override;
  /// Returns the number of records: one for the losses of each pair, then one for each translation to score.
  int64_t evaluation_records() const override;
  std::string record_digest(int64_t index) override;
  void record_evaluation(int64_t first, const SeenRecord& seen) override;
  train::Metrics evaluate_records(const NextRecord& next) override;
  std::vector<std::pair<std::string, std::string>> score_signatures() const override;
  void translate(const std::function<std::optional<std::string>()>& next_line, const TranslationOptions& options,
                 const std::function<void(const TranslatedLine& line)>& seen) override;
  TranslationOptions translation_options() const override { return options_.evaluation.how; }
  std::vector<std::string> notes_on_translated() const override;
  /// Returns log p of the next token after each of 64 beginnings of sentences, computed like in generation.
  ComparedScores compared_scores() override;
  std::string why_no_graph() const override { return kWritesTokenByToken; }
  /// Shows the source sentence, which is the input of the encoder. The encoder has the caches.
  ShownSample run_over(int64_t index) override;

 protected:
  std::vector<report::Block> training_samples() const override;
  std::optional<std::string> doubt_about(const nn::Cache& cache) const override;
  std::vector<report::Section> evaluation_sections() const override { return translation_sections(evaluation_); }

 private:
  std::shared_ptr<const data::ParallelCorpus> open(data::SequenceSplit split, const data::ParallelOptions& options);
  int64_t translated_pairs() const;
  /// Returns the limits to which micro-batches are padded, or std::nullopt if they are not padded.
  std::optional<PairLimits> pair_limits() const;
  void make_up_data();
  void build_model();
  /// A function that gets the losses of a batch's pairs, and the first pair's position in the evaluation's order.
  using UseLosses = std::function<void(int64_t place, const std::vector<PairLosses>& losses)>;
  /// Measures batches of held-out pairs, beginning with the batch of the pair at position `first`.
  void measure_pairs(int64_t first, const UseLosses& use);
  std::vector<SentenceToTranslate> sources_to_translate() const;
  std::vector<TranslatedSentence> translate_held_out(const std::vector<SentenceToTranslate>& sources,
                                                     const std::function<void(int64_t done)>& progress);
  /// Returns a sentence and its translation `written`, which is null if the sentence was not translated.
  TranslatedSentence sentence_of(const SentenceToTranslate& source, const models::Hypothesis* written) const;
  at::Tensor one(const std::vector<int64_t>& tokens) const;
  AttentionMap attention_of(int64_t pair, const models::Hypothesis& hypothesis);

  TranslationTaskOptions options_;
  train::TrainOptions training_options_;
  Splits splits_;
  std::optional<data::ParallelEncoders> encoders_;
  std::shared_ptr<const data::ParallelCorpus> training_, held_out_;
  std::optional<data::ParallelLoader> training_loader_, held_out_loader_;
  data::TokenBudgetOptions budget_;  // of the training batches
  bool rounds_shapes_ = false;
  std::vector<data::ParallelBatch> synthetic_;  // batches that replace all data
  std::shared_ptr<models::TranslationModel> model_;
  TranslationEvaluation evaluation_;
  LineCounts line_counts_;
  std::vector<int64_t> pairs_of_records_;  // set by the first use
};

}  // namespace cachet::tasks
