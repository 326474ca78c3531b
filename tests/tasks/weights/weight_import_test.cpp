#include "cachet/tasks/weights/weight_import.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/nn/norm/unified_norm.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/table_fitting.h"
#include "cachet/tasks/weights/weight_export.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using Settings = std::vector<std::string>;

const Settings kSmall = {"model.image_size=32", "model.patch_size=8", "model.embed_dim=16",
                         "model.depth=2",       "model.num_heads=2",  "model.classes=5"};

struct SmallModel {
  config::Document recipe;
  models::ImageClassifierPlan plan;
  std::shared_ptr<models::ImageClassifier> model;
};

SmallModel model_with(const std::string& name, const Settings& settings) {
  SmallModel small;
  small.recipe.set("model.name=" + name);
  for (const std::string& setting : settings) small.recipe.set(setting);
  small.plan = models::read_image_classifier(small.recipe.root().table("model"));
  small.recipe.finish();
  small.model = small.plan.build();
  small.model->eval();
  return small;
}

SmallModel small_model(const Settings& more = {}, const std::string& name = "deit_tiny_patch16_224") {
  Settings settings = kSmall;
  settings.insert(settings.end(), more.begin(), more.end());
  return model_with(name, settings);
}

// The file that a small model's weights lie in, changed first.
std::filesystem::path saved(
    const test::TemporaryDirectory& folder, const SmallModel& small,
    const std::function<void(io::TensorMap&)>& change = [](auto&) {}) {
  io::TensorMap weights = io::state_dict(*small.model);
  change(weights);
  io::write_safetensors(folder / "weights.safetensors", weights);
  return folder / "weights.safetensors";
}

std::vector<std::string> fresh_names(const WeightImportReport& report) {
  std::vector<std::string> names;
  for (const auto& each : report.fresh) names.push_back(each.name);
  return names;
}

TEST(WeightImport, FillsTheSameModelBitForBit) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model(), target = small_model();
  const WeightImportReport report = import_weights(*target.model, saved(folder, source));
  EXPECT_EQ(report.loaded.size(), io::state_dict(*source.model).size());
  EXPECT_TRUE(report.fresh.empty() && report.missing.empty() && report.left_over.empty() && report.resized.empty());
  const at::Tensor images = at::rand({2, 3, 32, 32});
  EXPECT_TRUE(at::equal(source.model->forward(images), target.model->forward(images)));
  EXPECT_EQ(report_lines(report, "w.safetensors").size(), 1U);
}

TEST(WeightImport, RefusesAPartialLoadUnlessAskedForOne) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model(), target = small_model();
  const auto path = saved(folder, source, [](io::TensorMap& weights) {
    weights.erase("blocks.1.mlp.fc1.bias");
    weights["blocks.0.ls1.gamma"] = at::ones({16});
    weights["norm.bias"] = at::ones({8});
  });
  const io::TensorMap before = io::state_dict(*small_model().model);
  const at::Tensor head = io::state_dict(*target.model).at("head.weight").clone();
  const std::string message = test::thrown_message<io::Error>([&] { import_weights(*target.model, path); });
  for (const char* part :
       {"1 missing (blocks.1.mlp.fc1.bias)", "1 of another shape (norm.bias is [8], but the model has [16])",
        "1 left over (blocks.0.ls1.gamma)", "If you ask for a partial load"})
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  EXPECT_TRUE(at::equal(io::state_dict(*target.model).at("head.weight"), head)) << "the model was changed";
  WeightImportOptions options;
  options.partial = true;
  const WeightImportReport report = import_weights(*target.model, path, options);
  EXPECT_EQ(report.missing, (Settings{"blocks.1.mlp.fc1.bias", "norm.bias"}));
  EXPECT_EQ(report.left_over, Settings{"blocks.0.ls1.gamma"});
  EXPECT_TRUE(
      at::equal(io::state_dict(*target.model).at("head.weight"), io::state_dict(*source.model).at("head.weight")));
  EXPECT_EQ(report_lines(report, path).size(), 3U);
}

