#include "cachet/tasks/translation/translation_task.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/evaluation_records.h"
#include "tests/tasks/joint_steps.h"
#include "tests/tasks/measured_analyses.h"
#include "tests/tasks/tiny_run.h"

namespace cachet::tasks {
namespace {

constexpr int kWords = 12;

// Sentence and translation number i: the second language has the same words, the last first.
std::pair<std::string, std::string> made_pair(int i) {
  std::string source, target;
  const int length = 1 + i % 6;
  for (int place = 0; place < length; ++place) {
    const std::string number = std::to_string((i * 5 + place * (1 + i % 3)) % kWords);
    source += (place > 0 ? " a" : "a") + number;
    target = "b" + number + (place > 0 ? " " : "") + target;
  }
  return {source, target};
}

void write_pairs(const std::filesystem::path& folder, const std::string& stem, int first, int count) {
  std::ofstream source(folder / (stem + ".de")), target(folder / (stem + ".en"));
  for (int i = first; i < first + count; ++i) {
    const auto [one, other] = made_pair(i);
    source << one << '\n';
    target << other << '\n';
  }
}

class TranslationTaskTest : public test::TinyRunTest {
 protected:
  TranslationTaskTest() {
    write_pairs(folder_.path(), "train", 0, 90);
    write_pairs(folder_.path(), "valid", 90, 17);
    write_pairs(folder_.path(), "test", 110, 13);
    std::ofstream words(folder_ / "words.txt");
    words << "<eos>\t9\n";
    for (const char* language : {"a", "b"})
      for (int i = 0; i < kWords; ++i) words << language << i << "\t5\n";
    words << "<unk>\t0\n";
  }

  std::string recipe() const override {
    return R"([task]
kind = "translation"
[task.evaluation]
beam = 3
[data]
source = "de"
target = "en"
tokens = "words"
vocabulary = 26
vocabulary_file = "words.txt"
max_length = 8
max_tokens = 60
workers = 0
root = ")" +
           folder_.path().string() + R"("
[model]
name = "transformer_translation_small"
embed_dim = 16
encoder_depth = 1
decoder_depth = 1
encoder_heads = 2
decoder_heads = 2
encoder_mlp_dim = 24
decoder_mlp_dim = 24
[model.cache]
kind = "grc"
length = 4
[train]
epochs = 2
accumulate = 2
threads = 1
log_every = "2 steps"
[optimizer]
lr = 0.005
[schedule]
kind = "inverse_sqrt"
warmup = "4 steps"
)";
  }
};

TEST_F(TranslationTaskTest, TrainsEvaluatesAndReports) {
  const auto run = folder_ / "run";
  const train::Outcome outcome = trained(run, {"train.epochs=10", "model.dropout=0.0"});
  for (const char* metric : {"bleu", "bleu_stderr", "chrf", "chrf_stderr", "length_ratio", "nll", "perplexity", "loss"})
    EXPECT_TRUE(outcome.metrics.find(metric)) << metric;
  const auto events = train::read_events(train::RunFolder::open(run).metrics());
  std::vector<double> losses;
  for (const train::Event& event : events)
    if (event.kind == train::Event::Kind::step) losses.push_back(event.metrics.find("nll").value());
  ASSERT_GT(losses.size(), 4u);
  EXPECT_LT(losses.back(), 0.8 * losses.front()) << "it learns";
  const std::string log = io::read_text_file(train::RunFolder::open(run).log(), 1 << 20);
  EXPECT_NE(log.find("90 pairs"), std::string::npos) << log;
  const std::string page = io::read_text_file(train::RunFolder::open(run).report(), 1 << 24);
  for (const char* text :
       {"The worst translations", "The best translations", "BLEU by the number of words in the source",
        "Attention to the source", "nrefs:1|case:mixed", "target tokens/s", "What the model is trained on",
        "Pairs of the first step", "standard error of BLEU", " ± "})
    EXPECT_NE(page.find(text), std::string::npos) << text;
  EXPECT_EQ(page.find("bleu_stderr"), std::string::npos) << "a standard error is no curve";
}

TEST_F(TranslationTaskTest, EvaluatesByRecordsOfItsSentences) {
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"data.max_tokens=20", "task.evaluation.max_tokens=20"},
        {"data.max_tokens=20", "task.evaluation.limit=5"},
        {"task.evaluation.translate=false"}}) {
    torch::manual_seed(5);
    const auto task = plan(settings).build(Splits::test);
    task->model().eval();
    std::vector<Record> records = test::expect_records_are_the_evaluation(*task);
    const size_t translated = settings.size() == 1 ? 0 : settings[1] == "task.evaluation.limit=5" ? 5 : 13;
    EXPECT_EQ(records.size(), 13 + translated);
    const auto said = [&] {
      return test::thrown_message<std::runtime_error>([&] { test::metrics_of_records(*task, records); });
    };
    if (translated > 0) {
      const Record whole = records.back();
      records.back() = R"({"index":)" + std::to_string(records.size() - 1) + R"(,"sample":0,"translation":[26]})";
      EXPECT_NE(said().find("does not belong to this evaluation"), std::string::npos) << "no such token";
      records.back() = whole;
    }
    records.pop_back();
    EXPECT_NE(said().find("the evaluation is incomplete"), std::string::npos);
    std::swap(records[0], records[1]);
    EXPECT_NE(said().find("record 0 does not belong to this evaluation"), std::string::npos);
  }
}

