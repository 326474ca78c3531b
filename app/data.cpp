#include <map>

#include "app/data_command.h"

namespace cachet::app {
namespace {

Action declare_data(CLI::App& app) {
  app.require_subcommand(1);
  std::map<const CLI::App*, Action> actions;
  const auto add = [&](const char* group, const char* name, const char* summary, Action (*declare)(CLI::App&)) {
    CLI::App* sub = app.add_subcommand(name, summary);
    sub->group(group);
    actions[sub] = declare(*sub);
  };
  add("What there is", "ls", "List the data that recipes read, and where they lie here", declare_data_list);
  add("What to make", "listops", "Generate ListOps expressions as Long Range Arena does", declare_data_listops);
  add("What to make", "matching", "Make pairs of texts that match or do not, of the IMDb reviews",
      declare_data_matching);
  add("What to make", "pairs", "Split sentences and their translations in one file into training, validation and test",
      declare_data_pairs);
  add("What to make", "subwords", "Train a SentencePiece model that splits texts into subwords", declare_data_subwords);
  add("What to make", "words", "Make a vocabulary of a text's words, ordered by their counts", declare_data_words);
  add("What to make", "tokens", "Turn texts into files of tokens, which training reads without memory",
      declare_data_tokens);
  return [&app, actions] { return actions.at(app.get_subcommands().front())(); };
}

const Registration registered_data(
    {Topic::runs,
     "data",
     "List the data that recipes read; make those of long sequences, of language models and of translation",
     {"cachet data ls 'cifar*'", "cachet data listops -o listops --train 2000 --validation 200 --test 200",
      "cachet data subwords --train aclImdb/train --vocabulary 8000 -o imdb.model",
      "cachet data pairs deu-eng.tsv --columns en,de --held-out 1000 -o tatoeba"},
     declare_data});

}  // namespace
}  // namespace cachet::app
