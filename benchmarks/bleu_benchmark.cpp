// bleu --serve FOLDER: reads hypotheses.txt and references.txt there, a sentence a line, then scores them for each line
// that comes in, for benchmarks/bleu.py: answers with the milliseconds that corpus_bleu took, and the score.
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <stdexcept>

#include "benchmarks/pairs.h"
#include "cachet/metrics/bleu.h"

namespace cachet::benchmarks {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

int run(const std::vector<std::string>& words) {
  if (words.size() != 2 || words[0] != "--serve") {
    std::cerr << "bleu: --serve FOLDER\n";
    return 2;
  }
  try {
    const std::vector<std::string> hypotheses = lines_of(words[1] + "/hypotheses.txt");
    const std::vector<std::vector<std::string>> references{lines_of(words[1] + "/references.txt")};
    std::cout << "ready" << std::endl << std::setprecision(std::numeric_limits<double>::max_digits10);
    for (std::string line; std::getline(std::cin, line);) {
      double score = 0;
      const double milliseconds = milliseconds_of([&] { score = metrics::corpus_bleu(hypotheses, references).score; });
      std::cout << milliseconds << " " << score << std::endl;
    }
  } catch (const std::exception& problem) {
    std::cerr << "bleu: " << problem.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** words) { return cachet::benchmarks::run({words + 1, words + count}); }
