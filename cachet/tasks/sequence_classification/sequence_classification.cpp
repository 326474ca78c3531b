#include "cachet/tasks/sequence_classification/sequence_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <stdexcept>

#include "cachet/config/counted.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/open_sequences.h"
#include "cachet/data/text/sequences/pixel_sequences.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/ops/support/finite.h"
#include "cachet/report/format.h"
#include "cachet/tasks/classification/large_batch.h"
#include "cachet/tasks/samples/shown_text.h"
#include "cachet/tasks/sequence_classification/synthetic_sequences.h"
#include "cachet/train/machine/device.h"

namespace cachet::tasks {
namespace {

constexpr size_t kMaxShownSequences = 8;  // of the first step

void upload_tokens(const torch::nn::Module& model, data::SequenceBatch& batch) {
  train::move_to(train::device_of(model),
                 {&batch.tokens.ids, &batch.tokens.padding, &batch.second.ids, &batch.second.padding});
}

// Of a batch on the model's device.
at::Tensor logits_of(models::SequenceClassifier& model, const data::SequenceBatch& batch) {
  return model.forward({batch.tokens.ids, batch.tokens.padding}, {batch.second.ids, batch.second.padding});
}

/// Ids and padding of each of its sequences.
std::vector<at::Tensor> inputs_of(const data::SequenceBatch& batch) {
  std::vector<at::Tensor> inputs;
  for (const data::PaddedTokens& sequences : {batch.tokens, batch.second})
    if (sequences.ids.defined()) {
      inputs.push_back(sequences.ids);
      inputs.push_back(sequences.padding.defined() ? sequences.padding : at::zeros(sequences.ids.sizes(), at::kBool));
    }
  return inputs;
}

int64_t tokens_in(const data::PaddedTokens& sequences) {
  if (!sequences.ids.defined()) return 0;
  return sequences.ids.numel() - (sequences.padding.defined() ? sequences.padding.sum().item<int64_t>() : 0);
}

class SequenceTrainingBatches : public train::TrainingBatches {
 public:
  SequenceTrainingBatches(models::SequenceClassifier& model, data::BatchIterator<data::SequenceBatch> batches,
                          double label_smoothing)
      : model_(model), batches_(std::move(batches)), label_smoothing_(label_smoothing) {}

  bool fetch() override {
    batch_ = batches_.next();
    return batch_.has_value();
  }

  bool has_samples() const override { return batch_->labels.numel() > 0; }

  void prepare() override {
    tokens_ = tokens_in(batch_->tokens) + tokens_in(batch_->second);
    const int64_t classes = model_.classes();
    targets_ = at::one_hot(batch_->labels, classes).to(at::kFloat) * (1 - label_smoothing_) +
               label_smoothing_ / static_cast<double>(classes);
    train::move_to(train::device_of(model_), {&targets_});
    upload_tokens(model_, *batch_);
  }

  std::optional<train::PreparedBatch> prepared() override {
    train::PreparedBatch prepared = prepared_classification(
        {&batch_->tokens.ids, &batch_->tokens.padding, &batch_->second.ids, &batch_->second.padding, &targets_},
        targets_);
    prepared.tokens = tokens_;
    return prepared;
  }

  train::ForwardResult forward() override {
    train::ForwardResult result = classification_step(model_, logits_of(model_, *batch_), targets_);
    result.tokens = tokens_;
    return result;
  }

