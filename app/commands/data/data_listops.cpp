#include <algorithm>
#include <iostream>
#include <memory>
#include <thread>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/commands/data/data_command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/data/text/listops/listops.h"
#include "cachet/data/text/listops/listops_file.h"
#include "cachet/report/format.h"
#include "cachet/report/program_name.h"
#include "cachet/report/text/text_table.h"
#include "cachet/train/machine/interruption.h"

namespace cachet::app {
namespace {

struct ListOpsArguments {
  std::string folder, progress = "auto";
  data::ListOpsOptions options;
  bool json = false;
};

/// Leaves the generator when the user asks for it.
struct Interrupted {};

data::ListOpsStatistics generate(const ListOpsArguments& arguments) {
  const train::Interruption interruption;
  CountedProgress progress("listops", arguments.progress, {.from_the_start = true});
  return data::write_listops_folder(arguments.folder, arguments.options, [&](int64_t done) {
    if (interruption.requested()) throw Interrupted();
    progress.show(done, arguments.options.size());
  });
}

nlohmann::ordered_json to_json(const ListOpsArguments& arguments, const data::ListOpsStatistics& statistics) {
  nlohmann::ordered_json operators;
  for (size_t i = 0; i < statistics.operators.size(); ++i)
    operators[std::string(data::kListOpsOperators[i])] = statistics.operators[i];
  const data::ListOpsOptions& options = arguments.options;
  return {
      {"schema", kSchema},
      {"folder", arguments.folder},
      {"train", options.train},
      {"validation", options.validation},
      {"test", options.test},
      {"draws", statistics.attempts},
      {"values", statistics.values},
      {"operators", operators},
      {"lengths",
       {{"longer_than", options.longer_than}, {"shorter_than", options.shorter_than}, {"counts", statistics.lengths}}}};
}

std::string share_of(int64_t count, int64_t all) {
  return all == 0 ? "" : report::format_percent(static_cast<double>(count) / static_cast<double>(all));
}

void print_statistics(const data::ListOpsStatistics& statistics) {
  using report::Alignment;
  report::Table values;
  values.columns = {{"value"}, {"expressions", Alignment::right}, {"share", Alignment::right}};
  int64_t expressions = 0, uses = 0;
  for (const int64_t count : statistics.values) expressions += count;
  for (const int64_t count : statistics.operators) uses += count;
  for (size_t value = 0; value < statistics.values.size(); ++value)
    values.rows.push_back({std::to_string(value), std::to_string(statistics.values[value]),
                           share_of(statistics.values[value], expressions)});
  report::Table operators;
  operators.columns = {{"operator"}, {"uses", Alignment::right}, {"share", Alignment::right}};
  for (size_t i = 0; i < statistics.operators.size(); ++i)
    operators.rows.push_back({std::string(data::kListOpsOperators[i]), std::to_string(statistics.operators[i]),
                              share_of(statistics.operators[i], uses)});
  const report::TextForm form = printed_form(/*wide=*/false);
  std::cout << report::text_table(values, form) << '\n' << report::text_table(operators, form) << '\n';
}

int run_listops(const ListOpsArguments& arguments) {
  try {
    data::check(arguments.options);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--" + std::string(error.what()));
  }
  try {
    const data::ListOpsStatistics statistics = generate(arguments);
    if (arguments.json) {
      print_json(to_json(arguments, statistics));
      return kDone;
    }
    print_statistics(statistics);
  } catch (const Interrupted&) {
    std::cerr << report::program_name() << " data listops: interrupted; nothing was written\n";
    return kInterrupted;
  }
  std::cout << arguments.folder << '\n';
  return kDone;
}

}  // namespace

Action declare_data_listops(CLI::App& app) {
  auto arguments = std::make_shared<ListOpsArguments>();
  data::ListOpsOptions& options = arguments->options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("-o,--output", arguments->folder,
                 "The folder to create, with basic_train.tsv, basic_val.tsv and basic_test.tsv")
      ->required()
      ->type_name("FOLDER");
  const auto number = [&app](const char* name, int64_t& value, const std::string& meaning) {
    add_number(app, name, value, meaning + " (default: " + std::to_string(value) + ")")->type_name("N");
  };
  number("--train", options.train, "Expressions to train with");
  number("--validation", options.validation, "Expressions to validate with");
  number("--test", options.test, "Expressions to test with");
  number("--depth", options.depth, "Maximum depth of an expression. Operators are nested at most N - 1 levels deep");
  number("--arguments", options.arguments, "Maximum number of arguments of an operator");
  number("--longer-than", options.longer_than, "Each expression has more than N tokens, not counting parentheses");
  number("--shorter-than", options.shorter_than, "Each expression has fewer than N tokens, not counting parentheses");
  add_number(app, "--seed", options.seed, "Random seed of the expressions (default: 0)")->type_name("N");
  add_number(app, "--threads", options.threads,
             "Number of threads, which affects only the speed (default: all threads of the machine)")
      ->type_name("N");
  add_progress_option(app, arguments->progress);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_listops(*arguments); };
}

}  // namespace cachet::app