TEST(WeightImport, OtherClassesLeaveTheHeadFreshAndTheRestWhole) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model({}, "deit_tiny_distilled_patch16_224");
  const SmallModel target = small_model({"model.classes=7"}, "deit_tiny_distilled_patch16_224");
  const WeightImportReport report = import_weights(*target.model, saved(folder, source));
  EXPECT_EQ(fresh_names(report), (Settings{"head.bias", "head.weight", "head_dist.bias", "head_dist.weight"}));
  EXPECT_EQ(report.fresh[0].reason, WeightImportReport::Reason::other_classes);
  EXPECT_NE(report_lines(report, "w")[1].find("number of classes"), std::string::npos);
}

TEST(WeightImport, PositionTablesAreResizedToTheImage) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model(), wide = small_model({"model.image_size=[32, 64]"});
  const WeightImportReport report = import_weights(*wide.model, saved(folder, source));
  ASSERT_EQ(report.resized.size(), 1U);
  EXPECT_EQ(report.resized[0].name, "pos_embed");
  EXPECT_EQ(report.resized[0].from, (std::vector<int64_t>{1, 17, 16}));
  EXPECT_EQ(report.resized[0].to, (std::vector<int64_t>{1, 33, 16}));
  // The model resizes its own table in the same way for such images.
  const at::Tensor images = at::rand({1, 3, 32, 64});
  EXPECT_TRUE(at::allclose(source.model->forward(images), wide.model->forward(images), 1e-5, 1e-6));
}

TEST(WeightImport, PositionTablesOfImagesThatAreNotSquareAreResized) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model({"model.image_size=[32, 48]"}),
                   large = small_model({"model.image_size=[64, 96]"});
  const at::Tensor images = at::rand({1, 3, 64, 96});
  // A file does not record the size of its images: 4 x 6 positions are not a square.
  import_weights(*large.model, saved(folder, source));
  EXPECT_TRUE(at::allclose(source.model->forward(images), large.model->forward(images), 1e-5, 1e-6));

  // 2 x 8 positions would make a square, and a model folder knows better.
  const SmallModel flat = small_model({"model.image_size=[16, 64]"});
  write_model_folder(folder / "flat", io::state_dict(*flat.model), flat.recipe, {.architecture = flat.plan.name});
  const SmallModel flat_square = small_model({"model.image_size=[32, 64]"});
  import_weights(*flat_square.model, folder / "flat");
  const at::Tensor others = at::rand({1, 3, 32, 64});
  EXPECT_TRUE(at::allclose(flat.model->forward(others), flat_square.model->forward(others), 1e-5, 1e-6));
}

TEST(WeightImport, PlainWeightsFillACachedModel) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model(), target = small_model({"model.cache.kind=grc", "model.norm.kind=un"});
  const WeightImportReport report = import_weights(*target.model, saved(folder, source));
  EXPECT_TRUE(report.missing.empty() && report.left_over.empty());
  const io::TensorMap theirs = io::state_dict(*source.model), ours = io::state_dict(*target.model);
  EXPECT_EQ(report.loaded.size(), theirs.size());
  EXPECT_EQ(report.loaded.size() + report.fresh.size(), ours.size());
  EXPECT_TRUE(at::equal(ours.at("blocks.1.attn.self_attention.qkv.weight"), theirs.at("blocks.1.attn.qkv.weight")));
  const Settings fresh = fresh_names(report);
  for (const char* name : {"blocks.0.attn.cache.reset_gate.weight", "blocks.0.attn.cache.tokens", "blocks.0.attn.share",
                           "blocks.1.attn.memory_attention.proj.bias", "norm.statistics", "norm.counters"})
    EXPECT_NE(std::ranges::find(fresh, name), fresh.end()) << name;
  const std::string line = report_lines(report, "w")[1];
  EXPECT_NE(line.find("blocks.*.attn.cache"), std::string::npos) << line;
}

