#include "cachet/tasks/image_classification/preprocessing.h"

#include <gtest/gtest.h>

#include "cachet/config/document.h"
#include "cachet/hub/remote_name.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/tasks/classification/prediction.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/published_weights.h"
#include "cachet/tasks/weights/timm_config.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/support/written_class_folders.h"
#include "tests/tasks/given_predictions.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using Values = std::vector<double>;

const Values kImageNetMean{0.485, 0.456, 0.406}, kHalf{0.5, 0.5, 0.5};

models::ImageClassifierPlan plan_of(const std::string& name, const std::string& setting = "model.classes=1000") {
  config::Document document;
  document.set(setting);
  const auto plan = models::read_image_classifier(name, document.root().table("model"));
  document.finish();
  return plan;
}

Preprocessing published(io::NameSource source, const std::string& model) {
  return published_preprocessing(source, model, {3, 224, 224});
}

TEST(Preprocessing, IsThatOfWhoeverPublishedTheWeights) {
  struct Case {
    io::NameSource source;
    const char* model;
    Values mean;
    double crop_fraction;
  };
  for (const Case& expected : {Case{io::NameSource::timm, "vit_small_patch16_224", kHalf, 0.9},
                               Case{io::NameSource::timm, "deit_small_patch16_224", kImageNetMean, 0.875},
                               Case{io::NameSource::timm, "swin_tiny_patch4_window7_224", kImageNetMean, 0.9},
                               Case{io::NameSource::timm, "pvt_v2_b2", kImageNetMean, 0.9},
                               Case{io::NameSource::swin, "swin_tiny_patch4_window7_224", kImageNetMean, 0.875},
                               Case{io::NameSource::pvt, "pvt_v2_b2", kImageNetMean, 0.875},
                               Case{io::NameSource::grc, "pvt_tiny", kImageNetMean, 0.875},
                               Case{io::NameSource::t2t, "t2t_vit_14", kImageNetMean, 0.9},
                               Case{io::NameSource::cachet, "vit_small_patch16_224", kImageNetMean, 0.875}}) {
    const Preprocessing found = published(expected.source, expected.model);
    EXPECT_EQ(found.normalization.mean, expected.mean) << expected.model;
    EXPECT_EQ(found.resize.crop_fraction, expected.crop_fraction) << expected.model;
    EXPECT_EQ(found.resize.interpolation, data::Interpolation::bicubic);
    EXPECT_EQ(found.resize.image_size, 224);
  }
  const Preprocessing grey = published_preprocessing(io::NameSource::pvt, "pvt_tiny", {1, 32, 32});
  ASSERT_EQ(grey.normalization.mean.size(), 1U);
  EXPECT_NEAR(grey.normalization.mean[0], 0.449, 1e-12);
  EXPECT_TRUE(published_preprocessing(io::NameSource::pvt, "pvt_tiny", {4, 32, 32}).normalization.mean.empty());
}

TEST(Preprocessing, IsToldInALineAndInJson) {
  const Preprocessing deit = published(io::NameSource::timm, "deit_small_patch16_224");
  EXPECT_EQ(to_text(deit),
            "resized to 256 (bicubic), center crop 224, mean 0.485 0.456 0.406, deviation 0.229 0.224 0.225");
  EXPECT_EQ(
      to_json(deit),
      R"({"mean":[0.485,0.456,0.406],"std":[0.229,0.224,0.225],"crop_fraction":0.875,"interpolation":"bicubic"})");
  const Preprocessing wide = published_preprocessing(io::NameSource::cachet, "vit_small_patch16_224", {3, 192, 256});
  EXPECT_EQ(wide.resize.image_size, (data::TargetSize{192, 256}));
  EXPECT_TRUE(to_text(wide).starts_with("resized to cover 219 x 292 (bicubic), center crop 192 x 256, mean"))
      << to_text(wide);
  EXPECT_EQ(to_json(Preprocessing{}), R"({"mean":null,"std":null,"crop_fraction":1.0,"interpolation":"bicubic"})");
}

// A folder with weights and what timm writes next to them.
class TimmConfig : public ::testing::Test {
 protected:
  Preprocessing read(const std::string& config) const {
    test::write_bytes(folder_ / "config.json", config);
    return preprocessing_of(folder_ / "model.safetensors", io::NameSource::timm, plan_of("vit_small_patch16_224"));
  }
  test::TemporaryDirectory folder_;
};

