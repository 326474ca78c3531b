// decoding --serve RUN FOLDER [--limit N]: writes what benchmarks/translation_decoding.py needs to translate a run's
// test split with other programs, weights.safetensors and sentences.json, then does what each line asks.
//
// "decode BEAM" translates all sentences and answers with the milliseconds that it took and the number of tokens.
//
// "write NAME" writes the translations to NAME.json.
//
// "text NAME" reads translations from NAME.json and writes the text of each as a line of NAME.txt.
#include <ATen/Parallel.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "benchmarks/pairs.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/translation/sentence_translation.h"
#include "cachet/tasks/translation/translation_plan.h"
#include "cachet/train/inference/inference_scope.h"

namespace cachet::benchmarks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kDecodingThreads = 2;

class Decoding {
 public:
  Decoding(const std::string& run, fs::path folder, int64_t limit)
      : saved_(tasks::open_saved_run(run)),
        task_(tasks::load(saved_, tasks::Splits::given)),
        model_(dynamic_cast<models::TranslationModel&>(task_->model())),
        options_(dynamic_cast<const tasks::TranslationPlan&>(*saved_.plan.task).options()),
        encoders_(data::make_parallel_encoders(options_.parallel, fs::current_path())),
        folder_(std::move(folder)) {
    const auto corpus = data::ParallelCorpus::open(options_.parallel, encoders_, data::SequenceSplit::test);
    const int64_t size = limit > 0 ? std::min(limit, corpus->size()) : corpus->size();
    for (int64_t i = 0; i < size; ++i) {
      const int64_t pair = i * corpus->size() / size;
      sentences_.push_back({corpus->tokens(data::ParallelSide::source, pair), i});
      sentences_.back().tokens.push_back(encoders_.source.marks.end);
      references_.push_back(corpus->texts(data::ParallelSide::target).at(static_cast<size_t>(pair)));
    }
  }

  void describe() const {
    const int64_t max_tokens = options_.evaluation.how.max_tokens;
    const models::TranslationTokens special = model_.translation_shape().tokens;
    const models::BeamOptions& beam = options_.evaluation.how.beam;
    json about{{"recipe", saved_.recipe},
               {"batches", tasks::batches_by_length(sentences_, max_tokens)},
               {"references", references_},
               {"padding", special.padding},
               {"begin", special.begin},
               {"end", special.end},
               {"per_token", beam.lengths.per_token},
               {"added", beam.lengths.added},
               {"shortest", beam.lengths.shortest},
               {"length_penalty", beam.length_penalty}};
    for (const auto& sentence : sentences_) about["sources"].push_back(sentence.tokens);
    write(folder_ / "sentences.json", about.dump(-1, ' ', false, json::error_handler_t::replace));
    io::write_safetensors(folder_ / "weights.safetensors", io::state_dict(task_->model()));
  }

  torch::nn::Module& model() { return model_; }

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string what, of;
    words >> what >> of;
    if (what == "decode") return decode(std::stoll(of));
    if (what == "write") {
      write(folder_ / (of + ".json"), json(translations_).dump());
      return "written";
    }
    if (what == "text") return write_text(of);
    throw std::invalid_argument("nothing is called " + what);
  }

 private:
  std::string decode(int64_t beam) {
    tasks::TranslationOptions how = options_.evaluation.how;
    how.beam.beam = beam;
    how.beam.lengths.width = models::LengthLimits::Width::batch;  // an option that the other programs have, too
    std::vector<std::vector<models::Hypothesis>> found;
    const double milliseconds = milliseconds_of([&] { found = tasks::translate_sentences(model_, sentences_, how); });
    translations_.clear();
    size_t tokens = 0;
    for (const auto& hypotheses : found) {
      translations_.push_back(hypotheses.front().tokens);
      tokens += translations_.back().size();
    }
    return std::to_string(milliseconds) + " " + std::to_string(tokens);
  }

  std::string write_text(const std::string& name) const {
    std::ifstream in(folder_ / (name + ".json"));
    std::string text;
    for (auto& tokens : json::parse(in).get<std::vector<std::vector<int64_t>>>())
      text += tasks::text_of({std::move(tokens), {}}, encoders_.target) + "\n";
    write(folder_ / (name + ".txt"), text);
    return "written";
  }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    if (!(out << text).flush()) throw std::runtime_error(path.string() + ": cannot be written");
  }

  tasks::SavedRun saved_;
  std::unique_ptr<tasks::Task> task_;
  models::TranslationModel& model_;
  tasks::TranslationTaskOptions options_;
  data::ParallelEncoders encoders_;
  fs::path folder_;
  std::vector<tasks::SentenceToTranslate> sentences_;
  std::vector<std::string> references_;
  std::vector<std::vector<int64_t>> translations_;
};

int run(const std::vector<std::string>& words) {
  const bool limited = words.size() == 5 && words[3] == "--limit";
  if (words.empty() || words[0] != "--serve" || !(words.size() == 3 || limited)) {
    std::cerr << "decoding: --serve RUN FOLDER [--limit N]\n";
    return 2;
  }
  try {
    Decoding decoding(words[1], words[2], limited ? std::stoll(words[4]) : 0);
    at::set_num_threads(kDecodingThreads);  // which loading sets to those of the run
    decoding.describe();
    // As `cachet translate` does.
    const train::InferenceScope inference(decoding.model(), {.packed = true});
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) std::cout << decoding.answer(line) << std::endl;
  } catch (const std::exception& problem) {
    std::cerr << "decoding: " << problem.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** words) { return cachet::benchmarks::run({words + 1, words + count}); }
