#include "tests/tasks/keys/key_family.h"

#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "cachet/data/text/subword_training.h"
#include "cachet/data/vision/shape_folder.h"
#include "tests/data/text/review_files.h"
#include "tests/support/class_folders.h"
#include "tests/support/temporary_directory.h"
#include "tests/tasks/keys/child.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::test {
namespace {

namespace fs = std::filesystem;

constexpr int kTexts = 24;

// --- data
// --------------------------------------------------------------------------------------------------------------

void write_cifar(const fs::path& folder, const std::vector<std::string>& names, int label_bytes) {
  for (const std::string& name : names) {
    std::ofstream file(folder / (name + ".bin"), std::ios::binary);
    for (int record = 0; record < 8; ++record) {
      for (int i = 0; i < label_bytes; ++i) file.put(static_cast<char>(record));
      for (int pixel = 0; pixel < 3 * 32 * 32; ++pixel) file.put(static_cast<char>(pixel * (record + 3)));
    }
  }
}

void write_images(const fs::path& folder) {
  write_tiny_split(folder, "train", 16);
  write_tiny_split(folder, "t10k", 8);
}

void write_images_of_each_kind(const fs::path& folder) {
  write_images(folder);
  write_class_folders(folder / "folders", {"a", "b", "c", "d"}, 3, 2);
  fs::create_directories(folder / "cifar10");
  write_cifar(folder / "cifar10",
              {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}, 1);
  fs::create_directories(folder / "cifar100");
  write_cifar(folder / "cifar100", {"train", "test"}, 2);
}

std::string sentence(int i) {
  std::string text;
  for (int place = 0; place <= i % 6; ++place)
    text += (place > 0 ? " word" : "word") + std::to_string((i + place * place) % 11);
  return text;
}

void write_lines(const fs::path& file, int first, const std::string& before = "") {
  std::ofstream out(file);
  for (int i = first; i < first + kTexts; ++i) out << before << sentence(i) << '\n';
}

void write_vocabulary(const fs::path& file, const std::vector<std::string>& words) {
  std::ofstream out(file);
  out << "<eos>\t9\n";
  for (const std::string& word : words) out << word << "\t5\n";
  out << "<unk>\t0\n";
}

std::vector<std::string> eleven_words() {
  std::vector<std::string> words;
  for (int i = 0; i < 11; ++i) words.push_back("word" + std::to_string(i));
  return words;
}

void write_subwords(const fs::path& file, bool marks) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back(sentence(i));
  data::SubwordOptions options;
  options.vocabulary = 24;
  options.begin_and_end = marks;
  std::ofstream(file, std::ios::binary) << data::train_subwords(texts, options);
}

void write_corpus(const fs::path& folder) {
  for (const char* name : {"train.txt", "valid.txt", "test.txt"}) write_lines(folder / name, 0);
  write_vocabulary(folder / "words.txt", eleven_words());
  write_subwords(folder / "subwords.model", false);
}

void write_pairs(const fs::path& folder) {
  for (const char* name : {"train", "valid", "test"}) {
    write_lines(folder / (std::string(name) + ".de"), 0);
    write_lines(folder / (std::string(name) + ".en"), 1);
  }
  for (const char* name : {"words.txt", "source-words.txt", "target-words.txt"})
    write_vocabulary(folder / name, eleven_words());
  for (const char* name : {"subwords.model", "source.model", "target.model"}) write_subwords(folder / name, true);
}

void write_sequences(const fs::path& folder) {
  for (const char* split : {"train", "val", "test"}) {
    std::ofstream out(folder / ("basic_" + std::string(split) + ".tsv"));
    out << "Source\tTarget\n";
    for (int i = 0; i < kTexts; ++i)
      out << "( ( ( [MIN " << i % 10 << " ) " << i * 7 % 10 << " ) ] )\t" << std::min(i % 10, i * 7 % 10) << '\n';
  }
  write_reviews(folder / "reviews", 40, 4);
  for (const char* split : {"train", "eval", "test"}) {
    std::ofstream out(folder / ("new_aan_pairs." + std::string(split) + ".tsv"));
    for (int i = 0; i < kTexts; ++i) out << i % 2 << "\tone\tother\t" << sentence(i) << '\t' << sentence(3 * i) << '\n';
  }
  write_subwords(folder / "subwords.model", false);
  fs::create_directories(folder / "cifar10");
  write_cifar(folder / "cifar10",
              {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}, 1);
}

