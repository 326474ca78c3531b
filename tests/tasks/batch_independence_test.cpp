// What evaluation makes of a sample does not depend on the other samples of its batch: every registered model, and
// every word of every key of a model, in batches of one and of several samples.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cachet/geometry/run_lengths.h"
#include "cachet/models/language/language_model.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/task.h"
#include "tests/support/mixed_scenes.h"
#include "tests/tasks/evaluation_records.h"
#include "tests/tasks/keys/key_data.h"
#include "tests/tasks/keys/key_family.h"
#include "tests/tasks/keys/known_key.h"
#include "tests/tasks/keys/model_family.h"

namespace cachet::tasks {
namespace {

using nlohmann::json;
using test::KeyFamily;
using test::KnownKey;
using test::Settings;

constexpr int64_t kMixed = 7;  // samples of a batch
// Sums of float32 that are added up in another order, through layers whose weights are drawn. A batch that is filled up
// to another length changes the third digit.
constexpr double kTolerance = 2e-4;
constexpr int64_t kBatchRows = 3;  // texts of a language model

void write_mixed(const std::filesystem::path& folder) {
  test::write_mixed_scenes(folder / "shapes", /*train=*/2, /*validation=*/7);
}

bool is_of_task(const KeyFamily& family, const std::string& kind) {
  return family.recipe.find("kind = \"" + kind + "\"") != std::string::npos;
}

/// The families. Those of detectors have pictures of several sizes. Those of sequences look at all tokens, since a
/// class token sees all keys in some attentions, and batches of them hold any lengths.
std::vector<KeyFamily> families() {
  std::vector<KeyFamily> all = test::key_families();
  for (KeyFamily& family : all) {
    if (is_of_task(family, "detection")) {
      family.name += "_of_mixed_pictures";
      family.write_data = write_mixed;
    }
    if (is_of_task(family, "sequence_classification")) {
      const std::string data = "[data]\n", last = "mlp_dim = 16\n";
      family.recipe.insert(family.recipe.find(last) + last.size(), "pooling = \"mean\"\n");
      family.recipe.insert(family.recipe.find(data) + data.size(), "bucket_batches = 0\n");
    }
  }
  return all;
}

const KeyFamily& family_of(const std::string& name) {
  static const std::vector<KeyFamily> all = families();
  return *std::ranges::find_if(all, [&](const KeyFamily& family) { return family.name.starts_with(name); });
}

/// Weights that hide nothing: no layer, cache or statistic is left at zero or one. The same for models of one form.
void stir(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  at::manual_seed(3);
  for (const at::Tensor& parameter : model.parameters()) parameter.add_(at::randn_like(parameter), 0.05);
  for (const at::Tensor& buffer : model.buffers())
    if (buffer.is_floating_point()) buffer.add_(at::randn_like(buffer).abs(), 0.2);
}

RecipePlan plan_of(const KeyFamily& family, const Settings& settings) {
  config::Document document = test::document_of(family, settings);
  return read_recipe(document);
}

std::unique_ptr<Task> stirred_task(const RecipePlan& plan) {
  at::manual_seed(1);
  auto task = plan.build(Splits::test);
  task->model().eval();
  stir(task->model());
  return task;
}

/// What an evaluation in batches of `batch` samples keeps of each sample.
std::map<std::string, json> answers(const KeyFamily& family, Settings settings, int64_t batch) {
  const RecipePlan plan = plan_of(family, settings);
  for (const std::string& setting : plan.task->settings_for_batches_of(batch)) settings.push_back(setting);
  if (plan.task->profile().kind == "translation") {
    settings.push_back("task.evaluation.translate=true");
    settings.push_back("task.evaluation.max_tokens=" + std::to_string(batch == 1 ? 1 : 1000));  // of such a batch
  }
  const auto task = stirred_task(plan_of(family, settings));
  std::map<std::string, json> all;
  for (const Record& record : test::evaluation_records(*task)) {
    json read = json::parse(record);
    const std::string sample = (read.contains("sample") ? read["sample"] : read["index"]).dump();
    read.erase("index");
    EXPECT_TRUE(all.emplace((read.contains("translation") ? "translation " : "sample ") + sample, read).second);
  }
  return all;
}

/// Whether few pixels of two masks differ: those at the border, where a score is near one half.
bool nearly_the_same_mask(const json& one, const json& other) {
  const auto mask_of = [](const json& mask) {
    const geometry::Size size{mask["size"][0].get<int64_t>(), mask["size"][1].get<int64_t>()};
    return geometry::RunLengths::from_text(size, mask["counts"].get<std::string>());
  };
  const geometry::RunLengths a = mask_of(one), b = mask_of(other);
  if (a.size() != b.size()) return false;
  const int64_t differing = a.area() + b.area() - 2 * geometry::shared_pixels(a, b);
  return differing <= 2 + a.area() / 50;
}

std::string difference(const json& one, const json& other);

/// Detections of nearly the same score may stand in another order.
std::string difference_of_detections(const json& one, const json& other) {
  constexpr size_t kFarthest = 3;
  for (size_t i = 0; i < one.size(); ++i) {
    bool found = false;
    for (size_t j = i - std::min(i, kFarthest); !found && j < std::min(one.size(), i + kFarthest + 1); ++j)
      found = difference(one[i], other[j]).empty();
    if (!found) return std::to_string(i) + "." + difference(one[i], other[i]);
  }
  return {};
}

/// Where two answers differ; empty if they are the same within the tolerance.
std::string difference(const json& one, const json& other) {
  if (one.is_number() && other.is_number()) {
    const auto a = one.get<double>(), b = other.get<double>();
    if (std::abs(a - b) <= kTolerance * std::max(1.0, std::abs(a))) return {};
  } else if (one.is_object() && other.is_object() && one.contains("counts") && other.contains("counts")) {
    if (nearly_the_same_mask(one, other)) return {};
  } else if (one.is_array() && other.is_array() && one.size() == other.size()) {
    if (!one.empty() && one[0].contains("score")) return difference_of_detections(one, other);
    for (size_t i = 0; i < one.size(); ++i)
      if (const std::string found = difference(one[i], other[i]); !found.empty())
        return std::to_string(i) + "." + found;
    return {};
  } else if (one.is_object() && other.is_object() && one.size() == other.size()) {
    for (const auto& [key, value] : one.items())
      if (const std::string found = difference(value, other.contains(key) ? other[key] : json()); !found.empty())
        return key + "." + found;
    return {};
  } else if (one == other) {
    return {};
  }
  return " " + one.dump().substr(0, 200) + " alone, " + other.dump().substr(0, 200) + " in a batch";
}

void expect_the_same_answers(const KeyFamily& family, const Settings& settings) {
  const auto alone = answers(family, settings, 1), mixed = answers(family, settings, kMixed);
  ASSERT_EQ(alone.size(), mixed.size());
  ASSERT_GT(alone.size(), 4U);
  for (const auto& [sample, answer] : alone) EXPECT_EQ(difference(answer, mixed.at(sample)), "") << sample;
}

/// The losses of two segments of some texts.
at::Tensor losses_of_texts(models::LanguageModel& model, const models::SegmentOptions& segments, const at::Tensor& ids,
                           int64_t segment_length) {
  models::LanguageSession stream = model.make_session(ids.size(0), segments);
  std::vector<at::Tensor> losses;
  for (int64_t first = 0; first + segment_length < ids.size(1); first += segment_length)
    losses.push_back(model.negative_log_likelihood(ids.narrow(1, first, segment_length).contiguous(),
                                                   ids.narrow(1, first + 1, segment_length).contiguous(), stream));
  return at::cat(losses, 1);
}

void expect_the_same_losses(const RecipePlan& plan) {
  const auto task = stirred_task(plan);
  auto& model = dynamic_cast<models::LanguageModel&>(task->model());
  const at::NoGradGuard no_grad;
  const models::LanguageShape shape = model.language_shape();
  const at::Tensor ids = at::randint(shape.vocabulary, {kBatchRows, 3 * shape.target_length + 1}, at::kLong);
  const at::Tensor together = losses_of_texts(model, model.segments(), ids, shape.target_length);
  for (int64_t batch_row = 0; batch_row < kBatchRows; ++batch_row) {
    const at::Tensor alone =
        losses_of_texts(model, model.segments(), ids.narrow(0, batch_row, 1).contiguous(), shape.target_length);
    EXPECT_TRUE(at::allclose(alone, together.narrow(0, batch_row, 1), kTolerance, kTolerance)) << "text " << batch_row;
  }
}

void expect_no_dependence(const KeyFamily& family, const Settings& settings) {
  SCOPED_TRACE(family.name + " " + test::list_of(settings));
  const RecipePlan plan = plan_of(family, settings);
  if (dynamic_cast<models::LanguageModel*>(plan.model().build().get()) != nullptr)
    expect_the_same_losses(plan);
  else
    expect_the_same_answers(family, settings);
}

TEST(BatchIndependence, OfEachRegisteredModel) {
  const std::vector<KeyFamily> all = families();
  for (const std::string& model : models::model_names()) {
    SCOPED_TRACE(model);
    const auto family = test::family_for(model, all);
    if (!family) {
      ADD_FAILURE() << "there is no tiny recipe for this model: add one to test::family_for()";
      continue;
    }
    expect_no_dependence(*family, {});
  }
}

/// Keys that have to be small for sequences of a few tokens to have several blocks or chunks.
Settings small_patterns(const std::vector<KnownKey>& keys, const Settings& context) {
  Settings settings;
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"block_size", "2"}, {"chunk_size", "2"}, {"buckets", "4"}, {"window", "1"}, {"random_blocks", "1"}})
    for (const KnownKey& key : keys)
      if (key.context == context && key.path.starts_with("model.attention.") && key.path.ends_with("." + name))
        settings.push_back(key.path + "=" + value);
  return settings;
}