TEST(WeightImport, OtherTypesAreConvertedWhereThatIsExact) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model(), target = small_model();
  const auto as = [](at::ScalarType type) {
    return [type](io::TensorMap& weights) {
      for (auto& [name, tensor] : weights) tensor = tensor.to(type);
    };
  };
  const WeightImportReport report = import_weights(*target.model, saved(folder, source, as(at::kBFloat16)));
  EXPECT_EQ(report.converted.size(), report.loaded.size());
  EXPECT_THROW(import_weights(*target.model, saved(folder, source, as(at::kDouble))), io::Error);
  const auto nan = saved(folder, source, [](io::TensorMap& weights) { weights["norm.bias"] = at::full({16}, NAN); });
  const io::TensorMap before = io::state_dict(*target.model);
  EXPECT_EQ(
      test::thrown_message<io::Error>([&] { import_weights(*target.model, nan); }),
      nan.string() +
          ": 'norm.bias' has values that are NaN or infinite; use weights that were saved before training diverged");
  EXPECT_TRUE(at::equal(io::state_dict(*target.model).at("norm.bias"), before.at("norm.bias"))) << "it is unchanged";
}

struct FamilyCase {
  const char* name;
  io::NameSource source;
  Settings settings;
};

const Settings kSmallPyramid = {"model.embed_dims=[8, 16, 20, 32]", "model.depths=[1, 1, 2, 1]",
                                "model.num_heads=[1, 2, 5, 8]", "model.mlp_ratios=[2, 2, 2, 2]"};
const Settings kSmallSwin = {"model.embed_dim=8", "model.depths=[2, 2, 2, 2]", "model.num_heads=[1, 2, 4, 8]",
                             "model.window_size=4"};
const Settings kSmallT2t = {"model.embed_dim=16", "model.depth=2", "model.num_heads=2", "model.token_dim=8"};

