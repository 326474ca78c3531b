#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/one_of.h"
#include "app/commands/data/data_command.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "cachet/config/counted.h"
#include "cachet/data/data_path.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/io/files/atomic_file.h"

namespace cachet::app {
namespace {

struct SubwordArguments {
  std::vector<std::string> texts;
  std::string type = "bpe";
  data::TextNormalization form = data::TextNormalization::none;
  int64_t most = 0;
  OutputArgument output;
  data::SubwordOptions options;
  bool json = false;
};

int run_subwords(const SubwordArguments& arguments) {
  const std::string& file = arguments.output.path;
  std::vector<std::filesystem::path> paths;
  for (const std::string& text : arguments.texts)
    paths.push_back(data::find_data_path("--train", text, data::PathKind::file_or_folder,
                                         std::filesystem::current_path(),
                                         "give a text, a TSV file of pairs or a folder of .txt files"));
  require_file_output(arguments.output, {{".model"}, paths});
  data::SubwordOptions options = arguments.options;
  options.kind = arguments.type == "bpe" ? data::SubwordKind::bpe : data::SubwordKind::unigram;
  const data::TrainingTexts read = data::read_training_texts(paths, arguments.most, arguments.form);
  const std::string model = data::train_subwords(read.texts, options);
  const data::Vocabulary vocabulary = data::SubwordEncoder(model, file).vocabulary();
  io::write_file_atomically(file, model);
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", kSchema},
                                      {"file", file},
                                      {"texts", read.texts.size()},
                                      {"bytes_replaced", read.replaced},
                                      {"notes", read.notes},
                                      {"vocabulary", vocabulary.size},
                                      {"hash", vocabulary.fingerprint}};
    print_json(json);
    return kDone;
  }
  std::cout << vocabulary.size << " pieces of " << config::counted(read.texts.size(), "text") << ", hash "
            << vocabulary.fingerprint << '\n';
  if (read.replaced > 0)
    std::cout << "replaced: " << config::counted(read.replaced, "byte that is not UTF-8", "bytes that are not UTF-8")
              << "\n";
  for (const std::string& note : read.notes) std::cout << note << '\n';
  std::cout << file << '\n';
  return kDone;
}

}  // namespace

Action declare_data_subwords(CLI::App& app) {
  auto arguments = std::make_shared<SubwordArguments>();
  app.add_option("--train", arguments->texts,
                 "Texts to train on: a folder of .txt files, a TSV file of pairs, or a text with one sentence in each "
                 "line (plain, .gz or .xz). If you repeat the option, one model is trained on all texts")
      ->required()
      ->allow_extra_args(false)
      ->type_name("PATH");
  add_output(app, arguments->output, "The SentencePiece model to write")->required();
  add_number(app, "--vocabulary", arguments->options.vocabulary,
             "Size of the vocabulary, including the padding and unknown tokens (default: 8000)", {3, 65'536})
      ->type_name("N");
  app.add_option("--type", arguments->type, "Algorithm: bpe or unigram (default: bpe)")
      ->check(one_of({"bpe", "unigram"}))
      ->type_name("TYPE");
  add_number(app, "--most", arguments->most, "Train on a uniform random sample of at most N texts (default: all)", {1})
      ->type_name("N");
  app.add_flag("--line-ends", arguments->options.begin_and_end,
               "Add tokens for the beginning and the end of a line, which language models and translation need");
  app.add_flag("--keep-characters", arguments->options.keep_characters,
               "Keep all characters. Without this option, SentencePiece also applies its own NFKC rule, after "
               "--normalize");
  add_normalize(app, arguments->form);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_subwords(*arguments); };
}

}  // namespace cachet::app