TEST_F(TranslationTaskTest, ANoteWarnsOfMemoryThatTellsLengths) {
  int runs = 0;
  const auto warns = [&](const std::vector<std::string>& more) {
    std::vector<std::string> settings{"train.limit='1 step'", "task.evaluation.translate=false"};
    settings.insert(settings.end(), more.begin(), more.end());
    const auto run = folder_ / ("run-" + std::to_string(runs++));
    trained(run, settings);
    const std::string log = io::read_text_file(train::RunFolder::open(run).log(), 1 << 20);
    return log.find("which depend on the length of its sentences") != std::string::npos;
  };
  EXPECT_TRUE(warns({}));
  EXPECT_TRUE(warns({"model.cache.kind=fifo"}));
  EXPECT_FALSE(warns({"model.cache.attend=per_sample", "model.cache.inference=per_sample"}));
  EXPECT_FALSE(warns({"model.cache.kind=none"}));
}

TEST_F(TranslationTaskTest, ResumesBitByBitInMidEpochWhateverTheCacheAndTheNorm) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"model.cache.kind=fifo"}, {"model.norm.kind=un", "model.norm.warmup=3"}}) {
    const auto with = [&](const std::string& limit) {
      std::vector<std::string> settings = more;
      settings.push_back("train.limit=\"" + limit + "\"");
      return settings;
    };
    const std::string name = more.empty() ? "plain" : more[0];
    const auto whole = folder_ / (name + "-whole"), parts = folder_ / (name + "-parts");
    trained(whole, with("7 steps"));
    trained(parts, with("3 steps"));
    trained(parts, with("7 steps"));
    const auto weights = [](const std::filesystem::path& run) { return read_weights(open_saved_run(run)); };
    const io::TensorMap one = weights(whole), other = weights(parts);
    ASSERT_EQ(one.size(), other.size());
    for (const auto& [key, tensor] : one) EXPECT_TRUE(tensor.equal(other.at(key))) << name << " " << key;
  }
}

// The gradient of a step is that of the sum over its target tokens, however they are cut into micro-batches.
TEST_F(TranslationTaskTest, MicroBatchesWeighByTheirTokens) {
  const auto task = plan({"train.epochs=1"}).build();
  const auto stream = task->training_batches(0, 0);
  int64_t samples = 0, micro_batches = 0;
  double weight = 0;
  std::set<double> weights;
  while (stream->fetch()) {
    stream->prepare();
    const train::ForwardResult result = stream->forward();
    EXPECT_NEAR(result.metrics.at(0).count, result.weight, 0);
    EXPECT_EQ(result.tokens, static_cast<int64_t>(result.weight)) << "tokens of the target alone";
    EXPECT_GE(result.loss.item<double>(), 0);
    samples += result.samples;
    weight += result.weight;
    weights.insert(result.weight);
    ++micro_batches;
  }
  EXPECT_EQ(micro_batches, task->batches_per_epoch());
  EXPECT_EQ(samples, 90);
  EXPECT_GT(weights.size(), 1u);
  int64_t tokens = 0;
  for (int i = 0; i < 90; ++i) tokens += 2 + i % 6;  // its words and its end
  EXPECT_EQ(weight, static_cast<double>(tokens));
}