Settings joined(Settings settings, const Settings& more = {}) {
  settings.insert(settings.end(), {"model.image_size=32", "model.classes=5"});
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

const std::vector<FamilyCase> kFamilies = {
    {"pvt_tiny", io::NameSource::pvt, joined(kSmallPyramid)},
    {"pvt_v2_b0", io::NameSource::pvt, joined(kSmallPyramid)},
    {"pvt_v2_b2_li", io::NameSource::pvt, joined(kSmallPyramid)},
    {"pvt_v2_b0", io::NameSource::timm, joined(kSmallPyramid)},
    {"pvt_tiny", io::NameSource::grc, joined(kSmallPyramid, {"model.cache.kind=grc", "model.cache.variant=official"})},
    {"swin_tiny_patch4_window7_224", io::NameSource::swin, joined(kSmallSwin)},
    {"swin_tiny_patch4_window7_224", io::NameSource::timm, joined(kSmallSwin)},
    {"swin_tiny_patch4_window7_224", io::NameSource::swin, joined(kSmallSwin, {"model.norm.kind=un"})},
    {"t2t_vit_14", io::NameSource::t2t, joined(kSmallT2t)},
    {"t2t_vit_14", io::NameSource::t2t, joined(kSmallT2t, {"model.norm.kind=un"})},
    {"t2t_vit_14", io::NameSource::t2t, joined(kSmallT2t, {"model.token_attention=transformer"})},
    {"pvt_tiny", io::NameSource::cachet, joined(kSmallPyramid, {"model.cache.kind=grc"})},
};

TEST(WeightImport, EveryFamilyGoesOutAndComesBackBitForBit) {
  for (const FamilyCase& each : kFamilies) {
    SCOPED_TRACE(std::string(each.name) + " as " + std::string(io::to_string(each.source)));
    const test::TemporaryDirectory folder;
    const SmallModel source = model_with(each.name, each.settings), target = model_with(each.name, each.settings);
    const io::TensorMap exported = export_weights({source.plan, io::state_dict(*source.model)}, each.source);
    io::write_safetensors(folder / "theirs.safetensors", exported);
    const WeightImportReport report = import_weights(*target.model, folder / "theirs.safetensors");
    EXPECT_EQ(report.source, each.source);
    EXPECT_TRUE(report.fresh.empty() && report.resized.empty());
    const io::TensorMap theirs = io::state_dict(*source.model);
    EXPECT_EQ(report.loaded.size(), theirs.size());
    for (const auto& [name, tensor] : io::state_dict(*target.model))
      EXPECT_TRUE(at::equal(tensor, theirs.at(name))) << name;
    const io::TensorMap again = export_weights({target.plan, io::state_dict(*target.model)}, each.source);
    ASSERT_EQ(again.size(), exported.size());
    for (const auto& [name, tensor] : exported) EXPECT_TRUE(at::equal(tensor, again.at(name))) << name;
  }
}

// Each has the weights of a plain model, or names that the other code would accept.
TEST(WeightExport, RefusesWhatTheOtherCodeDoesNotCompute) {
  using enum io::NameSource;
  struct Case {
    const char* model;
    Settings settings;
    std::vector<io::NameSource> sources;
    const char* key;
  };
  const Settings vit{"model.embed_dim=16", "model.depth=1", "model.num_heads=2", "model.patch_size=8"};
  const auto with = [](const Settings& model, const Settings& more) {
    Settings all = joined(model);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<Case> cases{
      {"vit_tiny_patch16_224", with(vit, {"model.attention.kind=elu"}), {timm}, "model.attention.kind"},
      {"vit_tiny_patch16_224",
       with(vit, {"model.attention.kind=local", "model.attention.window=2"}),
       {timm},
       "model.attention.kind"},
      {"vit_tiny_patch16_224", with(vit, {"model.norm.kind=rms"}), {timm}, "model.norm.kind"},
      {"vit_tiny_patch16_224", with(vit, {"model.norm.kind=none"}), {timm}, "model.norm.kind"},
      {"vit_tiny_patch16_224", with(vit, {"model.norm.kind=un"}), {timm}, "model.norm.kind"},
      {"vit_tiny_patch16_224", with(vit, {"model.cache.kind=grc"}), {timm}, "model.cache.kind"},
      {"pvt_v2_b0", with(kSmallPyramid, {"model.attention.kind=elu"}), {timm, pvt}, "model.attention.kind"},
      {"pvt_tiny",
       with(kSmallPyramid, {"model.cache.kind=grc", "model.attention.kind=elu"}),
       {grc},
       "model.attention.kind"},
      {"pvt_tiny", with(kSmallPyramid, {"model.cache.kind=grc"}), {grc}, "model.cache.inference"},
      {"swin_tiny_patch4_window7_224", with(kSmallSwin, {"model.norm.kind=batch"}), {timm, swin}, "model.norm.kind"},
      {"t2t_vit_14", with(kSmallT2t, {"model.attention.kind=performer"}), {t2t}, "model.attention.kind"},
  };
  for (const Case& each : cases) {
    const SmallModel model = model_with(each.model, each.settings);
    const SavedModel saved{model.plan, io::state_dict(*model.model)};
    for (const io::NameSource source : each.sources) {
      const std::string said = test::thrown_message<io::Error>([&] { export_weights(saved, source); });
      EXPECT_NE(said.find(each.key), std::string::npos)
          << each.model << " as " << io::to_string(source) << ": " << said;
      EXPECT_NE(said.find("`--names cachet`"), std::string::npos) << said;
    }
    EXPECT_EQ(usual_names(model.plan), cachet) << each.model;
    EXPECT_EQ(export_weights(saved, cachet).size(), saved.weights.size());
  }
  const SmallModel plain = small_model();
  EXPECT_EQ(usual_names(plain.plan), timm);
}

TEST(WeightImport, EveryPlainBackboneFillsItsCachedTwin) {
  for (const FamilyCase& each : kFamilies) {
    if (each.settings.back() != "model.classes=5") continue;  // not the plain one
    SCOPED_TRACE(std::string(each.name) + " as " + std::string(io::to_string(each.source)));
    const test::TemporaryDirectory folder;
    Settings cached = each.settings;
    cached.insert(cached.end(), {"model.cache.kind=grc", "model.norm.kind=un"});
    const SmallModel source = model_with(each.name, each.settings), target = model_with(each.name, cached);
    io::write_safetensors(folder / "theirs.safetensors",
                          export_weights({source.plan, io::state_dict(*source.model)}, each.source));
    const WeightImportReport report = import_weights(*target.model, folder / "theirs.safetensors");
    EXPECT_EQ(report.loaded.size(), io::state_dict(*source.model).size());
    EXPECT_EQ(report.loaded.size() + report.fresh.size(), io::state_dict(*target.model).size());
    EXPECT_FALSE(report.fresh.empty());
  }
}

TEST(WeightImport, TablesFitOtherImagesAndWindows) {
  const test::TemporaryDirectory folder;
  const SmallModel swin = model_with("swin_tiny_patch4_window7_224", joined(kSmallSwin));
  const SmallModel wide = model_with("swin_tiny_patch4_window7_224", joined(kSmallSwin, {"model.window_size=8"}));
  const WeightImportReport windows = import_weights(*wide.model, saved(folder, swin));
  ASSERT_EQ(windows.resized.size(), 2U);  // later maps fit in one window, which is as large as they are
  EXPECT_EQ(windows.resized[0].to, (std::vector<int64_t>{225, 1}));
  const SmallModel pvt = model_with("pvt_tiny", joined(kSmallPyramid));
  const SmallModel large = model_with("pvt_tiny", joined(kSmallPyramid, {"model.image_size=64"}));
  const WeightImportReport images = import_weights(*large.model, saved(folder, pvt));
  ASSERT_EQ(images.resized.size(), 4U);
  EXPECT_EQ(images.resized[3].name, "stages.3.pos_embed");  // of 1 + 1 x 1
  EXPECT_EQ(images.resized[3].to, (std::vector<int64_t>{1, 5, 32}));
}

TEST(WeightImport, LearnedPositionsOfT2tFindNoPlace) {
  const test::TemporaryDirectory folder;
  const SmallModel model = model_with("t2t_vit_14", joined(kSmallT2t));
  io::TensorMap theirs = export_weights({model.plan, io::state_dict(*model.model)}, io::NameSource::t2t);
  theirs["pos_embed"] = at::rand_like(theirs.at("pos_embed"));
  io::write_safetensors(folder / "learned.safetensors", theirs);
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              import_weights(*model.model, folder / "learned.safetensors");
            }).find("1 left over (pos_embed)"),
            std::string::npos);
}