TEST_F(TimmConfig, IsTaken) {
  const Preprocessing told = read(R"({"architecture": "vit_small_patch16_224", "pretrained_cfg":
      {"mean": [0.1, 0.2, 0.3], "std": [1, 1, 1], "crop_pct": 1.0, "interpolation": "bilinear", "num_classes": 1000}})");
  EXPECT_EQ(told.normalization.mean, (Values{0.1, 0.2, 0.3}));
  EXPECT_EQ(told.resize.crop_fraction, 1);
  EXPECT_EQ(told.resize.interpolation, data::Interpolation::bilinear);
}

// The form of timm before version 0.9.
TEST_F(TimmConfig, IsTakenFromTheTopLevel) {
  const Preprocessing told =
      read(R"({"architecture": "vit_small_patch16_224", "num_classes": 1000, "mean": [0.1, 0.2, 0.3],
      "std": [1, 1, 1], "crop_pct": 0.95, "interpolation": "bilinear", "crop_mode": "center", "input_size": [3, 224, 224]})");
  EXPECT_EQ(told.normalization.mean, (Values{0.1, 0.2, 0.3}));
  EXPECT_EQ(told.resize.crop_fraction, 0.95);
  EXPECT_EQ(told.resize.interpolation, data::Interpolation::bilinear);
  const Preprocessing nested = read(R"({"mean": [0.9, 0.9, 0.9], "pretrained_cfg": {"crop_pct": 1.0}})");
  EXPECT_EQ(nested.normalization.mean, kHalf) << "where there is a table, the top level says nothing of images";
  EXPECT_EQ(nested.resize.crop_fraction, 1);
  EXPECT_EQ(read(R"({"interpolation": "lanczos"})").resize.interpolation, data::Interpolation::lanczos);
}

TEST_F(TimmConfig, ThatIsNotJsonIsRefused) {
  for (const char* config : {"", "{", R"({"mean": [NaN, 0.5, 0.5], "std": [1, 1, 1]})",
                             R"({"pretrained_cfg": {"mean": [0.5)", R"({"crop_pct": 1.0} {})"}) {
    const std::string message = test::thrown_message<io::Error>([&] { read(config); });
    EXPECT_NE(message.find("config.json: is not valid JSON"), std::string::npos) << config << ": " << message;
  }
  const std::string message = test::thrown_message<io::Error>([&] { read(R"({"pretrained_cfg": 3})"); });
  EXPECT_NE(message.find("config.json: pretrained_cfg must be an object"), std::string::npos) << message;
}

TEST_F(TimmConfig, NamesTheClasses) {
  const auto names = [&](const std::string& config, int64_t classes) {
    test::write_bytes(folder_ / "config.json", config);
    return timm_class_names(folder_ / "model.safetensors", classes);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(R"({"label_names": ["b", "a"], "pretrained_cfg": {}})", 2), (Names{"b", "a"}));
  EXPECT_EQ(names(R"({"label_names": ["b", "a"]})", 2), (Names{"b", "a"}));
  EXPECT_EQ(names(R"({"label_names": ["a", "a"]})", 2), Names());
  EXPECT_EQ(names(R"({"label_names": null, "pretrained_cfg": {}})", 2), Names());
  EXPECT_EQ(names("{}", 2), Names());
  EXPECT_EQ(names(R"({"pretrained_cfg": {"label_names": ["b", "a"]}})", 2), (Names{"b", "a"}))
      << "as timm saves a model that it read";
  EXPECT_EQ(names(R"({"label_names": ["b", "a"], "pretrained_cfg": {"label_names": ["c", "d"]}})", 2),
            (Names{"b", "a"}));
  const auto refusal = [&](const std::string& config, int64_t classes) {
    return test::thrown_message<io::Error>([&] { names(config, classes); });
  };
  EXPECT_NE(refusal(R"({"label_names": ["b", "a"], "pretrained_cfg": {}})", 3)
                .find("config.json: label_names has 2 names, but the weights have 3 classes; correct the file"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"pretrained_cfg": {"label_names": ["b"]}})", 3)
                .find("config.json: pretrained_cfg.label_names has 1 name,"),
            std::string::npos);
  for (const char* config : {R"({"label_names": ["a", 1]})", R"({"label_names": {"0": "a"}})", R"({"label_names": 2})"})
    EXPECT_NE(refusal(config, 1).find("config.json: label_names must be a list of texts"), std::string::npos) << config;
}

