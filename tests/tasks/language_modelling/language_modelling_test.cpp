#include "cachet/tasks/language_modelling/language_modelling.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numbers>
#include <stdexcept>

#include "cachet/data/text/corpora/token_file.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/io/files/read_file.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/run_folder.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/evaluation_records.h"
#include "tests/tasks/joint_steps.h"
#include "tests/tasks/tiny_run.h"

namespace cachet::tasks {
namespace {

constexpr int kTextWords = 11;

// Words that follow from each other, in lines of one to nine.
void write_text(const std::filesystem::path& file, int lines, int first) {
  std::ofstream out(file);
  for (int line = 0; line < lines; ++line) {
    for (int place = 0; place <= line % 9; ++place)
      out << "word" << (first + 2 * line + place * place) % kTextWords << ' ';
    out << '\n';
  }
}

class LanguageModellingTest : public test::TinyRunTest {
 protected:
  LanguageModellingTest() {
    write_text(folder_ / "train.txt", 120, 0);
    write_text(folder_ / "valid.txt", 40, 5);
    write_text(folder_ / "test.txt", 41, 9);
    std::ofstream words(folder_ / "words.txt");
    words << "<eos>\t120\n";
    for (int i = 0; i < kTextWords; ++i) words << "word" << i << "\t50\n";
    words << "<unk>\t0\n";
  }

  std::string recipe() const override {
    return R"([task]
kind = "language_modelling"
[task.evaluation]
lanes = 3
samples = 1
[data]
vocabulary = 13
workers = 0
root = ")" +
           folder_.path().string() + R"("
[model]
name = "transformer_xl_small"
embed_dim = 16
depth = 2
num_heads = 2
mlp_dim = 24
target_length = 8
cutoffs = [6]
[train]
epochs = 2
batch_size = 4
threads = 1
log_every = "4 steps"
[optimizer]
lr = 0.005
[schedule]
kind = "constant"
)";
  }
};

TEST_F(LanguageModellingTest, DistancesAreNotClampedWherePositionsAreAbsolute) {
  const std::string said = test::thrown_message<config::Error>([&] {
    plan({"model.name=causal_transformer_small", "task.evaluation.clamp_length=8"});
  });
  EXPECT_NE(said.find("task.evaluation.clamp_length: must be 0, because it needs relative positions, and the model's "
                      "positions are absolute"),
            std::string::npos)
      << said;
}

TEST_F(LanguageModellingTest, TellsTheErrorOfWhatItMeasures) {
  const auto run = folder_ / "run";
  const train::Outcome outcome = trained(run);
  const double perplexity = outcome.metrics.find("perplexity").value(), loss = outcome.metrics.find("loss").value();
  const double error = outcome.metrics.find("loss_stderr").value();
  EXPECT_GT(error, 0);
  EXPECT_LT(error, loss);
  EXPECT_NEAR(outcome.metrics.find("perplexity_stderr").value(), perplexity * error, 1e-12);
  const std::string page = io::read_text_file(train::RunFolder::open(run).report(), 1 << 24);
  EXPECT_NE(page.find(" ± "), std::string::npos);
  for (const char* name : {"perplexity_stderr", "loss_stderr", "bits_per_byte_stderr"})
    EXPECT_EQ(page.find(name), std::string::npos) << name << " is no curve of its own";
}

// Whatever a model carries from segment to segment is there again when an evaluation continues in the middle.
TEST_F(LanguageModellingTest, EvaluatesByRecordsOfItsSegments) {
  const std::vector<std::vector<std::string>> models{
      {"model.memory_length=12"},
      {"model.memory_length=0"},
      {"model.memory_length=0", "model.cache.kind=grc", "model.cache.inference=updated"},
      {"model.memory_length=0", "model.cache.kind=grc", "model.cache.scope=lane", "model.cache.inference=updated"},
      {"model.memory_length=0", "model.memory_tokens=2", "model.memory_tokens_recurrent=true"},
      {"model.name=causal_transformer_small", "model.whole_past=true", "model.attention.kind=kernel",
       "model.attention.form=glu", "model.attention.layers=2"}};
  for (const std::vector<std::string>& settings : models) {
    SCOPED_TRACE(settings.back());
    const auto task = plan(settings).build(Splits::test);
    task->model().eval();
    std::vector<Record> records = test::expect_records_are_the_evaluation(*task);
    EXPECT_GT(records.size(), 5U);
    records.pop_back();
    EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
                test::metrics_of_records(*task, records);
              }).find("the evaluation is incomplete"),
              std::string::npos);
  }
}