 private:
  models::SequenceClassifier& model_;
  data::BatchIterator<data::SequenceBatch> batches_;
  double label_smoothing_;
  std::optional<data::SequenceBatch> batch_;
  at::Tensor targets_;  // (B, classes)
  int64_t tokens_ = 0;
};

void check_fit(const data::SequenceDataset& dataset, const models::SequenceClassifierPlan& model) {
  const auto number = [](int64_t n) { return std::to_string(n); };
  if (dataset.vocabulary().size > model.sequence.vocabulary)
    throw std::invalid_argument("the vocabulary of the data has " + number(dataset.vocabulary().size) +
                                " tokens, but the model has " + number(model.sequence.vocabulary) +
                                "; leave model.vocabulary out");
  if (dataset.classes() != model.classes)
    throw std::invalid_argument("the data have " + config::counted(dataset.classes(), "class", "classes") +
                                ", but the model has " + number(model.classes) + "; leave model.classes out");
  if (dataset.has_pairs() != model.sequence.pairs)
    throw std::invalid_argument(std::string("the data are ") + (dataset.has_pairs() ? "pairs" : "single sequences") +
                                ", but the model is not made for such samples; leave model.pairs out");
}

struct PreparedSequence : PreparedSample {
  data::GivenSequence sequence;
};

}  // namespace

std::shared_ptr<const data::SequenceDataset> SequenceClassification::open(data::SequenceSplit split,
                                                                          const data::SequenceDatasetOptions& options) {
  if (splits_ == Splits::synthetic)
    return synthetic_sequences(options_.model, split == data::SequenceSplit::train
                                                   ? training_options_.shared_batch() * 2
                                                   : training_options_.batch_size);
  if (splits_ == Splits::given) {
    return std::make_shared<data::SequenceDataset>(
        std::make_shared<data::TokenStore>(0), std::vector<data::SequenceSample>(),
        data::Vocabulary{options_.model.sequence.vocabulary, ""},
        options_.dataset.class_names.empty() ? options_.dataset.kind->class_names() : options_.dataset.class_names);
  }
  auto dataset = data::open_sequence_dataset(options, split);
  note(data::describe(*dataset, data::to_string(split)));
  check_fit(*dataset, options_.model);
  return dataset;
}

SequenceClassification::SequenceClassification(const SequenceClassificationPlan& plan,
                                               const train::TrainOptions& training, Splits splits)
    : ClassificationTask(plan.profile()), options_(plan.options()), training_options_(training), splits_(splits) {
  const SequenceClassificationOptions& options = options_;
  const bool trains = splits == Splits::both || splits == Splits::synthetic;
  const std::string most = std::to_string(options.model.sequence.max_length);
  if (options.dataset.max_length > options.model.sequence.max_length)
    throw std::invalid_argument("data.max_length is " + std::to_string(options.dataset.max_length) +
                                ", but the model takes at most " + most + " tokens; set data.max_length to " + most +
                                " or less" + (trains ? ", or leave model.max_length out" : ""));
  data::SequenceDatasetOptions evaluated = options.dataset;
  evaluated.limit = options.evaluation_limit.value_or(evaluated.limit);
  held_out_ = open(splits == Splits::calibration ? data::SequenceSplit::train : options_.held_out, evaluated);
  const data::EqualBatchOptions once{training.batch_size, /*shuffle=*/false, /*drop_last=*/false, 0};
  const auto loader = [&](const auto& samples, const data::EqualBatchOptions& batches, int64_t bucket_batches,
                          data::Shard shard = {}) {
    return data::SequenceLoader(samples, data::sequence_order(*samples, batches, bucket_batches, shard),
                                options.loader.loader, options.loader.padding);
  };
  // Predictions are written, and resumed, in the order of the data.
  held_out_loader_.emplace(loader(held_out_, once, /*bucket_batches=*/0));
  by_length_loader_.emplace(loader(held_out_, once, options.loader.bucket_batches));
  if (trains) {
    training_ = open(data::SequenceSplit::train, options.dataset);
    training_loader_.emplace(loader(training_,
                                    data::EqualBatchOptions{training.shared_batch(), true, true, training.seed},
                                    options.loader.bucket_batches, training.shard));
    if (training_loader_->batches() == 0)
      throw std::invalid_argument(
          large_batch_text(training, training_->size(), options.dataset, "training sequence", "training sequences"));
  }
  model_ = options.model.build();
  set_model(model_);
}

std::unique_ptr<train::TrainingBatches> SequenceClassification::training_batches(int64_t epoch, int64_t first_batch) {
  return std::make_unique<SequenceTrainingBatches>(*model_, training_loader_->iterate(epoch, first_batch),
                                                   options_.label_smoothing);
}

at::Tensor SequenceClassification::answers_of(data::SequenceBatch batch) {
  upload_tokens(*model_, batch);
  const std::vector<at::Tensor> outputs =
      inference().run("logits", {&batch.tokens.ids, &batch.tokens.padding, &batch.second.ids, &batch.second.padding},
                      [&] { return std::vector{logits_of(*model_, batch)}; });
  const at::Tensor logits = outputs.front().to(at::kFloat).cpu();
  ops::require_finite_scores(logits);
  return logits;
}

void SequenceClassification::classify(data::BatchIterator<data::SequenceBatch> batches, const UseBatch& use) {
  const at::NoGradGuard no_grad;
  while (const auto batch = batches.next())
    use({batch->indices, batch->labels, answers_of(*batch), batch->number * training_options_.batch_size,
         inputs_of(*batch)});
}

void SequenceClassification::classify_in_order(int64_t first, const UseBatch& use) {
  classify(held_out_loader_->iterate(/*epoch=*/0, first / training_options_.batch_size), use);
}

void SequenceClassification::classify_all(int64_t first, const UseBatch& use) {
  classify(by_length_loader_->iterate(/*epoch=*/0, first / training_options_.batch_size), use);
}

SampleForm SequenceClassification::sample_form() const {
  return options_.dataset.kind->given == data::GivenForm::image ? SampleForm::image_file : SampleForm::text;
}

data::GivenSequence SequenceClassification::given(const std::string& sample, std::string& digest) {
  if (sample_form() == SampleForm::image_file) {
    const auto see_bytes = [&](std::span<const std::byte> bytes) { digest = data::digest_of(bytes); };
    data::GivenSequence pixels{data::pixel_tokens_of_file(sample, see_bytes), {}};
    pixels.tokens.resize(std::min(pixels.tokens.size(), static_cast<size_t>(options_.dataset.max_length)));
    return pixels;
  }
  if (!given_reader_) given_reader_.emplace(options_.dataset);
  return given_reader_->read(sample);
}

std::unique_ptr<PreparedSample> SequenceClassification::prepare_given(const std::string& sample) {
  auto prepared = std::make_unique<PreparedSequence>();
  prepared->sequence = given(sample, prepared->digest);
  return prepared;
}

at::Tensor SequenceClassification::classify_given(const PreparedSamples& samples) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> logits;
  for (const auto& sample : samples) {
    const auto& [tokens, second] = dynamic_cast<const PreparedSequence&>(*sample).sequence;
    data::SequenceBatch batch;
    batch.tokens = data::pad({tokens}, options_.loader.padding);
    if (!second.empty()) batch.second = data::pad({second}, options_.loader.padding);
    logits.push_back(answers_of(std::move(batch)));
  }
  return at::cat(logits);
}