TEST(TableFitting, FitsWhatDiffersInItsPositionsOnly) {
  const models::ImageShape square{3, 64, 64}, tall{3, 128, 64};
  const auto fits = [](const char* name, at::IntArrayRef from, at::IntArrayRef to, const models::ImageShape& image) {
    return fit_position_table(name, at::rand(from), to, image).has_value();
  };
  EXPECT_TRUE(fits("pos_embed", {1, 17, 4}, {1, 65, 4}, square));
  EXPECT_TRUE(fits("pos_embed", {1, 18, 4}, {1, 66, 4}, square));         // two class tokens
  EXPECT_TRUE(fits("stages.1.pos_embed", {1, 16, 4}, {1, 32, 4}, tall));  // none
  EXPECT_TRUE(fits("pos_embed", {1, 9, 4}, {1, 33, 4}, tall));            // 4 x 2 positions, as no square has
  EXPECT_FALSE(fits("pos_embed", {1, 18, 4}, {1, 65, 4}, square));        // the class token differs
  EXPECT_FALSE(fits("pos_embed", {1, 17, 4}, {1, 65, 8}, square));
  EXPECT_FALSE(fits("pos_embed", {1, 17, 4}, {1, 63, 4}, square));
  EXPECT_FALSE(fits("pos_embed", {1, 0, 4}, {1, 65, 4}, square));
  EXPECT_TRUE(fits("layers.0.blocks.0.attn.relative_position_bias_table", {49, 3}, {169, 3}, square));
  EXPECT_FALSE(fits("relative_position_bias_table", {49, 3}, {169, 4}, square));
  EXPECT_FALSE(fits("relative_position_bias_table", {48, 3}, {169, 3}, square));
  EXPECT_FALSE(fits("head.weight", {1, 17, 4}, {1, 65, 4}, square));
  // A plane stays a plane away from the border, where bicubic weights see what they are clamped to.
  const at::Tensor plane = at::arange(7, at::kFloat).repeat({7, 1}).reshape({49, 1});
  const at::Tensor wider = *fit_position_table("relative_position_bias_table", plane, {169, 1}, square);
  const at::Tensor middle = wider.reshape({13, 13})[6];
  for (int64_t x = 3; x < 10; ++x)
    EXPECT_NEAR(middle[x].item<double>(), (static_cast<double>(x) + 0.5) * 7 / 13 - 0.5, 0.05);
}

