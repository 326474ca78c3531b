#include "tests/tasks/keys/key_family.h"

#include <unistd.h>

#include <stdexcept>
#include <string_view>

#include "tests/support/small_scenes.h"
#include "tests/support/temporary_directory.h"
#include "tests/tasks/keys/child.h"
#include "tests/tasks/keys/key_data.h"
#include "tests/tasks/keys/key_recipes.h"

namespace cachet::test {
namespace {

namespace fs = std::filesystem;

void write_scenes(const fs::path& folder) { write_small_scenes(folder / "shapes", /*train=*/6, /*validation=*/3); }

/// Of classifiers whose images have sides of so many pixels.
std::map<std::string, Settings> needs_of_images(int side) {
  const std::string resized = "data.resize.image_size=" + std::to_string(side);
  return {
      {"data.kind=\"mnist\"", {"model.classes=10"}},
      {"data.kind=\"fashion_mnist\"", {"model.classes=10"}},
      {"data.kind=\"cifar10\"", {"data.root=FOLDER/cifar10", resized}},
      {"data.kind=\"cifar100\"", {"data.root=FOLDER/cifar100", resized}},
      {"data.kind=\"class_folders\"", {"data.root=FOLDER/folders", resized}},
      {"data.kind=\"shards\"", {"data.root=FOLDER/shards", resized}},
  };
}

const std::map<std::string, Settings> kNeedsOfSequences{
    {"data.kind=\"imdb\"", {"data.root=FOLDER/reviews", "model.name=lra_text"}},
    {"data.kind=\"matching\"", {"model.name=lra_matching"}},
    {"data.kind=\"cifar10_pixels\"", {"data.root=FOLDER/cifar10", "model.name=lra_image", "data.max_length=1024"}},
    {"data.tokens=\"subwords\"", {"data.subword_model=FOLDER/subwords.model", "data.vocabulary=24"}},
};
const std::map<std::string, Settings> kNeedsOfCorpora{
    {"model.attention.kind=\"performer\"", {"model.attention.features=relu"}},
    {"model.memory_tokens_read_past=true", {"model.memory_tokens=2"}},
    {"model.memory_tokens_recurrent=true", {"model.memory_tokens=2"}},
    {"data.tokens=\"subwords\"", {"data.vocabulary=24"}},
};
const std::map<std::string, Settings> kNeedsOfPairs{
    {"model.decoder_attention.kind=\"performer\"", {"model.decoder_attention.features=relu"}},
    {"data.tokens=\"subwords\"", {"data.vocabulary=24"}},
};

std::map<std::string, Settings> without_grid(std::map<std::string, Settings> needs) {
  const Settings without_convolution{"model.cache.positional_convolution=false"};
  needs.emplace("model.cache.variant=\"official\"", without_convolution);
  needs.emplace("model.cache.kind=\"fifo\"", without_convolution);
  return needs;
}

std::map<std::string, Settings> with_two_vocabularies(std::map<std::string, Settings> needs) {
  needs.insert_or_assign("data.tokens=\"subwords\"",
                         Settings{"data.source_vocabulary=24", "data.target_vocabulary=24"});
  return needs;
}

std::map<std::string, Settings> with_schedules(std::map<std::string, Settings> needs) {
  needs.emplace("schedule.kind=\"step\"", Settings{"schedule.milestones=[\"1 steps\"]"});
  needs.emplace("schedule.kind=\"inverse_sqrt\"", Settings{"schedule.warmup=2 steps"});
  needs.emplace("schedule.kind=\"arena\"", Settings{"schedule.warmup=2 steps"});
  return needs;
}

/// A temporary folder that a copy of the process leaves alone when it exits.
class FolderOfThisProcess {
 public:
  FolderOfThisProcess() = default;
  FolderOfThisProcess(const FolderOfThisProcess&) = delete;
  FolderOfThisProcess& operator=(const FolderOfThisProcess&) = delete;
  ~FolderOfThisProcess() {
    if (getpid() == owner_) delete folder_;
  }
  const fs::path& path() const { return folder_->path(); }

 private:
  pid_t owner_ = getpid();
  const TemporaryDirectory* folder_ = new TemporaryDirectory;
};

std::string in_folder(std::string text, const fs::path& folder) {
  constexpr std::string_view kPlace = "FOLDER";
  for (size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at))
    text.replace(at, kPlace.size(), folder.string());
  return text;
}

}  // namespace