TEST_F(TimmConfig, NamesTheModel) {
  const auto model = [&](const std::string& config) {
    test::write_bytes(folder_ / "config.json", config);
    return timm_model(folder_ / "model.safetensors");
  };
  using Settings = std::vector<std::string>;
  const auto current = model(R"({"architecture": "vit_small_patch16_224", "num_classes": 1000,
      "pretrained_cfg": {"input_size": [3, 224, 224], "num_classes": 21843}})");
  ASSERT_TRUE(current);
  EXPECT_EQ(current->name, "vit_small_patch16_224");
  EXPECT_EQ(current->settings, (Settings{"model.classes=1000", "model.image_size=224"}));
  const auto older = model(R"({"pretrained_cfg": {"architecture": "pvt_v2_b0", "input_size": [3, 192, 256]}})");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->name, "pvt_v2_b0");
  EXPECT_EQ(older->settings, Settings{"model.image_size=[192,256]"});
  const auto headless = model(R"({"architecture": "pvt_v2_b0", "num_classes": 0, "pretrained_cfg": {}})");
  ASSERT_TRUE(headless);
  EXPECT_EQ(headless->settings, Settings());
  EXPECT_FALSE(model(R"({"pretrained_cfg": {}})"));
  EXPECT_FALSE(model(R"({"architecture": 3, "pretrained_cfg": {}})"));
  EXPECT_FALSE(model(R"({"architectures": ["ViT"]})")) << "of another program";
  for (const auto& [key, bad] :
       std::vector<std::pair<std::string, std::string>>{{"num_classes", R"("num_classes": -1)"},
                                                        {"num_classes", R"("num_classes": 1.5)"},
                                                        {"num_classes", R"("num_classes": 1000001)"},
                                                        {"num_classes", R"("num_classes": "ten")"},
                                                        {"input_size", R"("input_size": 224)"},
                                                        {"input_size", R"("input_size": [224, 224])"},
                                                        {"input_size", R"("input_size": [3, 0, 224])"},
                                                        {"input_size", R"("input_size": [3, 224, "224"])"}}) {
    const std::string message = test::thrown_message<io::Error>(
        [&, &bad = bad] { model(R"({"architecture": "pvt_v2_b0", "pretrained_cfg": {)" + bad + "}}"); });
    EXPECT_NE(message.find("config.json: pretrained_cfg." + key + " must be "), std::string::npos) << message;
  }
}

// A recipe that starts from weights takes what it leaves open from the file next to them.
TEST_F(TimmConfig, GivesARecipeItsPreparation) {
  const auto settings = [&](const std::string& data) {
    config::Document document = config::Document::from_text(
        "[data]\nroot = \"x\"\n" + data + "[model]\nname = \"vit_tiny_patch16_224\"\npatch_size = 4\n", "r.toml");
    const RecipePlan plan = read_recipe(document);
    return dynamic_cast<const PreparesImages&>(*plan.task).preparation_settings(folder_ / "model.safetensors");
  };
  using Settings = std::vector<std::string>;
  const std::string folders = "kind = \"class_folders\"\n";
  EXPECT_EQ(settings(folders), Settings()) << "there is no such file";
  test::write_bytes(folder_ / "config.json", R"({"architecture": "vit_tiny_patch16_224", "pretrained_cfg":
      {"mean": [0.5, 0.5, 0.25], "std": [0.5, 0.5, 0.5], "crop_pct": 0.95, "interpolation": "bilinear"}})");
  const Settings pixels{"data.normalization.mean=[0.5, 0.5, 0.25]", "data.normalization.std=[0.5, 0.5, 0.5]"};
  Settings all = pixels;
  all.insert(all.end(), {"data.resize.crop_fraction=0.95", "data.resize.interpolation=\"bilinear\""});
  EXPECT_EQ(settings(folders), all);
  EXPECT_EQ(settings("kind = \"cifar10\"\n"), pixels) << "images of one size are not cropped";
  const Settings grey = settings("kind = \"fashion_mnist\"\n");
  ASSERT_EQ(grey.size(), 2u);
  EXPECT_EQ(grey.back(), "data.normalization.std=[0.5]") << "of a grey model";
  EXPECT_EQ(settings("kind = \"cifar10\"\nnormalization.source = \"data\"\n"), Settings()) << "the recipe has decided";
}

TEST(PublishedWeights, AreOfModelsThatExist) {
  int64_t on_the_hub = 0;
  for (const std::string& name : models::model_names()) {
    const auto weights = published_weights(name);
    if (!weights) continue;
    EXPECT_FALSE(weights->name().empty());
    if (weights->hub.empty()) continue;
    ++on_the_hub;
    EXPECT_TRUE(weights->hub.starts_with("hf:timm/" + name + ".")) << weights->hub;
    EXPECT_TRUE(hub::hub_name(weights->hub, "https://huggingface.co")) << weights->hub;
  }
  EXPECT_EQ(on_the_hub, 19) << "a name of the table is not one of a model";
  EXPECT_EQ(published_weights("pvt_tiny")->name(), "whai362/PVT");
  EXPECT_EQ(published_weights("t2t_vit_14")->name(), "yitu-opensource/T2T-ViT");
  EXPECT_FALSE(published_weights("lra_text"));
  EXPECT_FALSE(published_weights("vit_tiny"));
}

