#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/arguments/ability.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/arguments/sample_arguments.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "cachet/config/counted.h"
#include "cachet/config/utf8.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/inference/inference_scope.h"

namespace cachet::app {
namespace {

struct GenerateArguments {
  SavedRunArgument model;
  std::string prompt, lines;
  tasks::GenerationOptions options;
  bool has_prompt = false;  // --prompt may be an empty text
  bool json = false;
};

std::string repaired(const std::string& text) {
  config::Utf8Repair repair;
  std::string whole = repair.add(text);
  return whole + repair.finish();
}

/// Writes the text that follows a prompt: after the prompt while it is made, or as a JSON object. Bytes that are not
/// UTF-8 become U+FFFD; a model of bytes may make some, too.
void generate(tasks::GeneratesText& task, const GenerateArguments& arguments, const std::string& prompt) {
  std::string text;
  config::Utf8Repair repair;
  if (!arguments.json) std::cout << repaired(prompt) << std::flush;
  const auto write = [&](const std::string& piece) {
    text += piece;
    if (!arguments.json && !(std::cout << piece << std::flush))
      throw std::runtime_error("cannot write to standard output");
  };
  task.generate(prompt, arguments.options, [&](const std::string& piece) { write(repair.add(piece)); });
  write(repair.finish());
  if (arguments.json) std::cout << json_line({{"schema", kSchema}, {"prompt", prompt}, {"text", text}});
  std::cout << std::endl;
}

/// Whether somebody gives prompts on standard input without an option: a pipe, or a file that is not empty.
bool has_given_input() {
  struct stat input {};
  if (::fstat(STDIN_FILENO, &input) != 0) return false;
  return S_ISFIFO(input.st_mode) || (S_ISREG(input.st_mode) && input.st_size > 0);
}

int run_generate(const GenerateArguments& arguments) {
  try {
    models::check_sampling(arguments.options.sampling);
  } catch (const std::invalid_argument& problem) {
    throw UsageError(problem.what());
  }
  if (!arguments.prompt.empty() && !arguments.lines.empty())
    throw UsageError("give the prompts with --prompt or with --lines, not with both");
  const tasks::SavedRun saved = tasks::open_saved_run(arguments.model.path, arguments.model.all_settings());
  const auto task = load(saved, arguments.model, tasks::Splits::given);
  auto& generates = capability_of<tasks::GeneratesText>(*task, "generate text");
  const train::InferenceScope inference(task->model(), {.precision = saved.plan.training.train.precision});
  const bool reads_input = !arguments.has_prompt && arguments.lines.empty() && has_given_input();
  bool has_lines = false;
  int64_t number = 0, wrong = 0, first_wrong = 0;  // lines that are not UTF-8
  if (reads_input || !arguments.lines.empty()) {
    const tasks::NextSample next = samples_of_lines(reads_input ? "-" : arguments.lines);
    while (const auto line = next()) {
      has_lines = true;
      ++number;
      if (config::first_invalid_utf8(line->text) != std::string::npos && wrong++ == 0) first_wrong = number;
      generate(generates, arguments, line->text);
    }
  }
  if (!has_lines && arguments.lines.empty()) generate(generates, arguments, arguments.prompt);
  if (wrong > 0)
    std::cerr << "note: line " << first_wrong
              << (wrong == 1 ? " is" : " and " + config::counted(wrong - 1, "other line") + " are")
              << " not UTF-8; the output has U+FFFD for each wrong byte\n";
  return kDone;
}

Action declare_generate(CLI::App& app) {
  auto arguments = std::make_shared<GenerateArguments>();
  tasks::GenerationOptions& options = arguments->options;
  add_saved_run(app, arguments->model);
  const CLI::Option* prompt =
      app.add_option(
             "--prompt", arguments->prompt,
             "The text to continue. If --prompt and --lines are absent, the model continues each line of a pipe or a "
             "file on standard input. If there is no line to continue, the model starts a new text")
          ->type_name("TEXT");
  app.add_option("--lines", arguments->lines, "A file with one prompt in each line; - is standard input")
      ->type_name("FILE");
  add_number(app, "--tokens", options.tokens, "Number of tokens to generate (default: 100)", {1, 1'000'000})
      ->type_name("N");
  add_number(app, "--temperature", options.sampling.temperature,
             "Sampling temperature; 0 always takes the most probable token (default: 1)", {0})
      ->type_name("X");
  add_number(app, "--top-k", options.sampling.top_k,
             "Sample from the K most probable tokens; 0 samples from all (default: 0)")
      ->type_name("K");
  add_number(
      app, "--top-p", options.sampling.top_p,
      "Top-p (nucleus) sampling from the smallest set of tokens whose probabilities sum to P or more (default: 1)")
      ->type_name("P");
  add_number(app, "--repetition-penalty", options.sampling.repetition_penalty,
             "Repetition penalty: values above 1 make tokens that are already in the text less probable (default: 1)")
      ->type_name("X");
  add_number(app, "--seed", options.seed, "Random seed of the sampling (default: 0)")->type_name("N");
  app.add_flag("--json", arguments->json, "Print a JSON object for each prompt");
  return [arguments, prompt] {
    arguments->has_prompt = prompt->count() > 0;
    return run_generate(*arguments);
  };
}

const Registration registered_generate(
    {Topic::runs,
     "generate",
     "Continue a text with a language model",
     {"cachet generate my-run --prompt 'The city of' --tokens 60",
      "cachet generate my-run --lines prompts.txt --temperature 0.8 --top-p 0.9 --json"},
     declare_generate});

}  // namespace
}  // namespace cachet::app
