#include "app/commands/data/data_command.h"

#include <array>
#include <map>

namespace cachet::app {
namespace {

struct DataCommand {
  const char* group;
  const char* name;
  const char* summary;
  std::vector<std::string_view> examples;
  Action (*declare)(CLI::App&);
};

constexpr const char* kLook = "What there is";
constexpr const char* kMake = "What to make";

std::array<DataCommand, 10> data_commands() {
  return {{{kLook,
            "ls",
            "List the data sets that recipes read, and the folder of each data set on this machine",
            {"cachet data ls", "cachet data ls 'cifar*' --json"},
            declare_data_list},
           {kLook,
            "bench",
            "Measure how many images a loader reads and decodes in a second, by number of cores",
            {"cachet data bench imagenet-shards --cores 1,2,4", "cachet data bench imagenet_vit_small --json"},
            declare_data_bench},
           {kMake,
            "shards",
            "Make tar shards in WebDataset's layout from folders of classes",
            {"cachet data shards imagenet -o imagenet-shards",
             "cachet data shards flowers -o flowers-shards --shard-size 100 --splits train,val"},
            declare_data_shards},
           {kMake,
            "listops",
            "Generate ListOps expressions as Long Range Arena does",
            {"cachet data listops -o listops",
             "cachet data listops -o short --train 20000 --longer-than 200 --shorter-than 500"},
            declare_data_listops},
           {kMake,
            "matching",
            "Make pairs of halves of IMDb reviews, from one review or from two reviews",
            {"cachet data matching --imdb aclImdb -o imdb-pairs"},
            declare_data_matching},
           {kMake,
            "shapes",
            "Generate a synthetic COCO data set of overlapping shapes, to train a detector",
            {"cachet data shapes -o shapes", "cachet data shapes -o few --train 200 --validation 40 --seed 1"},
            declare_data_shapes},
           {kMake,
            "pairs",
            "Split a file of sentences and their translations into training, validation and test",
            {"cachet data pairs deu-eng.tsv --columns en,de --held-out 1000 -o tatoeba"},
            declare_data_pairs},
           {kMake,
            "subwords",
            "Train a SentencePiece model that splits texts into subwords",
            {"cachet data subwords --train aclImdb/train --vocabulary 8000 -o imdb.model",
             "cachet data subwords --train train.de --train train.en --line-ends -o subwords.model"},
            declare_data_subwords},
           {kMake,
            "words",
            "Make a vocabulary of the words of a text, ordered by count",
            {"cachet data words wikitext-2 -o words.txt", "cachet data words mine.txt --least 3 -o words.txt"},
            declare_data_words},
           {kMake,
            "tokens",
            "Tokenise texts once, into files that training reads piece by piece",
            {"cachet data tokens wikitext-103 --vocabulary-file words.txt -o wikitext-103-tokens",
             "cachet data tokens wmt14-en-fr --source en --target fr -o wmt14-tokens"},
            declare_data_tokens}}};
}

Action declare_data(CLI::App& app) {
  app.require_subcommand(1);
  std::map<const CLI::App*, Action> actions;
  for (const DataCommand& command : data_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->group(command.group);
    sub->footer(examples_text(command.examples));
    actions[sub] = command.declare(*sub);
  }
  return [&app, actions] { return actions.at(app.get_subcommands().front())(); };
}

const Registration registered_data(
    {Topic::runs,
     "data",
     "List the data sets that recipes read, generate synthetic data, or prepare texts for training",
     {"cachet data ls 'cifar*'", "cachet data shapes -o shapes --train 200 --validation 40",
      "cachet data pairs deu-eng.tsv --columns en,de --held-out 1000 -o tatoeba"},
     declare_data});

}  // namespace
}  // namespace cachet::app