TEST_F(TranslationTaskTest, EvaluationsDoNotDependOnTheirBatches) {
  const auto evaluated = [&](const std::vector<std::string>& settings) {
    torch::manual_seed(5);
    const auto task = plan(settings).build(Splits::test);
    task->model().to(at::kDouble);  // no rounding decides between two words
    task->model().eval();
    train::Metrics metrics = task->evaluate([](int64_t done, int64_t total) { EXPECT_LE(done, total); });
    return std::pair(metrics, task->evaluation_details());
  };
  const auto [one, details] = evaluated({});
  const auto [other, again] = evaluated({"data.max_tokens=9", "task.evaluation.max_tokens=1"});
  for (const auto& [name, value] : one) EXPECT_NEAR(other.find(name).value(), value, 1e-4) << name;
  const auto read = translation_evaluation_from_json(details);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->translated, 13);
  EXPECT_EQ(to_json(*read), details);
  EXPECT_FALSE(translation_evaluation_from_json("{\"pairs\": 3}"));
  const std::map<std::string, nlohmann::json> written = nlohmann::json::parse(details);
  for (const auto& [key, value] : written) {
    nlohmann::json changed = written;
    changed[key] = value.is_number() ? nlohmann::json("1") : nlohmann::json(1.5);
    EXPECT_FALSE(translation_evaluation_from_json(changed.dump())) << key;
  }
  EXPECT_EQ(translation_evaluation_from_json(evaluated({"task.evaluation.limit=5"}).second)->translated, 5);
  const auto [losses, none] = evaluated({"task.evaluation.translate=false"});
  EXPECT_FALSE(losses.find("bleu"));
  EXPECT_NEAR(losses.find("nll").value(), one.find("nll").value(), 1e-9);
}

TEST_F(TranslationTaskTest, AModelWithMoreIdsThanTheTextHasWritesNoneOfThem) {
  const auto task = plan({"model.source_vocabulary=640", "model.target_vocabulary=640"}).build(Splits::test);
  task->model().eval();
  const train::Metrics metrics = task->evaluate([](int64_t, int64_t) {});
  EXPECT_TRUE(metrics.find("bleu"));
  EXPECT_EQ(translation_evaluation_from_json(task->evaluation_details())->translated, 13);
}

std::vector<TranslatedLine> lines_translated(TranslatesText& task, const std::vector<std::string>& lines,
                                             const TranslationOptions& options) {
  std::vector<TranslatedLine> seen;
  size_t next = 0;
  task.translate([&] { return next < lines.size() ? std::optional(lines[next++]) : std::nullopt; }, options,
                 [&](const TranslatedLine& line) { seen.push_back(line); });
  return seen;
}

