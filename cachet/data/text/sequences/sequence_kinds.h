#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/sequences/sequence_builder.h"
#include "cachet/data/text/sequences/sequence_options.h"

namespace cachet::data {

/// What a sample looks like that somebody gives, not a file of the data set.
enum class GivenForm { expression, text, pair_of_texts, image };

/// Which files are to be read, and how.
struct SequenceFiles {
  const SequenceDatasetOptions& options;
  SequenceSplit split;
  bool of_training;  // whether the split's samples lie among the training files
  const std::filesystem::path& root;
  const std::filesystem::path& working_folder;
  const SequenceRules& rules;
};

/// All that is peculiar to one kind of sequences. To add a kind is to add its record to the table in
/// sequence_kinds.cpp.
struct SequenceKind {
  std::string_view name;                        // as recipes write it
  int64_t max_length = 0;                       // as a rule
  int64_t vocabulary = 0;                       // of kinds without texts
  bool has_texts = false;                       // the keys of TextOptions are read
  bool pairs = false;                           // a sample is two sequences
  std::string_view files{};                     // what the files' names begin with, as a rule; empty = fixed names
  std::optional<double> validation_fraction{};  // as a rule, where validation samples may be training files'
  GivenForm given = GivenForm::text;
  std::vector<std::string> (*class_names)() = nullptr;  // none: recipes must name them
  std::string (*word)(Token token) = nullptr;  // a token as people read it; null: its number; kinds with texts decode
  std::string (*expected_files)(const SequenceDatasetOptions& options) = nullptr;  // in words
  std::shared_ptr<const SequenceDataset> (*open)(const SequenceFiles& files) = nullptr;
};

/// In the order in which messages list them.
std::span<const SequenceKind* const> sequence_kinds();

/// Those that code names. listops: the arena's TSV files. imdb: a folder of reviews, one file each. matching: pairs of
/// texts in the TSV form of the ACL Anthology Network. cifar10_pixels: images of CIFAR-10 as 1,024 grey values. texts:
/// TSV files of texts with the names of their classes, which recipes list.
extern const SequenceKind kListOps, kImdb, kMatching, kCifar10Pixels, kTexts;

}  // namespace cachet::data
