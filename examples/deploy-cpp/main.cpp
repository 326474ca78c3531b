// Classifies images with a model that `cachet export` wrote: classify FOLDER IMAGE...
#include <cachet/runtime/exported_classifier.h>

#include <chrono>
#include <cstdio>
#include <exception>

int main(int count, char** words) try {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s FOLDER IMAGE...\n", words[0]);
    return 2;
  }
  using Clock = std::chrono::steady_clock;
  const auto milliseconds = [](Clock::time_point since) {
    return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
  };

  const auto start = Clock::now();
  cachet::runtime::ImageClassifier classifier(words[1]);
  std::printf("%s opened in %.0f ms\n", classifier.manifest().model.c_str(), milliseconds(start));

  const auto begin = Clock::now();
  const auto answers = classifier.classify({words + 2, words + count}, /*top=*/3);
  for (size_t i = 0; i < answers.size(); ++i) {
    std::printf("%s\n", words[2 + i]);
    for (const cachet::runtime::Guess& guess : answers[i])
      std::printf("  %5.1f %%  %s\n", 100 * guess.probability, guess.name.c_str());
  }
  std::printf("%zu images in %.0f ms\n", answers.size(), milliseconds(begin));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
