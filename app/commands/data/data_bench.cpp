#include <ATen/Parallel.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <thread>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/data/data_command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/analysis/statistics/statistics.h"
#include "cachet/config/counted.h"
#include "cachet/data/order/windowed_batches.h"
#include "cachet/data/vision/class_folders.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/loader_speed.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/data/vision/shards/shards.h"
#include "cachet/report/format.h"
#include "cachet/report/program_name.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/image_classification/image_classification_plan.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/machine/interruption.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct DataBenchArguments {
  std::string source, progress = "auto";
  std::vector<std::string> settings;
  std::vector<int64_t> cores;
  double seconds = 10;
  int64_t size = 224, batch_size = 64;
  bool json = false, wide = false;
};

/// Leaves the measurement when the user asks for it.
struct BenchInterrupted {};

constexpr int64_t kBenchRounds = 7;

/// What a loader of the training split needs.
struct BenchedData {
  std::string kind;
  std::shared_ptr<const data::LabelledImages> images;
  data::ImageTransform transform;
  int64_t batch_size = 0, window = 0;
  data::BadImageOptions bad_images{};
};

bool has_shards_in(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".tar") return true;
  return false;
}

BenchedData data_of_folder(const DataBenchArguments& arguments) {
  data::DatasetOptions options{.root = arguments.source};
  options.folders.skip_other_files = true;  // a folder without a recipe cannot have the key
  options.kind = has_shards_in(arguments.source) ? &data::kShards : &data::kClassFolders;
  std::error_code error;
  if (options.kind == &data::kShards) {
    const auto names = data::read_shard_classes(options.root);
    options.classes = names ? static_cast<int64_t>(names->size()) : data::kShards.most_classes;
  } else {
    if (!fs::is_directory(options.root / options.folders.train_folder, error)) options.folders.train_folder = ".";
    options.classes = static_cast<int64_t>(data::class_folder_names(options, options.root).size());
  }
  auto images = data::open_dataset(options, data::Split::train);
  data::AugmentationOptions augmentation{.flip = 0.5, .crop = data::CropKind::resized};
  data::ResizeOptions resize = data::ResizeOptions::of_own_sizes();
  resize.image_size = arguments.size;
  const auto normalization = data::make_normalization({}, *options.kind, images->images());
  data::ImageTransform transform(images->images().shape(), normalization, augmentation, resize);
  return {std::string(options.kind->name), std::move(images), std::move(transform), arguments.batch_size,
          options.shards.window};
}

BenchedData data_of_recipe(const DataBenchArguments& arguments) {
  config::Document document = read_document(find_recipe(arguments.source), arguments.settings);
  const tasks::RecipePlan plan = tasks::read_recipe(document);
  const auto* images_plan = dynamic_cast<const tasks::ImageClassificationPlan*>(plan.task.get());
  if (images_plan == nullptr)
    throw UsageError(arguments.source + " does not classify images; data bench measures only loaders of such recipes");
  const tasks::ImageClassificationOptions& options = images_plan->options();
  auto images = data::open_dataset(options.dataset, data::Split::train);
  const auto normalization = data::make_normalization(options.normalization, *options.dataset.kind, images->images());
  data::ImageTransform transform(images->images().shape(), normalization, options.augmentation, options.resize);
  return {std::string(options.dataset.kind->name),
          std::move(images),
          std::move(transform),
          plan.training.train.batch_size,
          options.dataset.shards.window,
          data::BadImageOptions{options.dataset.on_bad_image, /*has_key=*/options.dataset.kind->has_shards}};
}

std::vector<int64_t> default_cores() {
  const int64_t all = std::max(1u, std::thread::hardware_concurrency());
  std::vector<int64_t> cores;
  for (int64_t count = 1; count < all; count *= 2) cores.push_back(count);
  cores.push_back(all);
  return cores;
}

