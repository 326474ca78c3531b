#include <filesystem>
#include <iostream>
#include <memory>

#include "app/arguments/number_option.h"
#include "app/commands/data/data_command.h"
#include "app/output/json.h"
#include "cachet/config/counted.h"
#include "cachet/data/data_path.h"
#include "cachet/data/text/sequences/matching_maker.h"

namespace cachet::app {
namespace {

struct MatchingArguments {
  std::string imdb, folder;
  data::MatchingOptions options;
  bool json = false;
};

int run_matching(const MatchingArguments& arguments) {
  if (!(arguments.options.evaluation_fraction > 0 && arguments.options.evaluation_fraction < 1))
    throw UsageError("--evaluation must be above 0 and below 1");
  const auto imdb =
      data::find_data_path("--imdb", arguments.imdb, data::PathKind::folder, std::filesystem::current_path(),
                           "the folder must contain the folders train and test, each with the folders neg and pos");
  const data::MatchingCounts counts = data::write_matching_folder(imdb, arguments.folder, arguments.options);
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", kSchema},
                                      {"folder", arguments.folder},
                                      {"train", counts.train},
                                      {"evaluation", counts.evaluation},
                                      {"test", counts.test},
                                      {"reviews_left_out", counts.left_out},
                                      {"reviews_repeated", counts.repeated},
                                      {"notes", counts.notes}};
    print_json(json);
    return kDone;
  }
  std::cout << config::counted(counts.train, "pair") << " to train with, " << counts.evaluation << " to evaluate with, "
            << counts.test << " to test with\n";
  if (counts.left_out > 0)
    std::cout << "left out: " << config::counted(counts.left_out, "review") << " with fewer than two words\n";
  if (counts.repeated > 0)
    std::cout << "left out: " << config::counted(counts.repeated, "review")
              << " with the same text as another review\n";
  for (const std::string& note : counts.notes) std::cout << note << '\n';
  std::cout << arguments.folder << '\n';
  return kDone;
}

}  // namespace

Action declare_data_matching(CLI::App& app) {
  auto arguments = std::make_shared<MatchingArguments>();
  app.add_option("--imdb", arguments->imdb,
                 "Folder of the reviews, which contains the folders train and test, each with the folders neg and pos")
      ->required()
      ->type_name("FOLDER");
  app.add_option("-o,--output", arguments->folder,
                 "The folder to create, with imdb_pairs.train.tsv, .eval.tsv and .test.tsv")
      ->required()
      ->type_name("FOLDER");
  add_number(app, "--evaluation", arguments->options.evaluation_fraction,
             "Fraction of the training reviews that are held out for the evaluation pairs (default: 0.1)")
      ->type_name("SHARE");
  add_number(app, "--seed", arguments->options.seed, "Random seed of the pairs (default: 0)")->type_name("N");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_matching(*arguments); };
}

}  // namespace cachet::app
