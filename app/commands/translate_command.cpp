#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/arguments/ability.h"
#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/arguments/sample_arguments.h"
#include "app/commands/command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "cachet/report/format.h"
#include "cachet/report/text/terminal.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/inference/inference_scope.h"

namespace cachet::app {
namespace {

struct TranslateArguments {
  SavedRunArgument model;
  std::vector<std::string> files{"-"};
  tasks::TranslationOptions options;
  models::SamplingOptions sampling;
  // The recipe's values, if the command line does not set them.
  std::optional<int64_t> beam, shortest, added, lines;
  std::optional<double> length_penalty, per_token;
  std::string progress = "auto";
  bool draws = false, json = false;
  std::string of_drawing;  // an option that was given and is of drawing alone
};

/// The lines of all files, one after the other.
std::function<std::optional<std::string>()> lines_of(std::vector<std::string> files) {
  return [files = std::move(files), number = size_t{0}, next = tasks::NextSample()]() mutable {
    while (true) {
      if (next)
        if (auto line = next()) return std::optional(std::move(line->text));
      if (number == files.size()) return std::optional<std::string>();
      next = samples_of_lines(files[number++]);
    }
  };
}

bool reads_terminal(const TranslateArguments& arguments) {
  return std::ranges::find(arguments.files, "-") != arguments.files.end() && report::is_terminal(STDIN_FILENO);
}

void print_translation(const tasks::TranslatedLine& line, bool json, bool several) {
  if (json) {
    auto translations = nlohmann::ordered_json::array();
    for (const auto& each : line.translations) translations.push_back({{"text", each.text}, {"score", each.score}});
    std::cout << json_line({{"schema", kSchema},
                            {"line", line.index + 1},
                            {"source", line.source},
                            {"translations", translations}})
              << '\n';
  } else if (several) {
    if (line.translations.empty()) std::cout << line.index + 1 << "\t\t\n";
    for (const auto& each : line.translations)
      std::cout << line.index + 1 << '\t' << report::format_fixed(each.score, 4) << '\t' << each.text << '\n';
  } else {
    std::cout << (line.translations.empty() ? "" : line.translations.front().text) << '\n';
  }
  if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
}

void lay_over(models::BeamOptions& beam, const TranslateArguments& arguments) {
  beam.n_best = arguments.options.beam.n_best;
  beam.beam = arguments.beam.value_or(arguments.draws ? std::max(beam.beam, beam.n_best) : beam.beam);
  beam.length_penalty = arguments.length_penalty.value_or(beam.length_penalty);
  beam.lengths.shortest = arguments.shortest.value_or(beam.lengths.shortest);
  beam.lengths.per_token = arguments.per_token.value_or(beam.lengths.per_token);
  beam.lengths.added = arguments.added.value_or(beam.lengths.added);
}

int run_translate(const TranslateArguments& arguments) {
  tasks::TranslationOptions options = arguments.options;
  if (arguments.draws) options.sampling = arguments.sampling;
  if (arguments.draws && arguments.beam)
    throw UsageError("--beam and --sample cannot be combined; leave one of them out");
  if (!arguments.draws && !arguments.of_drawing.empty())
    throw UsageError(arguments.of_drawing + " works only with --sample; add --sample or leave the option out");
  const tasks::SavedRun saved = tasks::open_saved_run(arguments.model.path, arguments.model.all_settings());
  const auto task = load(saved, arguments.model, tasks::Splits::given);
  auto& translates = capability_of<tasks::TranslatesText>(*task, "translate");
  options.beam = translates.translation_options().beam;
  lay_over(options.beam, arguments);
  if (arguments.lines)
    options.lines = *arguments.lines;
  else if (reads_terminal(arguments))
    options.lines = 1;
  if (!arguments.draws && options.beam.n_best > options.beam.beam)
    throw UsageError("--n-best " + std::to_string(options.beam.n_best) + " is larger than the beam size of " +
                     std::to_string(options.beam.beam) + "; give --beam " + std::to_string(options.beam.n_best) +
                     ", too");
  try {
    tasks::check_translation(options);
  } catch (const std::invalid_argument& problem) {
    throw UsageError(problem.what());
  }
  const train::InferenceScope inference(task->model(),
                                        {.precision = saved.plan.training.train.precision, .packed = true});
  CountedProgress progress("translate", arguments.progress,
                           {.results_on_terminal = report::is_terminal(STDOUT_FILENO),
                            .asked_line_by_line = std::ranges::any_of(arguments.files, comes_line_by_line)});
  translates.translate(lines_of(arguments.files), options, [&](const tasks::TranslatedLine& line) {
    print_translation(line, arguments.json, options.beam.n_best > 1);
    progress.show(line.index + 1, "lines");
  });
  progress.finish();
  for (const std::string& note : translates.notes_on_translated()) std::cerr << "note: " << note << '\n';
  return kDone;
}

Action declare_translate(CLI::App& app) {
  auto arguments = std::make_shared<TranslateArguments>();
  tasks::TranslationOptions& options = arguments->options;
  add_saved_run(app, arguments->model);
  app.add_option("FILE", arguments->files,
                 "Files with one sentence in each line; - is standard input, which is also read if no file is given");
  add_number(
      app, "--beam", arguments->beam,
      "Beam size: number of hypotheses that the search retains for each sentence (default: the value in the recipe)",
      {1, 1000})
      ->type_name("N");
  add_number(
      app, "--n-best", options.beam.n_best,
      "Print the N best translations of each line. If N is above 1, each output line has the number of the input "
      "line, a score and the translation, separated by tabs (default: 1)",
      {1, 1000})
      ->type_name("N");
  add_number(app, "--length-penalty", arguments->length_penalty,
             "Length penalty: a translation's log-probability is divided by its length to this power (default: the "
             "value in the recipe)")
      ->type_name("X");
  add_number(app, "--min-length", arguments->shortest,
             "Minimum number of tokens of a translation (default: the value in the recipe)", {0, 1 << 20})
      ->type_name("N");
  add_number(app, "--max-length-a", arguments->per_token,
             "Factor A of the maximum length: the translation of a sentence of L tokens has at most A·L + B tokens "
             "(default: the value in the recipe)",
             {0, 1000})
      ->type_name("A");
  add_number(app, "--max-length-b", arguments->added,
             "Constant B of the maximum length A·L + B (default: the value in the recipe)", {0, 1 << 20})
      ->type_name("B");
  app.add_flag("--sample", arguments->draws, "Sample translations instead of searching for the most probable one");
  models::SamplingOptions& sampling = arguments->sampling;
  const auto of_drawing = [&](CLI::Option* option, const char* type) {
    option->type_name(type)->each(
        [arguments, option](const std::string&) { arguments->of_drawing = option->get_name(); });
  };
  of_drawing(add_number(app, "--temperature", sampling.temperature, "With --sample: sampling temperature (default: 1)"),
             "X");
  of_drawing(add_number(app, "--top-k", sampling.top_k,
                        "With --sample: sample from the K most probable tokens; 0 samples from all (default: 0)"),
             "K");
  of_drawing(add_number(app, "--top-p", sampling.top_p,
                        "With --sample: top-p (nucleus) sampling from the smallest set of tokens whose probabilities "
                        "sum to P or more (default: 1)"),
             "P");
  of_drawing(add_number(app, "--repetition-penalty", sampling.repetition_penalty,
                        "With --sample: repetition penalty; values above 1 make tokens that are already in the "
                        "translation less probable (default: 1)"),
             "X");
  of_drawing(add_number(app, "--seed", options.seed, "With --sample: random seed (default: 0)"), "N");
  add_number(app, "--lines-at-once", arguments->lines,
             "Number of lines to read before they are translated (default: 256; 1 from a terminal)", {1, 1'000'000})
      ->type_name("N");
  add_number(app, "--tokens-at-once", options.max_tokens,
             "Maximum number of tokens in a batch of sentences (default: 4096)", {1, 1 << 24})
      ->type_name("N");
  app.add_flag("--json", arguments->json, "Print a JSON object for each line");
  add_progress_option(app, arguments->progress);
  return [arguments] { return run_translate(*arguments); };
}

const Registration registered_translate({Topic::runs,
                                         "translate",
                                         "Translate text line by line",
                                         {"cachet translate my-run test.de > test.en",
                                          "cachet translate my-run test.de --beam 10 --n-best 3",
                                          "cachet translate my-run test.de --sample --temperature 0.7 --json"},
                                         declare_translate});

}  // namespace
}  // namespace cachet::app