class BatchIndependenceRobustness : public ::testing::TestWithParam<KeyFamily> {};

// Words that ask for it: the rule of version 0.1.0, and one cache for all texts that is written while they are read.
bool is_of_the_batch(const KnownKey& key, const std::string& word) {
  return (key.path.ends_with(".pattern_length") && word == "\"batch\"") ||
         (key.path == "model.cache.inference" && word == "\"updated\"");
}

TEST_P(BatchIndependenceRobustness, OfEachWordOfAModel) {
  const KeyFamily& family = GetParam();
  const std::vector<KnownKey> keys = test::known_keys(family);
  int tried = 0;
  for (const KnownKey& key : keys) {
    if (!key.path.starts_with("model.")) continue;
    for (const std::string& word : key.words) {
      if (family.elsewhere.contains(key.path + "=" + word) || is_of_the_batch(key, word)) continue;
      Settings settings = test::settings_of(family, key, word);
      for (std::string& setting : small_patterns(keys, settings)) settings.push_back(std::move(setting));
      try {
        plan_of(family, settings);
      } catch (const std::exception&) {
        continue;  // words that do not go together are refused
      }
      ++tried;
      expect_no_dependence(family, settings);
    }
  }
  EXPECT_GT(tried, 2);
}

INSTANTIATE_TEST_SUITE_P(Families, BatchIndependenceRobustness, ::testing::ValuesIn(families()),
                         [](const auto& test) { return test.param.name; });