std::vector<data::LoaderSpeed> measure(const DataBenchArguments& arguments, const BenchedData& benched) {
  at::set_num_threads(1);  // the threads of the loader are counted, and no others
  std::vector<int64_t> shard_sizes = benched.images->images().shard_sizes();
  if (shard_sizes.empty()) shard_sizes = {benched.images->size()};
  const int64_t window = benched.images->images().shard_sizes().empty() ? benched.images->size() : benched.window;
  const data::EqualBatchOptions batches{.batch_size = std::min(benched.batch_size, benched.images->size())};
  const auto order = std::make_shared<data::WindowedBatches>(std::move(shard_sizes), window, batches);
  data::LoaderSpeedOptions options{.threads = arguments.cores.empty() ? default_cores() : arguments.cores};
  options.rounds = kBenchRounds;
  options.seconds = arguments.seconds / static_cast<double>(kBenchRounds);
  options.bad_images = benched.bad_images;
  const train::Interruption interruption;
  CountedProgress progress("bench", arguments.progress);
  const auto all = static_cast<int64_t>(options.threads.size()) * options.rounds;
  auto speeds = data::measure_loader(benched.images, benched.transform, order, options, [&](int64_t done) {
    if (interruption.requested()) throw BenchInterrupted();
    progress.show(done, all);
  });
  progress.finish();
  for (const std::string& line : benched.bad_images.notes->lines()) std::cerr << line << '\n';
  return speeds;
}

nlohmann::ordered_json to_json(const BenchedData& benched, const std::vector<data::LoaderSpeed>& speeds) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const data::LoaderSpeed& speed : speeds) {
    const auto [lower, median, upper] = analysis::quartiles(speed.images_per_second);
    list.push_back({{"cores", speed.threads},
                    {"images_per_second", median},
                    {"lower_quartile", lower},
                    {"upper_quartile", upper},
                    {"rounds", speed.images_per_second}});
  }
  const data::ImageShape shape = benched.transform.output_shape();
  return {{"schema", kSchema},      {"kind", benched.kind}, {"images", benched.images->size()},
          {"height", shape.height}, {"width", shape.width}, {"batch_size", benched.batch_size},
          {"cores", list}};
}

void print_speeds(const BenchedData& benched, const std::vector<data::LoaderSpeed>& speeds, bool wide) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"threads", Alignment::right},
                   {"images/s", Alignment::right},
                   {"lower quartile", Alignment::right},
                   {"upper quartile", Alignment::right}};
  for (const data::LoaderSpeed& speed : speeds) {
    const auto [lower, median, upper] = analysis::quartiles(speed.images_per_second);
    table.rows.push_back({std::to_string(speed.threads), report::format_fixed(median, 0),
                          report::format_fixed(lower, 0), report::format_fixed(upper, 0)});
  }
  const data::ImageShape shape = benched.transform.output_shape();
  std::cout << config::counted(benched.images->size(), "training image") << " (" << benched.kind
            << "), read, decoded and transformed to " << shape.height << " x " << shape.width
            << " pixels in batches of " << benched.batch_size << "; " << kBenchRounds << " rounds\n"
            << report::text_table(table, printed_form(wide));
}

int run_data_bench(const DataBenchArguments& arguments) {
  std::error_code error;
  const bool is_folder = fs::is_directory(arguments.source, error);
  if (is_folder && !arguments.settings.empty())
    throw UsageError("--set changes a recipe, but " + arguments.source + " is a folder");
  if (!(arguments.seconds > 0)) throw UsageError("--seconds must be above 0");
  try {
    const BenchedData benched = is_folder ? data_of_folder(arguments) : data_of_recipe(arguments);
    const auto speeds = measure(arguments, benched);
    if (arguments.json)
      print_json(to_json(benched, speeds));
    else
      print_speeds(benched, speeds, arguments.wide);
    return kDone;
  } catch (const BenchInterrupted&) {
    std::cerr << report::program_name() << " data bench: interrupted\n";
    return kInterrupted;
  }
}

}  // namespace

Action declare_data_bench(CLI::App& app) {
  auto arguments = std::make_shared<DataBenchArguments>();
  app.add_option("RECIPE", arguments->source,
                 "A recipe that classifies images; or a folder of shards or class folders, whose images are cropped at "
                 "random, resized and flipped")
      ->required();
  add_number(app, "--cores", arguments->cores,
             "Numbers of loader threads to measure, such as 1,2,4 (default: powers of two up to all threads of the "
             "machine)",
             {1, 256})
      ->delimiter(',')
      ->type_name("N");
  add_number(app, "--seconds", arguments->seconds,
             "Seconds to measure each number of threads, without the time that loaders need to start (default: 10)",
             {0, 3600})
      ->type_name("S");
  add_number(app, "--size", arguments->size, "For a folder: side of the images in pixels (default: 224)", {1, 4096})
      ->type_name("N");
  add_number(app, "--batch-size", arguments->batch_size, "For a folder: images of a batch (default: 64)", {1, 65536})
      ->type_name("N");
  add_recipe_settings(app, arguments->settings);
  add_wide_option(app, arguments->wide);
  add_progress_option(app, arguments->progress);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_data_bench(*arguments); };
}

}  // namespace cachet::app
