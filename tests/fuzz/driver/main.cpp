// Feeds a reader mutated inputs, keeping those that reach new positions as the base of others.
//   <name>_fuzz [--seconds N] [--runs N] [--seed N] [--corpus FOLDER] [--finds FOLDER] [FILE...]
// With files, reads just these. FOLDER of --corpus: read at the start, gets what reached new positions. A find is
// written to the folder of --finds (default: here), to be read again as FILE, and ends the program with a failure.
#include <sanitizer/common_interface_defs.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/driver/coverage.h"
#include "tests/fuzz/driver/mutation.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

namespace fs = std::filesystem;
using cachet::fuzz::input_was_new;

// Of the processor's time: a busy machine makes no input slow.
constexpr unsigned kMaxSecondsPerInput = 10;

struct Options {
  double seconds = 10;
  uint64_t runs = ~0ull, seed = 1;
  fs::path corpus, finds = ".";
  std::vector<fs::path> files;
};

std::string current_input;  // what a death in the middle of it is written from
fs::path current_find;

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_whole(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    throw std::runtime_error("cannot write " + path.string());
}

void save_find() {
  std::ofstream(current_find, std::ios::binary) << current_input;
  std::cerr << "the input is in " << current_find << '\n';
}

void give_up_on_slow_input(int) {
  std::cerr << "an input took more than " << kMaxSecondsPerInput << " s\n";
  save_find();
  _exit(1);
}

void give_up_on_abort(int) {
  std::cerr << "the reader aborted\n";
  save_find();
  _exit(1);
}

void bound_time(unsigned seconds) {  // 0: no longer
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// Gives the input to the reader; true if it reached a new position.
bool try_input(std::string input) {
  current_input = std::move(input);
  cachet::fuzz::start_input();
  bound_time(kMaxSecondsPerInput);
  try {
    cachet::fuzz::read({reinterpret_cast<const uint8_t*>(current_input.data()), current_input.size()});
  } catch (const std::exception& error) {
    std::cerr << "an exception that is not the reader's own: " << error.what() << '\n';
    save_find();
    std::exit(1);
  }
  bound_time(0);
  return input_was_new();
}

std::vector<std::string> starting_corpus(const Options& options) {
  std::vector<std::string> corpus = cachet::fuzz::seeds();
  if (!options.corpus.empty()) {
    fs::create_directories(options.corpus);
    for (const auto& entry : fs::directory_iterator(options.corpus)) corpus.push_back(read_whole(entry.path()));
  }
  for (const std::string& input : corpus) try_input(input);
  return corpus;
}

void fuzz(const Options& options) {
  std::mt19937_64 random(options.seed);
  std::vector<std::string> corpus = starting_corpus(options);
  const size_t seeds = corpus.size();
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  uint64_t runs = 0;
  for (; runs < options.runs && (runs % 64 != 0 || elapsed() < options.seconds); ++runs) {
    std::string input = cachet::fuzz::mutate(corpus[random() % corpus.size()], corpus, random);
    if (!try_input(input)) continue;
    if (!options.corpus.empty())
      write_whole(options.corpus / (std::to_string(std::hash<std::string>{}(input)) + ".bin"), input);
    corpus.push_back(std::move(input));
  }
  std::printf("%llu runs in %.1f s, %zu inputs from %zu seeds, %d places reached, nothing found\n",
              static_cast<unsigned long long>(runs), elapsed(), corpus.size(), seeds, cachet::fuzz::places_reached());
  // A reader that was not instrumented, or seeds that it refuses at once, would look just as clean. A saved corpus
  // may be past finding more.
  if (runs > 1000 && corpus.size() == cachet::fuzz::seeds().size()) {
    std::fprintf(stderr, "no input reached a new place: the reader is not instrumented\n");
    std::exit(1);
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!argument.starts_with("--")) {
      options.files.emplace_back(argument);
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument(argument + " needs a value");
    const std::string value = argv[++i];
    if (argument == "--seconds") {
      options.seconds = std::stod(value);
    } else if (argument == "--runs") {
      options.runs = std::stoull(value);
      options.seconds = 1e9;
    } else if (argument == "--seed") {
      options.seed = std::stoull(value);
    } else if (argument == "--corpus") {
      options.corpus = value;
    } else if (argument == "--finds") {
      options.finds = value;
    } else {
      throw std::invalid_argument("unknown option " + argument);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  current_find = options.finds / (fs::path(argv[0]).filename().string() + "-find.bin");
  __sanitizer_set_death_callback(save_find);
  std::signal(SIGPROF, give_up_on_slow_input);
  std::signal(SIGABRT, give_up_on_abort);
  for (const fs::path& file : options.files) try_input(read_whole(file));
  if (options.files.empty()) fuzz(options);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