TEST_F(TimmConfig, OfOtherProgramsIsPassedOver) {
  for (const char* config :
       {"[]", "7", "{}", R"({"pretrained_cfg": {}})", R"({"architectures": ["ViT"], "hidden_size": 8})"}) {
    const Preprocessing usual = read(config);
    EXPECT_EQ(usual.normalization.mean, kHalf) << config;
    EXPECT_EQ(usual.resize.crop_fraction, 0.9) << config;
  }
}

TEST_F(TimmConfig, WithAnotherCropModeIsToldWhatToDo) {
  const std::string message =
      test::thrown_message<io::Error>([&] { read(R"({"pretrained_cfg": {"crop_mode": "squash"}})"); });
  EXPECT_NE(message.find("crop_mode is 'squash', but only 'center' is supported"), std::string::npos) << message;
  EXPECT_NE(message.find("If you write 'center' in the file, images that are not square get other results"),
            std::string::npos)
      << message;
}

TEST_F(TimmConfig, ThatSaysSomethingElseIsRefusedByItsKey) {
  for (const auto& [key, bad] :
       std::vector<std::pair<std::string, std::string>>{{"mean", R"("mean": [0.5, 0.5], "std": [1, 1, 1])"},
                                                        {"mean", R"("mean": "grey", "std": [1, 1, 1])"},
                                                        {"mean", R"("mean": [], "std": [1, 1, 1])"},
                                                        {"mean", R"("mean": [128, 128, 128], "std": [1, 1, 1])"},
                                                        {"mean", R"("std": [1, 1, 1])"},
                                                        {"std", R"("mean": [0.5, 0.5, 0.5])"},
                                                        {"std", R"("mean": [0.5, 0.5, 0.5], "std": [0, 0, 0])"},
                                                        {"std", R"("mean": [0.5, 0.5, 0.5], "std": [1e300, 1, 1])"},
                                                        {"crop_pct", R"("crop_pct": 0)"},
                                                        {"crop_pct", R"("crop_pct": 87.5)"},
                                                        {"crop_mode", R"("crop_mode": "squash")"},
                                                        {"crop_mode", R"("crop_mode": "border")"},
                                                        {"crop_mode", R"("crop_mode": 1)"},
                                                        {"interpolation", R"("interpolation": "box")"},
                                                        {"interpolation", R"("interpolation": 3)"}}) {
    const std::string message =
        test::thrown_message<io::Error>([&, &bad = bad] { read("{\"pretrained_cfg\": {" + bad + "}}"); });
    EXPECT_NE(message.find("config.json: pretrained_cfg." + key), std::string::npos) << bad << ": " << message;
    const std::string flat = test::thrown_message<io::Error>([&, &bad = bad] { read("{" + bad + "}"); });
    EXPECT_NE(flat.find("config.json: " + key), std::string::npos) << bad << ": " << flat;
  }
}

TEST(Preprocessing, IsReadOverItsDefaultsAndWrittenWhole) {
  const auto plan = plan_of("deit_tiny_patch16_224", "model.classes=5");
  const Preprocessing usual = published(io::NameSource::timm, plan.name);
  config::Document document;
  document.set("data.resize.crop_fraction=1.0");
  const Preprocessing read = read_preprocessing(document.root().table("data"), plan, usual);
  document.finish();
  EXPECT_EQ(read.resize.crop_fraction, 1);
  EXPECT_EQ(read.normalization.mean, kImageNetMean);
  const std::string written = document.resolved_toml(/*with_origins=*/false);
  EXPECT_NE(written.find("kind = \"class_folders\"\norientation = \"ignore\"\nclasses = 5"), std::string::npos)
      << written;
  auto again = config::Document::from_text(written, "recipe.toml");
  EXPECT_EQ(to_json(read_preprocessing(again.root().table("data"), plan, {})), to_json(read));
  again.finish();
  config::Document wrong;
  wrong.set("data.resize.crop_fracton=1.0");
  read_preprocessing(wrong.root().table("data"), plan, usual);
  EXPECT_THROW(wrong.finish(), config::Error);
}