std::map<std::string, data::DataDigest> SequenceClassification::data_digests() const {
  std::map<std::string, data::DataDigest> digests{{"evaluation", held_out_->digest()}};
  if (training_) digests["training"] = training_->digest();
  return digests;
}

int64_t SequenceClassification::sample_at(int64_t place) {
  if (by_length_.empty())
    for (int64_t batch = 0; batch < by_length_loader_->batches(); ++batch)
      std::ranges::copy(by_length_loader_->place(/*epoch=*/0, batch).indices(), std::back_inserter(by_length_));
  return by_length_.at(static_cast<size_t>(place));
}

std::map<std::string, std::string> SequenceClassification::data_fingerprints() const {
  std::map<std::string, std::string> fingerprints{{"evaluation", held_out_->fingerprint()}};
  if (training_) fingerprints["training"] = training_->fingerprint();
  return fingerprints;
}

ShownSample SequenceClassification::run_over(int64_t index) {
  const at::NoGradGuard no_grad;
  data::SequenceBatch batch;
  batch.tokens = data::pad({held_out_->tokens(index)}, options_.loader.padding);
  if (held_out_->has_pairs()) batch.second = data::pad({held_out_->second(index)}, options_.loader.padding);
  upload_tokens(*model_, batch);
  const at::Tensor logits = logits_of(*model_, batch);
  const data::SequenceKind& kind = *options_.dataset.kind;
  std::unique_ptr<const data::TextEncoder> encoder;
  if (kind.has_texts) encoder = data::make_text_encoder(options_.dataset.text, std::filesystem::current_path());
  ShownSample shown;
  for (const data::Token token : held_out_->has_pairs() ? held_out_->second(index) : held_out_->tokens(index))
    shown.tokens.push_back(encoder     ? encoder->decode(std::vector<data::Token>{token})
                           : kind.word ? kind.word(token)
                                       : std::to_string(token));
  shown.name = class_names().at(static_cast<size_t>(held_out_->label(index)));
  shown.answer = class_names().at(static_cast<size_t>(logits.argmax(1).item<int64_t>()));
  return shown;
}