TEST_F(LanguageModellingTest, AModelWithMoreIdsThanTheTextHasWritesNoneOfThem) {
  const std::vector<std::string> padded{"model.vocabulary=640", "task.evaluation.samples=3", "train.limit=2 steps"};
  EXPECT_EQ(trained(folder_ / "run", padded).ending, train::StopReason::finished);
  const auto task = plan(padded).build(Splits::test);
  task->model().eval();
  int64_t pieces = 0;
  dynamic_cast<LanguageModelling&>(*task).generate("word3 word5", {.tokens = 30},
                                                   [&](const std::string&) { ++pieces; });
  EXPECT_GT(pieces, 0);
}

class ByteModellingTest : public LanguageModellingTest {
 protected:
  std::string recipe() const override {
    std::string text = LanguageModellingTest::recipe();
    const std::string words = "vocabulary = 13\n";
    return text.replace(text.find(words), words.size(), "tokens = \"bytes\"\n");
  }
};

TEST_F(ByteModellingTest, BitsPerByteOfATextThatIsCutAreCounted) {
  const train::Outcome outcome = trained(folder_ / "run", {"data.limit=200", "train.limit=2 steps"});
  EXPECT_EQ(outcome.ending, train::StopReason::finished);
  const double bits = outcome.metrics.find("bits_per_byte").value();
  EXPECT_NEAR(bits, outcome.metrics.find("loss").value() / std::numbers::ln2, 1e-12) << "a token is a byte";
  EXPECT_EQ(outcome.metrics.find("bits_per_character"), bits) << "all of it is ASCII";
}

// The earlier rule chooses the best checkpoint; today's number is shown with it.
TEST_F(ByteModellingTest, AnOlderRunKeepsTheRuleThatChoosesItsBestCheckpoint) {
  config::Document older = document(), newer = document();
  train::set_earlier_options(older, {{"task.kind", "\"language_modelling\""}});
  const auto evaluated = [](config::Document& read) {
    const at::NoGradGuard no_grad;
    const auto task = read_recipe(read).build();
    task->model().eval();
    return task->evaluate([](int64_t, int64_t) {});
  };
  const train::Metrics old_rule = evaluated(older), new_rule = evaluated(newer);
  EXPECT_TRUE(old_rule.find("bits_per_byte"));
  EXPECT_TRUE(old_rule.find("bits_per_coded_byte"));
  EXPECT_FALSE(new_rule.find("bits_per_coded_byte"));
  const std::vector<train::EarlierRule> rules = train::earlier_rules(older);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].key, "task.evaluation.bits_of");
}

TEST_F(ByteModellingTest, AnEvaluationWithoutTheMetricThatDecidesIsRefusedAtTheStart) {
  data::TokenFileWriter file(folder_ / "validation.tokens-cachet", data::ByteEncoder().vocabulary());
  file.add(std::vector<data::Token>(300, 98));
  file.finish();  // without the size of the text
  EXPECT_EQ(test::thrown_message<std::exception>([&] { plan().build(); }), "(nothing thrown)")
      << "bytes tell their text";
  const std::string said =
      test::thrown_message<std::exception>([&] { plan({"task.evaluation.bits_of=\"whole_text\""}).build(); });
  EXPECT_NE(said.find("validation.tokens-cachet"), std::string::npos) << said;
  EXPECT_NE(said.find("text"), std::string::npos) << said;
}

TEST_F(LanguageModellingTest, IsTrainedByTwoProcesses) {
  for (const char* memory : {"model.memory_length=12", "model.memory_length=0"}) {
    const RecipePlan made =
        plan({"model.dropout=0.0", "optimizer.kind=\"sgd\"", "optimizer.lr=0.05", "train.batch_size=5", memory});
    test::expect_as_alone(test::train_joint_steps(made, 6, Splits::both), memory);
  }
}

}  // namespace
}  // namespace cachet::tasks