TEST_F(TranslationTaskTest, NoLineIsLostOrMergedWhateverIsInIt) {
  torch::manual_seed(3);
  const auto task = plan().build(Splits::given);
  task->model().to(at::kDouble);
  task->model().eval();
  auto& translates = dynamic_cast<TranslatesText&>(*task);
  std::string long_line;
  for (int i = 0; i < 1000; ++i) long_line += "a" + std::to_string(i % kWords) + " ";
  const std::vector<std::string> lines{"a1 a2",
                                       "",
                                       "a3",
                                       "   ",
                                       long_line,
                                       std::string("a1\0a2", 5),
                                       "\x01\x02\t\x1b[0m",
                                       "\xff\xfe a4",
                                       "a5 a6 a7 a8 a9 a10 a11 a0 a1",
                                       "nobody knows this",
                                       ""};
  TranslationOptions options = translates.translation_options();
  const auto all = lines_translated(translates, lines, options);
  ASSERT_EQ(all.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(all[i].index, static_cast<int64_t>(i));
    EXPECT_EQ(all[i].source, lines[i]);
    EXPECT_EQ(all[i].translations.empty(), lines[i].find_first_not_of(' ') == std::string::npos) << i;
    for (const auto& each : all[i].translations) EXPECT_EQ(each.text.find_first_of("\n\r"), std::string::npos);
  }
  const auto notes = translates.notes_on_translated();
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(
      notes[0],
      "2 lines have more than 8 tokens, the maximum length of a sentence in training (first: line 5). Such lines are "
      "translated in parts, cut between words");
  // One by one, and a few tokens at once, they are the same.
  options.lines = 1;
  options.max_tokens = 1;
  const auto again = lines_translated(translates, lines, options);
  for (size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(again[i].translations.size(), all[i].translations.size());
    for (size_t n = 0; n < all[i].translations.size(); ++n) {
      EXPECT_EQ(again[i].translations[n].text, all[i].translations[n].text) << i;
      EXPECT_NEAR(again[i].translations[n].score, all[i].translations[n].score, 1e-4) << i;
    }
  }
}

TEST_F(TranslationTaskTest, SeveralTranslationsAndDrawsOfALine) {
  torch::manual_seed(3);
  const auto task = plan().build(Splits::given);
  task->model().eval();
  auto& translates = dynamic_cast<TranslatesText&>(*task);
  const std::vector<std::string> lines{"a1 a2 a3", "a1 a2 a3", "a4"};
  TranslationOptions options;
  options.beam = {.beam = 4, .n_best = 3};
  const auto searched = lines_translated(translates, lines, options);
  ASSERT_EQ(searched[0].translations.size(), 3u);
  EXPECT_GE(searched[0].translations[0].score, searched[0].translations[2].score);
  EXPECT_EQ(searched[0].translations[0].text, searched[1].translations[0].text);
  options.sampling = models::SamplingOptions{.temperature = 3};
  const auto drawn = lines_translated(translates, lines, options);
  ASSERT_EQ(drawn[0].translations.size(), 3u);
  EXPECT_NE(drawn[0].translations[0].text, drawn[1].translations[0].text) << "lines draw apart";
  options.seed = 1;
  EXPECT_NE(lines_translated(translates, lines, options)[0].translations[0].text, drawn[0].translations[0].text);
  options.beam.n_best = 5;
  EXPECT_THROW(lines_translated(translates, lines, options), std::invalid_argument);
}

TEST(PartsOfLine, AreCutBetweenWordsAndHoldAllOfThem) {
  test::TemporaryDirectory folder;
  std::ofstream(folder / "words.txt") << "<eos>\t9\na\t5\nb\t4\nc\t3\n<unk>\t1\n";
  data::ParallelOptions options;
  options.root = folder.path();
  options.source = "de";
  options.target = "en";
  options.tokens = data::ParallelTokens::words;
  options.source_vocabulary = options.target_vocabulary = {"words.txt", 5};
  const auto encoder = data::make_sentence_encoder(options, data::ParallelSide::source, folder.path());
  int64_t replaced = 0;
  const auto parts = [&](std::string_view line, int64_t most) { return parts_of_line(line, encoder, most, replaced); };
  using Parts = std::vector<std::vector<data::Token>>;
  EXPECT_EQ(parts("", 2), Parts{});
  EXPECT_EQ(parts("   ", 2), Parts{});
  EXPECT_EQ(parts("a b", 2), (Parts{{1, 2}}));
  EXPECT_EQ(parts("a b  c a b", 2), (Parts{{1, 2}, {3, 1}, {2}}));
  EXPECT_EQ(parts(" a b c ", 1), (Parts{{1}, {2}, {3}}));
  // Ten megabytes of words, and of one word.
  std::string line;
  while (line.size() < 10'000'000) line += "a b c ";
  const Parts many = parts(line, 4);
  EXPECT_EQ(many.size(), (line.size() / 2 + 3) / 4);
  EXPECT_EQ(many.front(), (std::vector<data::Token>{1, 2, 3, 1}));
  EXPECT_EQ(parts(std::string(10'000'000, 'x'), 4), (Parts{{4}}));
}

