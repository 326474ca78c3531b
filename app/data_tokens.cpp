#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "app/data_command.h"
#include "app/json.h"
#include "app/output.h"
#include "cachet/data/text/corpus.h"
#include "cachet/data/text/token_file.h"
#include "cachet/io/error.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct TokensArguments {
  std::string text, tokens = "words", vocabulary;
  OutputArgument output;
  bool json = false;
};

data::CorpusOptions corpus_options(const TokensArguments& arguments) {
  data::CorpusOptions options;
  options.root = arguments.text;
  options.tokens = arguments.tokens == "words"      ? data::CorpusTokens::words
                   : arguments.tokens == "subwords" ? data::CorpusTokens::subwords
                                                    : data::CorpusTokens::bytes;
  if (options.tokens == data::CorpusTokens::subwords) options.vocabulary_file = "subwords.model";
  if (!arguments.vocabulary.empty()) options.vocabulary_file = arguments.vocabulary;
  return options;
}

data::TokenFileFacts write_split(const data::CorpusOptions& options, const data::TextEncoder& encoder,
                                 const fs::path& text, const fs::path& file) {
  data::TokenFileWriter writer(file, encoder.vocabulary());
  data::for_each_piece(text, [&](std::string_view lines) {
    const data::EncodedCorpus piece = data::encode_corpus(lines, encoder, options.tokens);
    writer.add(piece.tokens);
    writer.add_text(piece.bytes, piece.characters);
  });
  return writer.finish();
}

int run_tokens(const TokensArguments& arguments) {
  const data::CorpusOptions options = corpus_options(arguments);
  const auto encoder = data::make_corpus_encoder(options, fs::current_path());
  const fs::path folder = arguments.output.path;
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  std::vector<std::pair<fs::path, fs::path>> work;  // text and file
  for (const auto split : {data::SequenceSplit::train, data::SequenceSplit::validation, data::SequenceSplit::test}) {
    if (!data::has_corpus_text(arguments.text, split)) continue;
    const fs::path text = data::find_corpus_text(arguments.text, split), file = folder / data::token_file_name(split);
    require_file_output({file.string(), arguments.output.overwrite}, {{".tokens-cachet"}, {text}});
    work.emplace_back(text, file);
  }
  if (work.empty()) data::find_corpus_text(arguments.text, data::SequenceSplit::train);  // says what it looks for
  fs::create_directories(folder);
  for (const auto& [text, file] : work) {
    const data::TokenFileFacts facts = write_split(options, *encoder, text, file);
    files.push_back({{"file", file.string()},
                     {"text", text.string()},
                     {"tokens", facts.tokens},
                     {"vocabulary", facts.vocabulary},
                     {"hash", facts.fingerprint}});
    if (!arguments.json) std::cout << file.string() << ": " << facts.tokens << " tokens of " << text.string() << '\n';
  }
  if (arguments.json) std::cout << nlohmann::ordered_json{{"schema", kSchema}, {"files", files}}.dump(2) << '\n';
  return kDone;
}

}  // namespace

Action declare_data_tokens(CLI::App& app) {
  auto arguments = std::make_shared<TokensArguments>();
  app.add_option("FOLDER", arguments->text, "The texts: wiki.train.tokens or train.txt, and so on")->required();
  add_output(app, arguments->output, "The folder to write the files of tokens to", "FOLDER")->required();
  app.add_option("--tokens", arguments->tokens, "words, subwords or bytes (words)")
      ->check(CLI::IsMember({"words", "subwords", "bytes"}))
      ->type_name("KIND");
  app.add_option("--vocabulary-file", arguments->vocabulary,
                 "What `cachet data words` or `cachet data subwords` made (words.txt, subwords.model)")
      ->type_name("FILE");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_tokens(*arguments); };
}

}  // namespace cachet::app
