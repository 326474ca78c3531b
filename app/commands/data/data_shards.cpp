#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/commands/data/data_command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "cachet/config/counted.h"
#include "cachet/data/data_path.h"
#include "cachet/data/vision/class_folders.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/shards/shard_writer.h"
#include "cachet/data/vision/shards/shards.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/report/program_name.h"
#include "cachet/train/machine/interruption.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct ShardArguments {
  std::string folder, progress = "auto";
  OutputArgument output;
  std::vector<std::string> splits;  // none: those that the folder has
  int64_t shard_megabytes = 256;
  uint64_t seed = 0;
  bool in_order = false, skip_other_files = false, json = false;
};

/// Leaves the writer when the user asks for it.
struct ShardsInterrupted {};

/// A split of the folder, and the shards that were made of it.
struct SplitOfShards {
  std::string name;
  std::shared_ptr<const data::LabelledImages> images;
  data::WrittenShards written{};
};

data::Split split_of(const std::string& name) {
  return name == "train" ? data::Split::train : name == "val" ? data::Split::validation : data::Split::test;
}

bool has_split(const fs::path& root, const std::string& name) {
  std::error_code unreadable;
  return fs::is_directory(root / name, unreadable);
}

std::vector<std::string> chosen_splits(const ShardArguments& arguments, const fs::path& root) {
  std::vector<std::string> chosen;
  for (const char* name : {"train", "val", "test"}) {
    const bool is_named = std::ranges::find(arguments.splits, name) != arguments.splits.end();
    if (is_named || (arguments.splits.empty() && has_split(root, name))) chosen.emplace_back(name);
  }
  if (chosen.empty()) chosen.emplace_back("train");  // the class folders are in the root itself
  return chosen;
}

std::vector<SplitOfShards> opened_splits(const ShardArguments& arguments, const fs::path& root,
                                         CountedProgress& progress) {
  data::DatasetOptions options{.kind = &data::kClassFolders, .root = root};
  options.folders.how_to_skip = "give --skip-other-files";
  options.folders.skip_other_files = arguments.skip_other_files;
  if (has_split(root, "test")) options.folders.test_folder = "test";
  const bool has_splits = has_split(root, "train") || has_split(root, "val") || has_split(root, "test");
  if (!has_splits) options.folders.train_folder = ".";
  options.classes = static_cast<int64_t>(data::class_folder_names(options, root).size());
  std::vector<SplitOfShards> splits;
  for (const std::string& name : chosen_splits(arguments, root)) {
    if (has_splits && !has_split(root, name))
      throw io::Error((root / name).string() + ": there is no such folder; --splits names folders that exist");
    splits.push_back({name, data::open_class_folders(root, split_of(name), options,
                                                     [&](int64_t files) { progress.show(files, "images"); })});
  }
  return splits;
}

/// Whether a folder may be replaced with --overwrite: it has shards of this command. Throws UsageError, which names an
/// entry, if the folder also has other entries, because they would be lost.
bool may_be_replaced(const fs::path& folder) {
  std::error_code unreadable;
  if (!fs::is_regular_file(folder / data::kShardClasses, unreadable)) return false;
  if (const auto other = data::entry_other_than_shards(folder))
    throw UsageError(folder.string() + " has " + io::in_quotes(*other) +
                     ", which this command does not write; give another folder, or move this entry out of the folder");
  return true;
}

void require_space(const fs::path& folder, const std::vector<SplitOfShards>& splits) {
  constexpr uint64_t kOverhead = 2048;  // headers, the class and the rest of the last block, for each image
  uint64_t bytes = 0;
  for (const SplitOfShards& split : splits)
    for (int64_t i = 0; i < split.images->size(); ++i)
      if (const auto stored = split.images->images().stored(i)) bytes += stored->size + kOverhead;
  io::require_free_space(folder, bytes);
}