std::vector<std::string> SequenceClassification::notes_on_given() const {
  return given_reader_ ? data::describe(given_reader_->counts()) : std::vector<std::string>();
}

std::vector<report::Block> SequenceClassification::training_samples() const {
  if (!training_loader_) return {};
  const data::SequenceKind& kind = *options_.dataset.kind;
  std::unique_ptr<const data::TextEncoder> encoder;
  if (kind.has_texts) encoder = data::make_text_encoder(options_.dataset.text, std::filesystem::current_path());
  const auto text_of = [&](data::TokenView tokens) {
    if (encoder) return shown_text(tokens, *encoder);
    std::string text;
    for (const data::Token token : tokens)
      text += (text.empty() ? "" : " ") + (kind.word ? kind.word(token) : std::to_string(token));
    return shown_text(text);
  };
  const std::vector<int64_t> indices = training_loader_->place(/*epoch=*/0, /*number=*/0).indices();
  report::Table table{"Sequences of the first step",
                      {{"class"}, {"tokens", report::Alignment::right}, {"text"}},
                      {},
                      "The first of the " + std::to_string(indices.size()) + " sequences in the first batch."};
  if (training_->has_pairs()) table.columns.push_back({"second text"});
  bool any_is_cut = false;
  for (size_t i = 0; i < std::min(indices.size(), kMaxShownSequences); ++i) {
    const int64_t index = indices[i];
    const bool is_cut = training_->is_cut(index);
    any_is_cut |= is_cut;
    table.rows.push_back({class_names().at(static_cast<size_t>(training_->label(index))),
                          std::to_string(training_->length(index)) + (is_cut ? ", cut" : ""),
                          text_of(training_->tokens(index))});
    if (training_->has_pairs()) table.rows.back().push_back(text_of(training_->second(index)));
  }
  if (any_is_cut)
    table.note += " A sequence that was longer than data.max_length (" + std::to_string(options_.dataset.max_length) +
                  ") is cut.";
  return {std::move(table)};
}

std::vector<report::Block> SequenceClassification::evaluation_samples(
    const ClassificationEvaluation& evaluation) const {
  using report::Alignment;
  if (evaluation.wrong.empty()) return {};
  report::Table mistakes{"Most confident mistakes",
                         {{"sequence", Alignment::right},
                          {"tokens", Alignment::right},
                          {"truth"},
                          {"prediction"},
                          {"probability", Alignment::right}},
                         {},
                         ""};
  for (const ClassifiedSample& sample : evaluation.wrong)
    mistakes.rows.push_back({std::to_string(sample.index), std::to_string(held_out_->length(sample.index)),
                             class_names().at(static_cast<size_t>(sample.label)),
                             class_names().at(static_cast<size_t>(sample.predicted)),
                             report::format_percent(sample.probability)});
  return {mistakes};
}

}  // namespace cachet::tasks