/// The rule of version 0.1.0 shows that the comparison sees what depends on a batch.
TEST(BatchIndependence, IsNotThatOfTheEarlierRule) {
  const KeyFamily& family = family_of("listops");
  for (Settings settings :
       {Settings{"model.attention.kind=bigbird", "model.attention.block_size=2", "model.attention.window=1"},
        {"model.attention.kind=reformer", "model.attention.chunk_size=2", "model.attention.buckets=4"},
        {"model.attention.kind=local", "model.attention.window=1", "model.cache.kind=grc", "model.cache.length=9"}}) {
    SCOPED_TRACE(test::list_of(settings));
    expect_the_same_answers(family, settings);
    settings.push_back("model.attention.pattern_length=batch");
    const auto alone = answers(family, settings, 1), mixed = answers(family, settings, kMixed);
    EXPECT_TRUE(std::ranges::any_of(
        alone, [&](const auto& answer) { return !difference(answer.second, mixed.at(answer.first)).empty(); }));
  }
}

/// A cache that is as long as the text shows where queries stand in it.
TEST(BatchIndependence, OfEachAttentionWithACacheOfItsOwnLength) {
  for (const char* name : {"listops", "matching", "translation"}) {
    const KeyFamily& family = family_of(name);
    for (const KnownKey& kind : test::known_keys(family)) {
      if (kind.path != "model.attention.kind") continue;
      for (const std::string& word : kind.words)
        for (const std::string cache : {"grc", "fifo"}) {
          Settings settings = test::settings_of(family, kind, word);
          for (const Settings& pattern : {Settings{"model.attention.block_size=2"},
                                          {"model.attention.chunk_size=2"},
                                          {"model.attention.window=1"}}) {
            Settings more = settings;
            more.insert(more.end(), pattern.begin(), pattern.end());
            try {
              plan_of(family, more);
              settings = more;
            } catch (const std::exception&) {  // a key of another attention
            }
          }
          for (const std::string& setting : {"model.cache.kind=\"" + cache + "\"", std::string("model.cache.length=9"),
                                             std::string("model.cache.positional_convolution=false")})
            settings.push_back(setting);
          expect_no_dependence(family, settings);
        }
    }
  }
}

}  // namespace
}  // namespace cachet::tasks
