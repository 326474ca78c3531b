#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "app/arguments/common_arguments.h"
#include "app/arguments/one_of.h"
#include "app/commands/data/data_command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "cachet/config/counted.h"
#include "cachet/data/data_path.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/corpora/token_file.h"
#include "cachet/data/text/parallel/parallel_corpus.h"
#include "cachet/data/text/text_pieces.h"
#include "cachet/io/error.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct TokensArguments {
  std::string folder, tokens, vocabulary, target_vocabulary, source, target, progress = "auto";
  data::TextNormalization form = data::TextNormalization::none;
  std::vector<std::string> stems, columns;
  OutputArgument output;
  bool json = false;
};

/// Where the texts lie.
fs::path folder_of_texts(const TokensArguments& arguments) {
  return data::find_data_path(
      "FOLDER", arguments.folder, data::PathKind::folder, fs::current_path(),
      "the folder must contain texts such as wiki.train.tokens or train.txt, or for translation train.de and train.en");
}

data::CorpusOptions corpus_options(const TokensArguments& arguments) {
  data::CorpusOptions options;
  options.root = folder_of_texts(arguments);
  options.tokens = arguments.tokens.empty() || arguments.tokens == "words" ? data::CorpusTokens::words
                   : arguments.tokens == "subwords"                        ? data::CorpusTokens::subwords
                                                                           : data::CorpusTokens::bytes;
  options.normalization = arguments.form;
  if (options.tokens == data::CorpusTokens::subwords) options.vocabulary_file = "subwords.model";
  if (!arguments.vocabulary.empty()) options.vocabulary_file = arguments.vocabulary;
  return options;
}

data::TokenFileFacts write_split(const data::CorpusOptions& options, const data::TextEncoder& encoder,
                                 data::SequenceSplit split, const fs::path& text, const fs::path& file,
                                 const std::string& progress_word) {
  // Bits per byte are measured on texts that a model is not trained on.
  const auto count = split == data::SequenceSplit::train ? data::CountCoded::no : data::CountCoded::yes;
  data::TokenFileWriter writer(file, encoder.vocabulary());
  CountedProgress progress("tokens", progress_word);
  int64_t tokens = 0;
  data::for_each_piece(text, [&](std::string_view lines) {
    const data::EncodedCorpus piece = data::encode_corpus(lines, encoder, options.tokens, count);
    writer.add(piece.tokens);
    writer.add_text(piece.text);
    if (count == data::CountCoded::yes) writer.add_coded(piece.coded);
    progress.show(tokens += static_cast<int64_t>(piece.tokens.size()), "tokens");
  });
  return writer.finish();
}

data::ParallelOptions parallel_options(const TokensArguments& arguments) {
  if (arguments.tokens == "bytes") throw UsageError("--tokens must be words or subwords for translation, not bytes");
  data::ParallelOptions options;
  options.root = folder_of_texts(arguments);
  options.source = arguments.source;
  options.target = arguments.target;
  options.train = arguments.stems;
  options.columns = arguments.columns;
  options.normalization = arguments.form;
  const bool words = arguments.tokens == "words";
  options.tokens = words ? data::ParallelTokens::words : data::ParallelTokens::subwords;
  options.shared_vocabulary = arguments.target_vocabulary.empty();
  options.source_vocabulary = {words ? "words.txt" : "subwords.model", 0};
  if (!arguments.vocabulary.empty()) options.source_vocabulary.file = arguments.vocabulary;
  options.target_vocabulary = options.source_vocabulary;
  if (!arguments.target_vocabulary.empty()) options.target_vocabulary.file = arguments.target_vocabulary;
  return options;
}

void add_file(nlohmann::ordered_json& files, const fs::path& file, const fs::path& text,
              const data::TokenFileFacts& facts, bool json) {
  files.push_back({{"file", file.string()},
                   {"text", text.string()},
                   {"tokens", facts.tokens},
                   {"vocabulary", facts.vocabulary},
                   {"hash", facts.fingerprint}});
  if (!json)
    std::cout << file.string() << ": " << config::counted(facts.tokens, "token") << " of " << text.string() << '\n';
}

/// The folder is made after all of its files may be written.
void require_token_file(const fs::path& file, const OutputArgument& output, std::vector<fs::path> texts) {
  if (train::is_run_folder(output.path))
    throw UsageError(output.path + " is the folder of a run; give another folder for -o");
  OutputRules rules{{".tokens-cachet"}, std::move(texts)};
  rules.makes_folder = true;
  require_file_output({file.string(), output.overwrite}, rules);
}

