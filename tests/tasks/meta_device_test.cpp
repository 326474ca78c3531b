#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/analysis/cost/meta_kernels.h"
#include "cachet/nn/norm/norm_options.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/plug_in_series.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/step/step_graphs.h"
#include "tests/support/meta_device_step.h"
#include "tests/support/meta_run.h"

// A training step and an evaluation of every family of models with every plug-in leave no tensor on the CPU, and all
// steps can be captured as CUDA graphs.
namespace cachet::tasks {
namespace {

using Settings = std::vector<std::string>;

constexpr const char* kMetaImages = R"([data]
kind = "cifar10"
[data.mixing]
mixup = 0.2
cutmix = 0.5
label_smoothing = 0.1
[data.augmentation]
flip = 0.5
[data.outliers]
probability = 1
[model]
dropout = 0.1
stochastic_depth = 0.1
[train]
batch_size = 4
clip_norm = 1.0
)";

constexpr const char* kMetaSequences = R"([task]
kind = "sequence_classification"
label_smoothing = 0.1
[data]
root = "nowhere"
max_length = 24
pad_to = "max_length"
[model]
dropout = 0.1
[train]
batch_size = 4
clip_norm = 1.0
)";

struct MetaFamily {
  std::string name;
  const char* recipe;
  Settings model;
  bool takes_functions = true;  // of attention, other than softmax
  bool has_grid = true;         // for positional convolutions
};

void PrintTo(const MetaFamily& family, std::ostream* out) { *out << family.name; }