const std::vector<KeyFamily>& key_families() {
  static const std::vector<KeyFamily> all = [] {
    const auto of_images = with_schedules(needs_of_images(8)), of_pyramids = with_schedules(needs_of_images(64)),
               of_windows = with_schedules(needs_of_images(32)),
               of_sequences = with_schedules(without_grid(kNeedsOfSequences)),
               of_corpora = with_schedules(without_grid(kNeedsOfCorpora)),
               of_pairs = with_schedules(without_grid(kNeedsOfPairs)), of_scenes = with_schedules({});
    std::vector<KeyFamily> families{
        {"vit", vit_recipe("vit_tiny_patch16_224"), write_images_of_each_kind, of_images},
        {"deit_distilled", vit_recipe("deit_tiny_distilled_patch16_224"), write_images_of_each_kind, of_images},
        {"pvt", pvt_recipe("pvt_tiny"), write_images_of_each_kind, of_pyramids},
        {"pvt_v2_linear", pvt_recipe("pvt_v2_b2_li"), write_images_of_each_kind, of_pyramids},
        {"swin", swin_recipe("swin_tiny_patch4_window7_224"), write_images_of_each_kind, of_windows},
        {"t2t_performer", t2t_recipe("t2t_vit_14"), write_images_of_each_kind, of_windows},
        {"t2t_transformer", t2t_recipe("t2t_vit_t_14"), write_images_of_each_kind, of_windows},
        {"listops",
         sequence_recipe("kind = \"listops\"\nroot = \"FOLDER\"\n", "lra_listops"),
         write_sequences,
         of_sequences,
         {"model.pairs=true", "data.kind=\"matching\""}},
        {"matching",
         sequence_recipe("kind = \"matching\"\nroot = \"FOLDER\"\n", "lra_matching"),
         write_sequences,
         of_sequences,
         {"model.pairs=false", "data.kind=\"listops\"", "data.kind=\"imdb\"", "data.kind=\"cifar10_pixels\""}},
        {"transformer_xl", corpus_recipe("name = \"transformer_xl_small\"\n"), write_corpus, of_corpora},
        {"causal_transformer", corpus_recipe("name = \"causal_transformer_small\"\n"), write_corpus, of_corpora},
        {"translation", pair_recipe("vocabulary = 13"), write_pairs, of_pairs, {"data.shared_vocabulary=false"}},
        {"translation_of_two_vocabularies",
         pair_recipe("shared_vocabulary = false\nsource_vocabulary = 13\ntarget_vocabulary = 13"),
         write_pairs,
         with_two_vocabularies(of_pairs),
         {"data.shared_vocabulary=true"}},
        {"retinanet", detector_recipe("retinanet_pvt_tiny_fpn"), write_scenes, of_scenes},
        {"mask_rcnn", detector_recipe("mask_rcnn_pvt_tiny_fpn"), write_scenes, of_scenes},
        {"faster_rcnn_swin", detector_recipe("faster_rcnn_swin_t_fpn"), write_scenes, of_scenes},
    };
    // The default, 32, does not divide the few channels of these models. The first split of T2T-ViT has 49.
    for (KeyFamily& family : families) {
      const bool splits = family.name.starts_with("t2t");
      family.needs.emplace("model.norm.kind=\"group\"",
                           Settings{splits ? "model.norm.groups=1" : "model.norm.groups=4"});
      family.elsewhere.insert("train.graph=\"on\"");  // needs a GPU
    }
    return families;
  }();
  return all;
}

const fs::path& data_of(const KeyFamily& family) {
  static const FolderOfThisProcess all;
  static std::map<std::string, fs::path> folders;
  fs::path& folder = folders[family.name];
  if (!folder.empty()) return folder;
  folder = all.path() / family.name;
  fs::create_directories(folder);
  const ChildOutcome written = in_child(
      [&] {
        family.write_data(folder);
        return std::string("written");
      },
      {.processor_time = std::chrono::seconds(60), .time = std::chrono::seconds(300)});
  if (written.text != "written") throw std::runtime_error("no data of " + family.name + ": " + written.printed);
  return folder;
}

config::Document document_of(const KeyFamily& family, const Settings& settings) {
  const fs::path& folder = data_of(family);
  config::Document document = config::Document::from_text(in_folder(family.recipe, folder), family.name + ".toml");
  for (const std::string& setting : settings) document.set(in_folder(setting, folder));
  return document;
}

}  // namespace cachet::test