TEST(ModelFolder, ExportsWhatWasImportedBitForBit) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model();
  const auto path = saved(folder, source);
  write_model_folder(folder / "model", io::state_dict(*source.model), source.recipe,
                     {.architecture = source.plan.name});
  ASSERT_TRUE(is_model_folder(folder / "model"));
  const SavedModel model = open_saved_model(folder / "model");
  EXPECT_EQ(model.plan.name, source.plan.name);
  io::write_safetensors(folder / "back.safetensors", export_weights(model, io::NameSource::timm));
  EXPECT_EQ(test::read_bytes(folder / "back.safetensors"), test::read_bytes(path));
  for (const io::NameSource other :
       {io::NameSource::pvt, io::NameSource::swin, io::NameSource::t2t, io::NameSource::grc})
    EXPECT_THROW(export_weights(model, other), io::Error) << io::to_string(other);
}

TEST(ModelFolder, RefusesDamageAndOthersFolders) {
  const test::TemporaryDirectory folder;
  const SmallModel source = small_model();
  const auto write = [&](const std::filesystem::path& path) {
    write_model_folder(path, io::state_dict(*source.model), source.recipe, {.architecture = source.plan.name});
  };
  write(folder / "model");
  write(folder / "model");  // again, over itself
  std::filesystem::create_directory(folder / "others");
  test::write_bytes(folder / "others" / "thesis.txt", "x");
  EXPECT_NE(test::thrown_message<io::Error>([&] { write(folder / "others"); }).find("is not a model folder"),
            std::string::npos);
  std::string bytes = test::read_bytes(folder / "model" / "model.safetensors");
  bytes[bytes.size() / 2] ^= 1;
  test::write_bytes(folder / "model" / "model.safetensors", bytes);
  EXPECT_NE(test::thrown_message<io::Error>([&] { read_model_folder(folder / "model"); }).find("SHA-256"),
            std::string::npos);
  for (const char* text :
       {"[]", "{\"schema\":1}", "{\"schema\":1,\"sha256\":7}", "{\"schema\":1.5,\"sha256\":\"a\"}"}) {
    test::write_bytes(folder / "model" / "config.json", text);
    EXPECT_NE(
        test::thrown_message<io::Error>([&] { read_model_folder(folder / "model"); }).find("config.json: damaged"),
        std::string::npos)
        << text;
    EXPECT_FALSE(is_model_folder_of(folder / "model", source.plan.name, "a")) << text;
  }
  test::write_bytes(folder / "model" / "config.json", "{\"schema\":2,\"weights\":\"elsewhere\"}");
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              read_model_folder(folder / "model");
            }).find("use a newer version of Cachet"),
            std::string::npos);
}

// A run may begin with the weights of a model folder, of a file, or of another run.
TEST(WeightImport, ARunBeginsWithThem) {
  const test::TemporaryDirectory folder;
  test::write_tiny_images(folder / "images");
  test::train_tiny(folder / "images", folder / "first", {"train.limit=\"4 steps\""});
  config::Document document = test::tiny_document(folder / "images", {"train.init=" + (folder / "first").string()});
  const RecipePlan plan = read_recipe(document);
  const auto task = plan.build();
  const std::vector<std::string> lines = plan.initialize(*task);
  ASSERT_EQ(lines.size(), 1U);
  const SavedModel first = open_saved_model(folder / "first");
  for (const auto& [name, tensor] : io::state_dict(task->model())) {
    if (name.ends_with("counters")) continue;  // the warm-up of unified norms begins again
    EXPECT_TRUE(at::equal(tensor, first.weights.at(name))) << name;
  }
  for (const auto& module : task->model().modules())
    if (const auto* norm = dynamic_cast<const nn::UnifiedNorm*>(module.get())) {
      EXPECT_EQ(norm->steps(), 0);
    }
  config::Document plain = test::tiny_document(folder / "images");
  const RecipePlan drawn = read_recipe(plain);
  EXPECT_TRUE(drawn.initialize(*drawn.build()).empty());
}

}  // namespace
}  // namespace cachet::tasks
