#include <iostream>
#include <memory>
#include <vector>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/commands/data/data_command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "cachet/config/counted.h"
#include "cachet/data/data_path.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/data/text/text_pieces.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"

namespace cachet::app {
namespace {

struct WordsArguments {
  std::string text, progress = "auto";
  OutputArgument output;
  int64_t most = data::kMaxTokens, least = 1;
  data::TextNormalization form = data::TextNormalization::none;
  bool json = false;
};

data::WordCounter count_words(const std::filesystem::path& text, const WordsArguments& arguments) {
  // A word of the text may be longer than the one that its normal form makes of it.
  constexpr size_t kLongestWord = 8 * data::kMaxWordBytes;
  data::WordCounter counter;
  CountedProgress progress("words", arguments.progress);
  const auto add = [&](std::string_view lines) {
    while (!lines.empty()) {
      const size_t end = lines.find('\n');
      counter.add_line(data::normalized(lines.substr(0, end), arguments.form));
      if (end == std::string_view::npos) break;
      lines.remove_prefix(end + 1);
    }
    progress.show(counter.tokens(), "tokens");
  };
  const auto add_named = [&](std::string_view lines) {
    try {
      add(lines);
    } catch (const io::Error& error) {
      throw io::Error(text.string() + ": " + error.what());
    }
  };
  data::for_each_piece(text, add_named, kLongestWord);
  return counter;
}

int run_words(const WordsArguments& arguments) {
  const std::string& file = arguments.output.path;
  const std::filesystem::path place =
      data::find_data_path("TEXT", arguments.text, data::PathKind::file_or_folder, std::filesystem::current_path(),
                           "give a text, or a folder that contains wiki.train.tokens or train.txt");
  const std::filesystem::path text = data::find_corpus_text(place, data::SequenceSplit::train);
  require_file_output(arguments.output, {{".txt"}, {text}});
  const data::WordCounter counter = count_words(text, arguments);
  if (counter.tokens() == 0) throw io::Error(text.string() + ": holds no text");
  const std::vector<data::CountedWord> words = counter.words(arguments.most, arguments.least);
  const std::string vocabulary = data::words_text(words);
  io::write_file_atomically(file, vocabulary);
  const std::string hash = io::sha256_hex(vocabulary);
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", kSchema},          {"file", file},
                                      {"text", text.string()},      {"tokens", counter.tokens()},
                                      {"vocabulary", words.size()}, {"hash", hash}};
    print_json(json);
    return kDone;
  }
  std::cout << config::counted(words.size(), "word") << " of the " << config::counted(counter.tokens(), "token")
            << " of " << text.string() << ", hash " << hash << '\n'
            << file << '\n';
  return kDone;
}

}  // namespace

Action declare_data_words(CLI::App& app) {
  auto arguments = std::make_shared<WordsArguments>();
  app.add_option("TEXT", arguments->text,
                 "The training text, or a folder that contains it as wiki.train.tokens or train.txt")
      ->required();
  add_output(app, arguments->output, "The vocabulary to write: one word with its count in each line")->required();
  add_number(app, "--vocabulary", arguments->most,
             "Maximum size of the vocabulary, which includes <eos> and <unk> (default: all)", {2, data::kMaxTokens})
      ->type_name("N");
  add_number(app, "--least", arguments->least, "Minimum count of a word (default: 1)", {1, 1'000'000'000})
      ->type_name("N");
  add_normalize(app, arguments->form);
  add_progress_option(app, arguments->progress);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_words(*arguments); };
}

}  // namespace cachet::app