std::vector<MetaFamily> meta_families() {
  const auto with = [](Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  const Settings vit{"model.image_size=32", "model.patch_size=8", "model.embed_dim=16",
                     "model.depth=2",       "model.num_heads=2",  "model.mlp_ratio=1"};
  const Settings pvt{"model.image_size=64", "model.embed_dims=[8, 16, 16, 32]", "model.depths=[1, 1, 1, 1]",
                     "model.num_heads=[1, 2, 2, 4]", "model.mlp_ratios=[1, 1, 1, 1]"};
  const Settings t2t{"model.image_size=32", "model.embed_dim=16", "model.depth=2",
                     "model.num_heads=2",   "model.mlp_ratio=1",  "model.token_dim=8"};
  const Settings swin{"model.image_size=64",          "model.embed_dim=8",   "model.depths=[2, 2, 1, 1]",
                      "model.num_heads=[1, 2, 2, 4]", "model.window_size=4", "model.mlp_ratio=1"};
  const Settings lra{"model.embed_dim=16", "model.depth=2", "model.num_heads=2", "model.mlp_dim=16"};
  return {
      {"vit", kMetaImages, with(vit, {"model.name=vit_tiny_patch16_224"})},
      {"deit_distilled", kMetaImages, with(vit, {"model.name=deit_tiny_distilled_patch16_224"})},
      {"pvt", kMetaImages, with(pvt, {"model.name=pvt_tiny"})},
      {"pvt_v2", kMetaImages, with(pvt, {"model.name=pvt_v2_b0"})},
      {"pvt_v2_linear", kMetaImages, with(pvt, {"model.name=pvt_v2_b2_li"})},
      {"swin", kMetaImages, with(swin, {"model.name=swin_tiny_patch4_window7_224"}), /*takes_functions=*/false},
      {"t2t_performer", kMetaImages, with(t2t, {"model.name=t2t_vit_14"})},
      {"t2t_transformer", kMetaImages, with(t2t, {"model.name=t2t_vit_t_14"})},
      {"lra_text", kMetaSequences, with(lra, {"data.kind=imdb", "model.name=lra_text"}), true, /*has_grid=*/false},
      {"lra_matching", kMetaSequences, with(lra, {"data.kind=matching", "model.name=lra_matching"}), true, false},
  };
}

/// Returns the reason why the steps of a plan cannot be captured, or the faults of these steps on the meta device.
std::set<std::string> faults_of_capture(const RecipePlan& plan, int64_t past = 0) {
  const auto task = plan.build(Splits::synthetic);
  if (auto reason = train::why_not_replayed(*task, plan.training, /*processes=*/1)) return {*std::move(reason)};
  return test::faults_of_device_steps(*task, plan.training, past);
}

class MetaDevice : public ::testing::TestWithParam<MetaFamily> {
 protected:
  static void SetUpTestSuite() { analysis::register_meta_kernels(); }

  static RecipePlan plan_with(const Settings& plug_ins) {
    config::Document document = config::Document::from_text(GetParam().recipe, GetParam().name);
    for (const Settings& settings : {GetParam().model, plug_ins})
      for (const std::string& setting : settings) document.set(setting);
    return reduced(read_recipe(document, data::DataRoot::optional));
  }

  void expect_nothing_left(const Settings& plug_ins) {
    std::string what;
    for (const std::string& setting : plug_ins) what += setting + " ";
    const RecipePlan plan = plan_with(plug_ins);
    const auto task = plan.build(Splits::synthetic);
    EXPECT_EQ(test::left_on_the_cpu(*task, plan.training), std::set<std::string>{}) << what;
    const std::set<std::string> faults = faults_of_capture(plan);
    EXPECT_EQ(faults, std::set<std::string>{}) << what;
    if (faults.empty()) ++captured_;
  }

  /// Checks the number of combinations whose steps can be captured.
  void expect_captured(int count) const {
    EXPECT_EQ(captured_, count);
    RecordProperty("captured", captured_);
  }

  static Settings cache(const std::string& kind) {
    if (kind == "paper") return {"model.cache.kind=grc"};
    if (kind == "concatenated" && GetParam().has_grid) return {"model.cache.kind=concatenated"};
    if (kind == "fifo")
      return GetParam().has_grid ? Settings{"model.cache.kind=fifo"}
                                 : Settings{"model.cache.kind=fifo", "model.cache.positional_convolution=false"};
    if (kind != "official") return {};
    Settings settings{"model.cache.kind=grc", "model.cache.variant=official"};
    if (!GetParam().has_grid) settings.push_back("model.cache.positional_convolution=false");
    return settings;
  }

 private:
  int captured_ = 0;
};

TEST_P(MetaDevice, HasAllOfEachCache) {
  for (const char* kind : {"none", "paper", "official", "fifo", "concatenated"}) expect_nothing_left(cache(kind));
  expect_captured(5);
}

TEST_P(MetaDevice, HasAllOfEachNorm) {
  for (const nn::NormRow* kind : nn::norm_kinds()) {
    Settings settings = cache("paper");
    settings.push_back("model.norm.kind=" + kind->name);
    if (kind->name == "group") settings.push_back("model.norm.groups=1");  // of few channels
    expect_nothing_left(settings);
  }
  expect_captured(static_cast<int>(std::ssize(nn::norm_kinds())));
}

TEST_P(MetaDevice, HasAllOfEachAttentionFunction) {
  const std::string kind = "model.attention.kind=";
  for (const Settings& function :
       {Settings{kind + "elu"}, Settings{kind + "kernel", "model.attention.form=glu"},
        Settings{kind + "kernel", "model.attention.form=oglu", "model.attention.penalty=0.1"},
        Settings{kind + "performer"}, Settings{kind + "bigbird", "model.attention.block_size=4"},
        Settings{kind + "reformer", "model.attention.chunk_size=4", "model.attention.buckets=4"},
        Settings{kind + "local", "model.attention.window=3"}}) {
    Settings settings = cache("paper");
    settings.insert(settings.end(), function.begin(), function.end());
    if (GetParam().takes_functions)
      expect_nothing_left(settings);
    else
      EXPECT_THROW(plan_with(settings), config::Error) << function.front();
  }
  expect_captured(GetParam().takes_functions ? 7 : 0);
}

constexpr const char* kMetaText = R"([task]
kind = "language_modelling"
[data]
root = "nowhere"
vocabulary = 13
[model]
name = "transformer_xl_small"
dropout = 0.1
embed_dim = 16
depth = 2
num_heads = 2
mlp_dim = 24
target_length = 8
[train]
batch_size = 4
clip_norm = 1.0
)";

constexpr const char* kMetaPairs = R"([task]
kind = "translation"
[data]
root = "nowhere"
source = "de"
target = "en"
tokens = "words"
vocabulary = 26
max_length = 8
max_tokens = 60
[model]
name = "transformer_translation_small"
dropout = 0.1
embed_dim = 16
encoder_depth = 1
decoder_depth = 1
encoder_heads = 2
decoder_heads = 2
encoder_mlp_dim = 24
decoder_mlp_dim = 24
[train]
clip_norm = 1.0
)";

struct MetaText {
  std::string name;
  const char* recipe;
  Settings settings;
  std::set<std::string> faults = {};
  int64_t past = 0;                       // micro-batches
  std::set<std::string> of_capture = {};  // faults_of_capture()
};