TEST_F(TranslationTaskTest, DryRunsNeedNoData) {
  std::filesystem::remove(folder_ / "train.de");
  std::filesystem::remove(folder_ / "words.txt");
  const RecipePlan made = reduced(plan());
  const auto task = made.build(Splits::synthetic);
  const DryRun cost = dry_run(*task, made.training);
  EXPECT_GT(cost.step_seconds, 0);
  EXPECT_GT(cost.evaluation_seconds, 0);
}

TEST_F(TranslationTaskTest, CanBeLookedInto) {
  trained(folder_ / "run", {"train.limit=\"4 steps\""});
  AnalysedRun run("run", folder_ / "run", {}, {8, 8, 4}, c10::kCPU);
  auto found = test::all_measured(run);
  for (const char* word : {"caches", "gates", "maps", "interventions", "similarity", "kernels"})
    EXPECT_TRUE(found.contains(word)) << word;
  const nlohmann::json& sample = found["maps"]["samples"][0];
  EXPECT_EQ(sample["tokens"].back(), "(end)");
  ASSERT_EQ(sample["maps"].size(), 3u);  // the one encoder layer's branches
  EXPECT_EQ(sample["maps"][0]["activations"].size(), sample["tokens"].size());
}

TEST_F(TranslationTaskTest, PaddingCountsInNoAnalysis) {
  trained(folder_ / "run", {"train.limit=\"4 steps\""});
  // All sentences are as long as each other with their padding, so that both have the same batches.
  AnalysedRun shorter("run", folder_ / "run", {"data.pad_multiple=8"}, {8, 8, 4}, c10::kCPU),
      longer("run", folder_ / "run", {"data.pad_multiple=32"}, {8, 8, 4}, c10::kCPU);
  const auto found = test::all_measured(shorter), padded = test::all_measured(longer);
  for (const char* word : {"caches", "maps", "interventions", "similarity", "kernels"})
    test::expect_near(padded.at(word), found.at(word), 1e-4, word);
}

TEST_F(TranslationTaskTest, WhatDoesNotFitIsSaid) {
  const auto refused = [&](const std::vector<std::string>& settings) -> std::string {
    try {
      plan(settings).build();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"data.vocabulary=27"}, "has 26 tokens, but the recipe has data.vocabulary = 27"},
      {{"model.source_vocabulary=20", "model.target_vocabulary=20"},
       "the vocabulary of the source has 26 tokens, but the model has 20; leave model.source_vocabulary out"},
      {{"model.source_length=8"}, "model.source_length: must be above data.max_length, 8"},
      {{"data.max_tokens=8"}, "the length of a sentence"},
      {{"task.label_smoothing=1.0"}, "label_smoothing"},
      {{"task.evaluation.beam=0"}, "task.evaluation.beam"},
      {{"model.name=lra_text"}, "is not a translation model"},
      {{"data.vocabulary_file=\"gone.txt\""}, "gone.txt"},
  };
  for (const auto& [settings, text] : cases)
    EXPECT_NE(refused(settings).find(text), std::string::npos) << settings[0] << ": " << refused(settings);
}

// A batch of few sentences leaves the second process without any.
TEST_F(TranslationTaskTest, IsTrainedByTwoProcesses) {
  for (const char* tokens : {"data.max_tokens=60", "data.max_tokens=9"}) {
    const RecipePlan made = plan({"model.dropout=0.0", "optimizer.kind=\"sgd\"", "optimizer.lr=0.1", tokens,
                                  "model.cache.attend=\"per_sample\""});
    test::expect_as_alone(test::train_joint_steps(made, 5, Splits::both), tokens);
  }
}

}  // namespace
}  // namespace cachet::tasks
