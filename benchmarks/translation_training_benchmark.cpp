// translation_training --serve fp32|bf16: transformer_iwslt_de_en, for benchmarks/translation_training.py. Each line
// has the sentences of a batch and the tokens of each, source and target: "160 25 24". A training step on synthetic
// tokens is made, and the milliseconds without the optimizer's part are printed, and with it.
#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>

#include <iostream>
#include <sstream>

#include "benchmarks/timed_training.h"
#include "cachet/config/document.h"
#include "cachet/models/registry.h"

namespace cachet::benchmarks {
namespace {

constexpr int kThreads = 2;
constexpr int64_t kVocabulary = 10000, kLongest = 512, kSpecialTokens = 4;

std::shared_ptr<models::TranslationModel> made() {
  config::Document document;
  document.set("model.name=transformer_iwslt_de_en");
  const auto plan = models::read_translation_model(
      document.root().table("model"),
      {.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .length = kLongest, .joint = true});
  document.finish();
  return plan.build();
}

at::Tensor tokens(int64_t sentences, int64_t length) {
  return at::randint(kSpecialTokens, kVocabulary, {sentences, length}, at::kLong);
}

int run(const std::vector<std::string>& words) {
  if (words.size() != 2 || words[0] != "--serve" || (words[1] != "fp32" && words[1] != "bf16")) {
    std::cerr << "translation_training: --serve fp32|bf16\n";
    return 2;
  }
  at::set_num_threads(kThreads);
  const auto model = made();
  TimedTraining training(model, words[1] == "bf16" ? train::Precision::bfloat16 : train::Precision::float32);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream numbers(line);
    int64_t sentences = 0, source = 0, target = 0;
    if (!(numbers >> sentences >> source >> target)) {
      std::cerr << "translation_training: no batch in \"" << line << "\"\n";
      return 1;
    }
    const models::SentencePairs pairs{
        {tokens(sentences, source), {}}, {tokens(sentences, target), {}}, tokens(sentences, target)};
    training.print_step([&] { return model->losses(pairs, {.amount = 0.1}).loss.mean(); });
  }
  return 0;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** words) { return cachet::benchmarks::run({words + 1, words + count}); }
