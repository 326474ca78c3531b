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

/// The form of a sample that the user gives, in contrast to a sample of the data set's files.
enum class GivenForm { expression, text, pair_of_texts, image };

/// The files that a reader of sequences reads, and the options for reading them.
struct SequenceFiles {
  const SequenceDatasetOptions& options;
  SequenceSplit split;
  bool of_training;  // whether the split's samples are taken from the training files
  const std::filesystem::path& root;
  const std::filesystem::path& working_folder;
  const SequenceRules& rules;
};

/// The properties of one kind of sequences. A new kind of sequences needs a record in the table of
/// sequence_kinds.cpp.
struct SequenceKind {
  std::string_view name;                        // name in recipes
  int64_t max_length = 0;                       // default of max_length
  int64_t vocabulary = 0;                       // size of the vocabulary, for kinds without texts
  bool has_texts = false;                       // whether the keys of TextOptions are read
  bool pairs = false;                           // whether a sample is two sequences
  std::string_view files{};                     // default beginning of the files' names; empty = fixed names
  std::optional<double> validation_fraction{};  // default of the recipe's key; empty = the kind has no such key
  GivenForm given = GivenForm::text;
  std::vector<std::string> (*class_names)() = nullptr;  // returns the class names; null: recipes must name the classes
  std::string (*word)(Token token) = nullptr;           // readable form of a token; null: its number, or decoded text
  std::string (*expected_files)(const SequenceDatasetOptions& options) = nullptr;  // describes the files of the folder
  std::shared_ptr<const SequenceDataset> (*open)(const SequenceFiles& files) = nullptr;
};

/// Returns all kinds of sequences, in the order in which messages list them.
std::span<const SequenceKind* const> sequence_kinds();

/// The kinds of sequence data for which a C++ constant exists. The kind listops reads the TSV files of the Long Range
/// Arena. The kind imdb reads a folder with one file for each review. The kind matching reads pairs of texts in the TSV
/// form of the ACL Anthology Network. The kind cifar10_pixels reads images of CIFAR-10 as 1,024 grey values. The kind
/// texts reads TSV files of texts with the names of their classes; recipes list the classes.
extern const SequenceKind kListOps, kImdb, kMatching, kCifar10Pixels, kTexts;

}  // namespace cachet::data