void write_scenes(const fs::path& folder) {
  data::ShapeOptions shapes;
  shapes.train = 6;
  shapes.validation = 3;
  shapes.height = shapes.width = 64;
  shapes.crowds = 0.3;
  data::write_shape_folder(folder / "shapes", shapes);
}

// --- recipes
// -----------------------------------------------------------------------------------------------------------

constexpr const char* kOneStep = R"(
[train]
epochs = 1
limit = "1 steps"
batch_size = 4
threads = 1
[optimizer]
lr = 0.001
)";

constexpr const char* kImages = R"(
[data]
kind = "idx"
root = "FOLDER"
classes = 4
workers = 0
)";

std::string vit(const std::string& name) {
  return std::string(kImages) + "[model]\nname = \"" + name + R"("
image_size = 8
patch_size = 4
embed_dim = 16
depth = 1
num_heads = 2
)" + kOneStep;
}

std::string pvt(const std::string& name) {
  return std::string(kImages) + "[data.resize]\nimage_size = 64\n[model]\nname = \"" + name + R"("
embed_dims = [8, 16, 16, 32]
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
mlp_ratios = [1, 1, 1, 1]
)" + kOneStep;
}

std::string sequences(const std::string& data, const std::string& model) {
  return "[task]\nkind = \"sequence_classification\"\n[data]\nmax_length = 16\nworkers = 0\n" + data +
         "[model]\nname = \"" + model + R"("
embed_dim = 16
depth = 1
num_heads = 2
mlp_dim = 16
)" + kOneStep;
}

std::string corpus(const std::string& model) {
  return R"([task]
kind = "language_modelling"
[task.evaluation]
lanes = 2
[data]
root = "FOLDER"
vocabulary = 13
workers = 0
[model]
embed_dim = 16
depth = 1
num_heads = 2
mlp_dim = 16
target_length = 8
cutoffs = [6]
)" + model +
         kOneStep;
}

const std::string kPairs = R"([task]
kind = "translation"
[task.evaluation]
beam = 2
[data]
root = "FOLDER"
source = "de"
target = "en"
tokens = "words"
max_length = 8
max_tokens = 60
workers = 0
VOCABULARY
[model]
name = "transformer_translation_small"
embed_dim = 16
encoder_depth = 1
decoder_depth = 1
encoder_heads = 2
decoder_heads = 2
encoder_mlp_dim = 16
decoder_mlp_dim = 16
)";

std::string pairs(const std::string& vocabulary) {
  std::string recipe = kPairs;
  return recipe.replace(recipe.find("VOCABULARY"), std::string_view("VOCABULARY").size(), vocabulary) + kOneStep;
}

std::string scenes(const std::string& model) {
  return R"([task]
kind = "detection"
[data]
root = "FOLDER/shapes"
classes = 6
workers = 0
[data.transform]
long_side = 64
short_sides = [64]
)" + model +
         kOneStep;
}

constexpr const char* kPyramid = R"(
embed_dims = [8, 8, 8, 8]
depths = [1, 1, 1, 1]
num_heads = [1, 1, 1, 1]
mlp_ratios = [1, 1, 1, 1]
[model.neck]
out_channels = 8
)";

constexpr const char* kRegions = R"(
[model.rpn_head]
feat_channels = 8
[model.rpn_head.proposals]
max_per_img = 20
[model.rpn_head.test_proposals]
max_per_img = 20
[model.roi_head.sampler]
num = 16
[model.roi_head.bbox_head]
fc_out_channels = 8
)";

