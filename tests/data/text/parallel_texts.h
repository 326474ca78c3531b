#pragma once

#include <filesystem>
#include <string>

#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/data/text/parallel/parallel_corpus.h"
#include "tests/data/text/review_files.h"
#include "tests/support/temporary_directory.h"

namespace cachet::test {

inline constexpr const char* kWordFile = "<eos>\t9\na\t5\nb\t4\nc\t3\nd\t2\n<unk>\t1\n";
inline constexpr data::Token kEos = 0, kA = 1, kB = 2, kC = 3, kD = 4, kUnk = 5;

/// A folder with a vocabulary of five words for both sides, and options that read pairs of it.
struct ParallelFolder {
  TemporaryDirectory folder;
  data::ParallelOptions options;

  ParallelFolder() {
    write("words.txt", kWordFile);
    options.root = folder.path();
    options.source = "de";
    options.target = "en";
    options.tokens = data::ParallelTokens::words;
    options.source_vocabulary = options.target_vocabulary = {"words.txt", 6};
  }
  void write(const std::string& name, std::string_view text) const { write_text(folder / name, text); }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  data::ParallelEncoders encoders() const { return data::make_parallel_encoders(options, folder.path()); }
  std::shared_ptr<const data::ParallelCorpus> open(data::SequenceSplit split = data::SequenceSplit::train) const {
    return data::ParallelCorpus::open(options, encoders(), split, folder.path());
  }
};

}  // namespace cachet::test