/// The training text of translation, both sides.
int run_parallel_tokens(const TokensArguments& arguments) {
  const data::ParallelOptions options = parallel_options(arguments);
  const data::ParallelEncoders encoders = data::make_parallel_encoders(options, fs::current_path());
  const fs::path folder = arguments.output.path;
  require_folder(folder);
  const auto texts = data::find_parallel_files(options, data::SequenceSplit::train, options.root);
  const std::vector<std::string> stems = data::parallel_stems(options, data::SequenceSplit::train, options.root);
  std::vector<data::ParallelFiles> files;
  for (size_t i = 0; i < texts.size(); ++i) {
    files.push_back({folder / data::parallel_token_file_name(stems[i], options.source),
                     folder / data::parallel_token_file_name(stems[i], options.target)});
    for (const fs::path& file : {files.back().source, files.back().target})
      require_token_file(file, arguments.output, {texts[i].source, texts[i].target});
  }
  fs::create_directories(folder);
  nlohmann::ordered_json written = nlohmann::ordered_json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    const data::ParallelTokenFiles made = data::write_parallel_token_files(texts[i], options, encoders, files[i]);
    add_file(written, made.source, texts[i].source, made.source_facts, arguments.json);
    add_file(written, made.target, texts[i].target, made.target_facts, arguments.json);
  }
  if (arguments.json) print_json(nlohmann::ordered_json{{"schema", kSchema}, {"files", written}});
  return kDone;
}

int run_tokens(const TokensArguments& arguments) {
  if (arguments.source.empty() != arguments.target.empty())
    throw UsageError("translation needs both languages; give --source and --target");
  if (!arguments.source.empty()) return run_parallel_tokens(arguments);
  if (!arguments.target_vocabulary.empty() || !arguments.stems.empty() || !arguments.columns.empty())
    throw UsageError(
        "--target-vocabulary-file, --files and --columns are only for translation; give --source and --target, too");
  const data::CorpusOptions options = corpus_options(arguments);
  const auto encoder = data::make_corpus_encoder(options, fs::current_path());
  const fs::path folder = arguments.output.path;
  require_folder(folder);
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  struct Work {
    data::SequenceSplit split;
    fs::path text, file;
  };
  std::vector<Work> work;
  for (const auto split : {data::SequenceSplit::train, data::SequenceSplit::validation, data::SequenceSplit::test}) {
    if (!data::has_corpus_text(options.root, split)) continue;
    const fs::path text = data::find_corpus_text(options.root, split), file = folder / data::token_file_name(split);
    require_token_file(file, arguments.output, {text});
    work.push_back({split, text, file});
  }
  if (work.empty())
    data::find_corpus_text(options.root, data::SequenceSplit::train);  // throws an error that names the files
  fs::create_directories(folder);
  for (const auto& [split, text, file] : work) {
    const data::TokenFileFacts facts = write_split(options, *encoder, split, text, file, arguments.progress);
    add_file(files, file, text, facts, arguments.json);
  }
  if (arguments.json) print_json(nlohmann::ordered_json{{"schema", kSchema}, {"files", files}});
  return kDone;
}

}  // namespace

Action declare_data_tokens(CLI::App& app) {
  auto arguments = std::make_shared<TokensArguments>();
  app.add_option("FOLDER", arguments->folder,
                 "Folder of the texts: wiki.train.tokens or train.txt, or for translation train.de and train.en")
      ->required();
  add_output(app, arguments->output, "The folder for the token files", "FOLDER")->required();
  app.add_option("--tokens", arguments->tokens,
                 "Kind of the tokens: words, subwords or bytes (default: words; for translation: subwords)")
      ->check(one_of({"words", "subwords", "bytes"}))
      ->type_name("KIND");
  app.add_option(
         "--vocabulary-file", arguments->vocabulary,
         "Vocabulary file from `cachet data words` or `cachet data subwords` (default: words.txt or subwords.model)")
      ->type_name("FILE");
  app.add_option("--source", arguments->source,
                 "For translation: the source language, which is also the ending of the source files' names")
      ->type_name("LANGUAGE");
  app.add_option("--target", arguments->target, "For translation: the target language")->type_name("LANGUAGE");
  app.add_option("--files", arguments->stems,
                 "For translation: the names of the training files without their ending (default: train; repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--columns", arguments->columns,
                 "For translation from .tsv files: the languages of the columns, such as en,de")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LANGUAGES");
  app.add_option("--target-vocabulary-file", arguments->target_vocabulary,
                 "For translation: vocabulary of the target language (default: the file of --vocabulary-file)")
      ->type_name("FILE");
  add_normalize(app, arguments->form);
  add_progress_option(app, arguments->progress);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_tokens(*arguments); };
}

}  // namespace cachet::app
