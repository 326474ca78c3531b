#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app/arguments/number_option.h"
#include "app/commands/data/data_command.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "cachet/config/counted.h"
#include "cachet/data/data_path.h"
#include "cachet/data/text/parallel/parallel_split.h"

namespace cachet::app {
namespace {

struct PairsArguments {
  std::string file;
  OutputArgument output;
  data::PairSplitOptions options;
  bool json = false;
};

int run_pairs(const PairsArguments& arguments) try {
  const std::string& folder = arguments.output.path;
  const data::PairSplitOptions& options = arguments.options;
  const auto file = data::find_data_path("FILE", arguments.file, data::PathKind::file, std::filesystem::current_path(),
                                         "each line of the file must have a sentence and its translation");
  require_folder_output(arguments.output, {{}, {file}},
                        [&](const std::filesystem::path& path) { return data::is_pair_folder(path, options.columns); });
  const data::PairSplitCounts counts = data::write_pair_folder(file, folder, options, arguments.output.overwrite);
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", kSchema},
                                      {"folder", folder},
                                      {"train", counts.train},
                                      {"validation", counts.validation},
                                      {"test", counts.test},
                                      {"sentences", counts.sentences},
                                      {"groups", counts.groups},
                                      {"largest_group", counts.largest_group},
                                      {"left_out_empty", counts.empty},
                                      {"left_out_repeated", counts.repeated},
                                      {"left_out_byte_order_mark", counts.byte_order_mark}};
    print_json(json);
    return kDone;
  }
  std::cout << config::counted(counts.train, "pair") << " to train with, " << counts.validation << " to validate with, "
            << counts.test << " to test with\n"
            << "pairs that share a sentence form a group, which stays in one split: "
            << config::counted(counts.groups, "group") << "; the largest has "
            << config::counted(counts.largest_group, "pair") << '\n';
  if (counts.empty > 0) std::cout << "left out: " << config::counted(counts.empty, "row") << " with an empty side\n";
  if (counts.repeated > 0)
    std::cout << "left out: " << config::counted(counts.repeated, "row that repeats", "rows that repeat")
              << " another row\n";
  if (counts.byte_order_mark) std::cout << "the byte-order mark before the first row was left out\n";
  std::cout << folder << '\n';
  return kDone;
} catch (const std::invalid_argument& error) {
  throw UsageError("--columns, --by and --held-out: " + std::string(error.what()));
}

}  // namespace

Action declare_data_pairs(CLI::App& app) {
  auto arguments = std::make_shared<PairsArguments>();
  app.add_option("FILE", arguments->file,
                 "A .tsv file (plain, .gz or .xz) with a sentence and its translation in each line")
      ->required()
      ->type_name("");
  add_output(app, arguments->output, "The folder to create, with the files train.de, train.en, valid.de and so on",
             "FOLDER")
      ->required();
  app.add_option("--columns", arguments->options.columns,
                 "Languages of the columns, such as en,de. Write - for a column to skip")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LANGUAGES");
  app.add_option("--by", arguments->options.by,
                 "Language whose sentences --held-out counts (default: the language of the first column)")
      ->type_name("LANGUAGE");
  add_number(app, "--held-out", arguments->options.held_out,
             "Number of sentences for validation, counted in the language of --by. The test split gets the same number "
             "(default: 1000)",
             {1})
      ->type_name("N");
  add_number(app, "--seed", arguments->options.seed, "Random seed of the splits (default: 0)")->type_name("N");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_pairs(*arguments); };
}

}  // namespace cachet::app