// A model folder of seven classes, as import writes it.
class ModelFolderUse : public ::testing::Test {
 protected:
  ModelFolderUse() {
    test::write_class_folders(folder_ / "images", {"a", "b", "c", "d", "e", "f", "g"}, 2, 3);
    config::Document recipe;
    for (const char* setting : {"model.name=vit_tiny_patch16_224", "model.image_size=16", "model.patch_size=8",
                                "model.embed_dim=16", "model.depth=1", "model.num_heads=2", "model.classes=7"})
      recipe.set(setting);
    const auto plan = models::read_image_classifier(recipe.root().table("model"));
    read_preprocessing(recipe.root().table("data"), plan,
                       published_preprocessing(io::NameSource::timm, plan.name, plan.image));
    recipe.finish();
    write_model_folder(folder_ / "model", io::state_dict(*plan.build()), recipe, {.architecture = plan.name});
  }
  std::string root(const std::string& name) const { return "data.root=" + (folder_ / name).string(); }
  std::filesystem::path file(const std::string& name) const { return folder_ / "images/val" / name; }

  test::TemporaryDirectory folder_;
};

TEST_F(ModelFolderUse, EvaluatesAFolderOfImages) {
  const auto load_images = [](const SavedRun& saved, Splits splits = Splits::test) {
    return test::as_images(load(saved, splits));
  };
  const auto whole = load_images(open_saved_run(folder_ / "model", {root("images"), "data.workers=0"}));
  EXPECT_EQ(whole->test_images().size(), 21);
  EXPECT_EQ(whole->normalization().mean, kHalf);
  const auto split = load_images(open_saved_run(folder_ / "model", {root("images/val"), "data.workers=0"}));
  const auto progress = [](int64_t, int64_t) {};
  EXPECT_EQ(whole->evaluate(progress).find("loss"), split->evaluate(progress).find("loss"));
  EXPECT_NE(test::thrown_message<io::Error>([&] { load_images(open_saved_run(folder_ / "model")); }).find("data.root"),
            std::string::npos);
}

TEST_F(ModelFolderUse, ClassifiesFilesWithoutAnyData) {
  const auto with = test::as_images(load(open_saved_run(folder_ / "model", {root("images")})));
  const auto without = test::as_images(load(open_saved_run(folder_ / "model"), Splits::given));
  const std::vector<std::string> files{file("a/0.jpg").string(), file("b/1.jpg").string()};
  const auto expected = test::given_predictions(*with, files, 7), found = test::given_predictions(*without, files, 7);
  ASSERT_EQ(found.size(), 2U);
  for (size_t i = 0; i < 2; ++i)
    for (size_t guess = 0; guess < 7; ++guess) {
      EXPECT_EQ(found[i].top[guess].label, expected[i].top[guess].label);
      EXPECT_EQ(found[i].top[guess].probability, expected[i].top[guess].probability);
    }
  EXPECT_EQ(without->test_images().labels().class_names()[6], "6");
}

TEST_F(ModelFolderUse, IsABaseForOtherKindsOfData) {
  test::write_tiny_images(folder_ / "tiny");
  test::write_bytes(folder_ / "tune.toml",
                    "base = \"model/recipe.toml\"\n[model]\nchannels = 1\nclasses = 4\n[data]\nkind = \"idx\"\n"
                    "classes = 4\nroot = \"" +
                        (folder_ / "tiny").string() + "\"\n[data.normalization]\nmean = 0.5\nstd = 0.5\n");
  auto document = config::Document::from_file(folder_ / "tune.toml");
  const auto task = test::as_images(read_recipe(document).build(Splits::test));
  EXPECT_EQ(task->test_images().size(), test::kTinyTest);
  EXPECT_EQ(task->evaluation_transform().output_shape(), (data::ImageShape{1, 16, 16}));
}

TEST_F(ModelFolderUse, HandsItsPreprocessingOn) {
  const auto plan = plan_of("vit_tiny_patch16_224");
  EXPECT_EQ(preprocessing_of(folder_ / "model", io::NameSource::cachet, plan).normalization.mean, kHalf);
  test::write_tiny_images(folder_ / "tiny");
  test::train_tiny(folder_ / "tiny", folder_ / "run",
                   {"train.limit=\"2 steps\"", "data.resize.interpolation=bilinear"});
  const Preprocessing of_run = preprocessing_of(folder_ / "run", io::NameSource::cachet, plan);
  EXPECT_EQ(of_run.resize.interpolation, data::Interpolation::bilinear);
  EXPECT_EQ(of_run.resize.image_size, 224);
}

}  // namespace
}  // namespace cachet::tasks