void PrintTo(const MetaText& text, std::ostream* out) { *out << text.name; }

// After so many micro-batches a memory is full, and the whole past is long.
constexpr int64_t kLongPast = 1000;

class MetaTexts : public ::testing::TestWithParam<MetaText> {};

TEST_P(MetaTexts, StepsReadAndUploadNothing) {
  analysis::register_meta_kernels();
  config::Document document = config::Document::from_text(GetParam().recipe, GetParam().name);
  for (const std::string& setting : GetParam().settings) document.set(setting);
  const RecipePlan plan = reduced(read_recipe(document, data::DataRoot::optional));
  {
    const auto task = plan.build(Splits::synthetic);
    const test::MetaDeviceCompleted completed;
    test::put_on_meta(task->model());
    EXPECT_EQ(test::faults_of_step(*task, plan.training, GetParam().past), GetParam().faults);
  }
  EXPECT_EQ(faults_of_capture(plan, GetParam().past), GetParam().of_capture);
}

// Enough passes for a test of normality. All that a run logs of its plug-ins is there: gates, caches, norms with a
// threshold for each channel, and the normality of their statistics.
TEST(MetaObservation, OfAllPlugInsIsOneReadOfTheDevice) {
  analysis::register_meta_kernels();
  config::Document document = config::Document::from_text(kMetaImages, "observed");
  for (const char* setting : {"model.name=vit_tiny_patch16_224", "model.image_size=32", "model.patch_size=8",
                              "model.embed_dim=16", "model.depth=3", "model.num_heads=2", "model.mlp_ratio=1",
                              "model.cache.kind=grc", "model.norm.kind=un", "model.norm.threshold=channel"})
    document.set(setting);
  const RecipePlan plan = reduced(read_recipe(document, data::DataRoot::optional));
  const auto task = plan.build(Splits::synthetic);
  constexpr int64_t kPasses = 8;
  task->record_normality(kPasses);
  const test::MetaDeviceCompleted completed;
  test::put_on_meta(task->model());
  for (int pair_of_steps = 0; pair_of_steps < kPasses / 2; ++pair_of_steps)
    EXPECT_EQ(test::faults_of_step(*task, plan.training), std::set<std::string>{});
  const test::HostCopiesCounted reads;
  const auto series = task->observe();
  EXPECT_EQ(test::HostCopiesCounted::count(), 1);
  const auto of_kind = [&](std::string_view kind) {
    return std::ranges::count_if(series, [&](const train::Series& one) { return one.name.starts_with(kind); });
  };
  for (const std::string_view kind : {kShareSeries, kCacheSizeSeries}) EXPECT_EQ(of_kind(kind), 3) << kind;
  for (const std::string_view kind : {kUnifiedNormSeries, kFilteredChannelsSeries, kNormalitySeries})
    EXPECT_EQ(of_kind(kind), 7) << kind;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, MetaTexts,
    ::testing::Values(
        MetaText{"transformer_xl", kMetaText, {}, {}, kLongPast},
        MetaText{"no_memory", kMetaText, {"model.memory_length=0"}},
        MetaText{"memory_tokens", kMetaText, {"model.memory_tokens=2"}, {}, kLongPast},
        MetaText{"grc", kMetaText, {"model.cache.kind=grc", "model.cache.length=4"}},
        MetaText{"grc_per_row", kMetaText, {"model.cache.kind=grc", "model.cache.length=4", "model.cache.scope=lane"}},
        MetaText{"fifo", kMetaText, {"model.cache.kind=fifo", "model.cache.length=4"}},
        MetaText{"kernels",
                 kMetaText,
                 {"model.name=causal_transformer_small", "model.whole_past=true", "model.attention.kind=kernel",
                  "model.attention.form=glu"},
                 // Absolute positions of the whole past are others in each step, and made on the host.
                 {"forward() uploaded a tensor"},
                 kLongPast,
                 {"the position in the text is a number on the host (whole_past)"}},
        MetaText{"translation", kMetaPairs, {}},
        MetaText{"translation_grc", kMetaPairs, {"model.cache.kind=grc", "model.cache.length=4"}},
        MetaText{"translation_un", kMetaPairs, {"model.norm.kind=un"}}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Families, MetaDevice, ::testing::ValuesIn(meta_families()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace cachet::tasks