/// Of classifiers whose images have sides of so many pixels.
std::map<std::string, Settings> needs_of_images(int side) {
  return {
      {"data.kind=\"mnist\"", {"model.classes=10"}},
      {"data.kind=\"fashion_mnist\"", {"model.classes=10"}},
      {"data.kind=\"cifar10\"", {"data.root=FOLDER/cifar10"}},
      {"data.kind=\"cifar100\"", {"data.root=FOLDER/cifar100"}},
      {"data.kind=\"class_folders\"", {"data.root=FOLDER/folders", "data.resize.image_size=" + std::to_string(side)}},
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
        {"vit", vit("vit_tiny_patch16_224"), write_images_of_each_kind, of_images},
        {"deit_distilled", vit("deit_tiny_distilled_patch16_224"), write_images_of_each_kind, of_images},
        {"pvt", pvt("pvt_tiny"), write_images_of_each_kind, of_pyramids},
        {"pvt_v2_linear", pvt("pvt_v2_b2_li"), write_images_of_each_kind, of_pyramids},
        {"swin",
         std::string(kImages) +
             "[data.resize]\nimage_size = 32\n[model]\nname = \"swin_tiny_patch4_window7_224\"\n"
             "embed_dim = 8\ndepths = [1, 1, 1, 1]\nnum_heads = [1, 2, 2, 4]\nwindow_size = 4\nmlp_ratio = 1\n" +
             kOneStep,
         write_images_of_each_kind, of_windows},
        {"t2t_performer",
         std::string(kImages) +
             "[data.resize]\nimage_size = 32\n[model]\nname = \"t2t_vit_14\"\nembed_dim = 16\n"
             "depth = 1\nnum_heads = 2\nmlp_ratio = 1\ntoken_dim = 8\n" +
             kOneStep,
         write_images_of_each_kind, of_windows},
        {"t2t_transformer",
         std::string(kImages) +
             "[data.resize]\nimage_size = 32\n[model]\nname = \"t2t_vit_t_14\"\nembed_dim = 16\n"
             "depth = 1\nnum_heads = 2\nmlp_ratio = 1\ntoken_dim = 8\n" +
             kOneStep,
         write_images_of_each_kind, of_windows},
        {"listops",
         sequences("kind = \"listops\"\nroot = \"FOLDER\"\n", "lra_listops"),
         write_sequences,
         of_sequences,
         {"model.pairs=true", "data.kind=\"matching\""}},
        {"matching",
         sequences("kind = \"matching\"\nroot = \"FOLDER\"\n", "lra_matching"),
         write_sequences,
         of_sequences,
         {"model.pairs=false", "data.kind=\"listops\"", "data.kind=\"imdb\"", "data.kind=\"cifar10_pixels\""}},
        {"transformer_xl", corpus("name = \"transformer_xl_small\"\n"), write_corpus, of_corpora},
        {"causal_transformer", corpus("name = \"causal_transformer_small\"\n"), write_corpus, of_corpora},
        {"translation", pairs("vocabulary = 13"), write_pairs, of_pairs, {"data.shared_vocabulary=false"}},
        {"translation_of_two_vocabularies",
         pairs("shared_vocabulary = false\nsource_vocabulary = 13\ntarget_vocabulary = 13"),
         write_pairs,
         with_two_vocabularies(of_pairs),
         {"data.shared_vocabulary=true"}},
        {"retinanet",
         scenes("[model]\nname = \"retinanet_pvt_tiny_fpn\"\n" + std::string(kPyramid) +
                "[model.bbox_head]\nfeat_channels = 8\nstacked_convs = 1\n"),
         write_scenes, of_scenes},
        {"mask_rcnn",
         scenes("[model]\nname = \"mask_rcnn_pvt_tiny_fpn\"\n" + std::string(kPyramid) + kRegions +
                "[model.roi_head.mask_head]\nconv_out_channels = 8\nnum_convs = 1\n"),
         write_scenes, of_scenes},
        {"faster_rcnn_swin",
         scenes("[model]\nname = \"faster_rcnn_swin_t_fpn\"\nembed_dim = 8\ndepths = [1, 1, 1, 1]\n"
                "num_heads = [1, 2, 2, 4]\nwindow_size = 4\nmlp_ratio = 1\n[model.neck]\nout_channels = 8\n" +
                std::string(kRegions)),
         write_scenes, of_scenes},
    };
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