void write_splits(const ShardArguments& arguments, std::vector<SplitOfShards>& splits, CountedProgress& progress) {
  const train::Interruption interruption;
  io::NewFolder folder(arguments.output.path,
                       arguments.output.overwrite ? io::NewFolder::Taken::replaced : io::NewFolder::Taken::refused);
  require_space(folder.path(), splits);
  int64_t all = 0, before = 0;
  for (const SplitOfShards& split : splits) all += split.images->size();
  data::write_shard_classes(folder.path(), splits.front().images->labels().class_names());
  for (SplitOfShards& split : splits) {
    const data::ShardOrder order{split.name == "train" && !arguments.in_order, arguments.seed};
    const auto show = [&](int64_t done) {
      if (interruption.requested()) throw ShardsInterrupted();
      progress.show(before + done, all);
    };
    split.written = data::write_shards(folder.path(), split.name, *split.images,
                                       static_cast<uint64_t>(arguments.shard_megabytes) * 1'000'000, order, show);
    before += split.images->size();
  }
  io::sync_directory(folder.path());
  require_folder_output(arguments.output, {}, may_be_replaced);  // the folder may have changed meanwhile
  folder.finish();
  progress.finish();
}

nlohmann::ordered_json to_json(const ShardArguments& arguments, const std::vector<SplitOfShards>& splits) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SplitOfShards& split : splits)
    list.push_back({{"split", split.name},
                    {"images", split.written.images},
                    {"shards", split.written.shards},
                    {"bytes", split.written.bytes},
                    {"skipped_files", split.images->passed_over() ? split.images->passed_over()->count() : 0}});
  return {{"schema", kSchema},
          {"folder", arguments.output.path},
          {"classes", splits.front().images->labels().classes()},
          {"splits", list}};
}

int run_shards(const ShardArguments& arguments) {
  for (const std::string& name : arguments.splits)
    if (name != "train" && name != "val" && name != "test")
      throw UsageError("--splits must name train, val or test, not '" + name + "'");
  const fs::path root = data::find_data_path("FOLDER", arguments.folder, data::PathKind::folder, fs::current_path(),
                                             "it should contain train and val, with a folder of images for each class");
  require_folder_output(arguments.output, {.inputs = {root}}, may_be_replaced);
  CountedProgress progress("shards", arguments.progress);
  std::vector<SplitOfShards> splits = opened_splits(arguments, root, progress);
  try {
    write_splits(arguments, splits, progress);
  } catch (const ShardsInterrupted&) {
    progress.finish();
    std::cerr << report::program_name() << " data shards: interrupted; nothing was written\n";
    return kInterrupted;
  }
  if (arguments.json) {
    print_json(to_json(arguments, splits));
    return kDone;
  }
  for (const SplitOfShards& split : splits) {
    std::cout << split.name << ": " << config::counted(split.written.images, "image") << " in "
              << config::counted(split.written.shards, "shard") << '\n';
    if (const auto& files = split.images->passed_over())
      if (const auto note = files->note()) std::cout << *note << '\n';
  }
  std::cout << arguments.output.path << '\n';
  return kDone;
}

}  // namespace

Action declare_data_shards(CLI::App& app) {
  auto arguments = std::make_shared<ShardArguments>();
  app.add_option(
         "FOLDER", arguments->folder,
         "Folder with train, val and test, each with a folder of JPEG and PNG files for each class; or with the "
         "class folders themselves, whose images become the training split")
      ->required();
  add_output(app, arguments->output, "The folder to create, with train-000000.tar, …, and classes.txt", "FOLDER")
      ->required();
  add_number(app, "--shard-size", arguments->shard_megabytes, "Maximum size of a shard in megabytes (default: 256)",
             {1, 1'000'000})
      ->type_name("MB");
  add_number(app, "--shuffle", arguments->seed, "Random seed of the order of the training images (default: 0)")
      ->type_name("SEED");
  app.add_flag("--in-order", arguments->in_order,
               "Write the training images in the order of the class folders, without shuffling");
  app.add_option("--splits", arguments->splits, "Splits to write: train, val, test (default: those that exist)")
      ->delimiter(',')
      ->type_name("SPLITS");
  app.add_flag("--skip-other-files", arguments->skip_other_files,
               "Skip files that are not JPEG or PNG files, which are otherwise an error");
  add_progress_option(app, arguments->progress);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_shards(*arguments); };
}

}  // namespace cachet::app
