// Every backbone × norm × cache, small and random: a rewritten model computes what it did.
#include "cachet/deploy/rewrite.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/nn/norm/no_norm.h"
#include "tests/deploy/trained_model.h"
#include "tests/support/refused.h"
#include "tests/support/score_difference.h"

namespace cachet::deploy {
namespace {

using test::cache_settings;
using test::Settings;
using test::small_models;
using test::SmallModel;
using test::text_of;

const std::set<std::string> kOffline{"batch", "un", "mabn", "none"};

class Rewrite : public ::testing::TestWithParam<SmallModel> {};

TEST_P(Rewrite, KeepsWhatTheModelComputes) {
  const at::NoGradGuard no_grad;
  for (const std::string& norm : test::norm_kinds())
    for (Settings plug_ins : cache_settings(GetParam().has_grid)) {
      plug_ins.push_back("norm.kind=" + norm);
      SCOPED_TRACE(text_of(plug_ins));
      const auto model = trained(GetParam(), plug_ins);
      const models::Trial trial = model->trial(4, at::kDouble);
      const at::Tensor expected = trial.forward();
      const RewriteReport report = rewrite(*model, {.count_work = true});
      const test::ScoreDifference difference = test::score_difference(expected, trial.forward(), 1e-9);
      EXPECT_TRUE(difference.holds(1e-9)) << difference.largest;
      // What absorbs the shift of an online norm may get a bias that it did without.
      EXPECT_TRUE(!kOffline.contains(norm) || report.after.parameters <= report.before.parameters);
      for (const RewrittenPart& place : report.parts) {
        EXPECT_EQ(place.reason.empty(), place.gone) << place.path << ": " << place.reason;
        EXPECT_EQ(place.left.empty(), place.gone) << place.path;
        // Of windows that reach beyond the map, what fills them is more than the norm was.
        if (place.gone && norm != "none" && !GetParam().name.starts_with("swin")) {
          EXPECT_GT(place.removed.bytes, 0) << place.path;
        }
        EXPECT_TRUE(place.gone || place.kind == RewrittenPart::Kind::norm) << place.path << ": " << place.reason;
      }
      for (const auto& parameter : model->named_parameters())
        EXPECT_EQ(parameter.key().find("gate"), std::string::npos) << parameter.key();
      // Once more changes nothing: what is gone is gone.
      rewrite(*model);
      EXPECT_TRUE(test::score_difference(expected, trial.forward(), 1e-9).holds(1e-9)) << "a second time";
    }
}

TEST_P(Rewrite, LeavesNoOfflineNormButWhereZerosAreReadBeyondABorder) {
  const at::NoGradGuard no_grad;
  for (const std::string& norm : test::norm_kinds()) {
    const auto model = trained(GetParam(), {"norm.kind=" + norm});
    for (const RewrittenPart& place : rewrite(*model).parts) {
      if (!kOffline.contains(norm) || place.gone) continue;
      // Windows reach beyond the map, where the norm would have seen zeros: they keep what it made of a zero.
      const bool windows = place.reason.find("its reader needs attn.beyond") != std::string::npos;
      EXPECT_EQ(place.left, windows ? "a number for each channel" : "one affine map") << place.path;
      EXPECT_TRUE(windows || place.reason.find("beyond the border") != std::string::npos ||
                  place.reason.find("products of the outputs for two sequences") != std::string::npos)
          << place.path << ": " << place.reason;
    }
  }
}

/// Plug-ins with options of their own, an image of another size, all drawn by `random`.
Settings drawn_settings(const SmallModel& model, std::mt19937& random) {
  const auto one_of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  Settings settings{"norm.kind=" + one_of(test::norm_kinds()), "cache.kind=" + one_of({"grc", "fifo"}),
                    "cache.ratio=" + one_of({"0.5", "1"}), "cache.share_start=" + one_of({"-2", "-1", "0", "0.5"})};
  const bool reduces_memory = model.name.starts_with("pvt");  // whose memory lies on a grid
  if (random() % 2 == 0 && !reduces_memory) settings.push_back("cache.length=" + one_of({"3", "5", "8"}));
  settings.push_back("cache.positional_convolution=" + one_of({model.has_grid ? "true" : "false", "false"}));
  if (model.has_grid) settings.push_back("image_size=" + one_of({"[64, 96]", "[96, 64]", "[32, 64]", "64"}));
  return settings;
}

TEST_P(Rewrite, KeepsWhatModelsOfManyOptionsCompute) {
  const at::NoGradGuard no_grad;
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    const Settings settings = drawn_settings(GetParam(), random);
    SCOPED_TRACE(text_of(settings));
    const auto model = trained(GetParam(), settings);
    const models::Trial trial = model->trial(1 + static_cast<int64_t>(random() % 5), at::kDouble);
    const at::Tensor expected = trial.forward();
    const RewriteReport report = rewrite(*model);
    const test::ScoreDifference difference = test::score_difference(expected, trial.forward(), 1e-9);
    EXPECT_TRUE(difference.holds(1e-9)) << difference.largest;
    for (const RewrittenPart& place : report.parts)
      EXPECT_TRUE(place.gone || place.kind == RewrittenPart::Kind::norm) << place.path << ": " << place.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Rewrite, ::testing::ValuesIn(small_models()),
                         [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

TEST(RewriteOfAPyramid, KeepsItsMaps) {
  const at::NoGradGuard no_grad;
  for (const char* name : {"pvt_tiny", "pvt_v2_b0", "swin_tiny_patch4_window7_224"})
    for (const std::string& norm : test::norm_kinds()) {
      SCOPED_TRACE(std::string(name) + " " + norm);
      const auto small = std::ranges::find(small_models(), name, &SmallModel::name);
      config::Document document;
      for (const std::string& setting : small->settings) document.set("model." + setting);
      document.set("model.norm.kind=" + norm);
      document.set("model.name=" + std::string(name));
      const auto plan = models::read_feature_pyramid(document.root().table("model"));
      document.finish();
      const auto model = plan.build();
      model->to(at::kDouble);
      for (int64_t step = 0; step < 2; ++step) model->trial(3, at::kDouble).forward();
      model->eval();
      const at::Tensor images = at::randn({2, 3, 64, 64}, at::kDouble);
      const auto expected = model->features(images);
      rewrite(*model);
      const auto now = model->features(images);
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(at::allclose(now[i], expected[i], 1e-9, 1e-9)) << i;
    }
}

TEST(RewriteReport, SaysWhatWentAndWhatStayedAndWhy) {
  const SmallModel& vit = small_models().front();
  auto model = trained(vit, {"cache.kind=grc", "norm.kind=un"});
  const RewriteReport whole = rewrite(*model);
  EXPECT_EQ(report_lines(whole),
            (std::vector<std::string>{"5 norms are gone", "2 caches are gone", "2 mixing shares are gone"}));
  EXPECT_LT(whole.after.parameters, whole.before.parameters);
  auto counted = trained(vit, {"cache.kind=grc", "norm.kind=un"});
  const auto savings = report_lines(rewrite(*counted, {.count_work = true}),
                                    [](const analysis::Work& saved) { return std::to_string(saved.operations); });
  ASSERT_EQ(savings.size(), 3U);
  int64_t before = std::numeric_limits<int64_t>::max();
  for (const std::string& line : savings) {  // what saves most is first
    const size_t at = line.find("; ");
    const int64_t saved = at == std::string::npos ? 0 : std::stoll(line.substr(at + 2));
    EXPECT_LE(saved, before) << line;
    before = saved;
  }
  EXPECT_NE(savings.front().find(" gone; "), std::string::npos) << savings.front();
  EXPECT_EQ(whole.parts.front().path, "blocks.0.attn.cache");

  model = trained(vit, {"cache.kind=grc", "cache.inference=per_sample", "norm.kind=un"});
  const auto lines = report_lines(rewrite(*model));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "3 norms are gone");
  EXPECT_NE(lines[1].find("2 norms; left of each: one affine map (cached_attention: cannot fold in"), std::string::npos)
      << lines[1];
  EXPECT_NE(lines[2].find("2 caches; left of each: all of it"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("per_sample"), std::string::npos) << lines[2];

  model = trained(vit, {"norm.kind=layer"});
  EXPECT_EQ(
      report_lines(rewrite(*model)),
      (std::vector<std::string>{"5 norms; left of each: the normalisation, without its weights (the norm computes "
                                "statistics of its input): norm, …"}));
  // The first swin's windows fit the map, the second one's reach beyond it: both keep what would fill such positions.
  for (const SmallModel& small : small_models()) {
    if (small.name != "swin_tiny_patch4_window7_224") continue;
    model = trained(small, {"norm.kind=un"});
    const RewriteReport swin = rewrite(*model);
    for (const RewrittenPart& place : swin.parts) {
      const bool before_windows = place.path.ends_with("norm1");
      EXPECT_EQ(place.gone, !before_windows) << place.path;
      EXPECT_EQ(place.left, before_windows ? "a number for each channel" : "") << place.path;
      EXPECT_EQ(place.reason.find("attn.beyond") != std::string::npos, before_windows) << place.reason;
    }
  }
  model = trained(vit, {"norm.kind=un"});
  EXPECT_TRUE(rewrite(*model, {.fold = false}).parts.empty());
  model->train();
  test::expect_refused([&] { rewrite(*model); }, "call eval() first");
}

}  // namespace
}  // namespace cachet::deploy
