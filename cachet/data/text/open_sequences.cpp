#include <algorithm>
#include <cmath>

#include "cachet/data/data_path.h"
#include "cachet/data/random.h"
#include "cachet/data/subset.h"
#include "cachet/data/text/imdb.h"
#include "cachet/data/text/listops_file.h"
#include "cachet/data/text/matching.h"
#include "cachet/data/text/pixel_sequences.h"
#include "cachet/data/text/sequence_options.h"

namespace cachet::data {
namespace {

using SharedSequences = std::shared_ptr<const SequenceDataset>;

/// Whether the split's samples lie among the training files.
bool is_of_training_files(const SequenceDatasetOptions& options, SequenceSplit split) {
  return split == SequenceSplit::train || (split == SequenceSplit::validation && options.validation_fraction > 0);
}

SharedSequences read_files(const SequenceDatasetOptions& options, SequenceSplit split,
                           const std::filesystem::path& root, const std::filesystem::path& working_folder) {
  const SequenceRules rules{options.max_length, options.too_long, options.text.empty_texts};
  const bool training_files = is_of_training_files(options, split);
  switch (options.kind) {
    case SequenceKind::listops:
      return read_listops_file(root, options.files, split, rules);
    case SequenceKind::imdb:
      return read_imdb(root, training_files ? "train" : "test", *make_text_encoder(options.text, working_folder),
                       rules);
    case SequenceKind::matching:
      return read_matching_file(root, options.files, split, *make_text_encoder(options.text, working_folder), rules);
    default:
      return read_cifar10_pixels(root, training_files ? Split::train : Split::test, rules);
  }
}

/// The training or the validation samples among all of the training files, in their order.
std::vector<int64_t> part_of_training(int64_t size, const SequenceDatasetOptions& options, SequenceSplit split) {
  const auto most = std::max<int64_t>(size - 1, 1);
  const auto drawn = std::llround(options.validation_fraction * static_cast<double>(size));
  const auto held_out = static_cast<std::ptrdiff_t>(std::clamp<int64_t>(drawn, 1, most));
  const std::vector<int64_t> order = permutation(size, {options.subset_seed, RandomStream::held_out, 0, 0});
  const bool validates = split == SequenceSplit::validation;
  std::vector<int64_t> part(validates ? order.begin() : order.begin() + held_out,
                            validates ? order.begin() + held_out : order.end());
  std::ranges::sort(part);
  return part;
}

}  // namespace

std::string expected_files(const SequenceDatasetOptions& options) {
  switch (options.kind) {
    case SequenceKind::listops:
      return options.files + "_train.tsv, " + options.files + "_val.tsv and " + options.files +
             "_test.tsv, which `cachet data listops` makes";
    case SequenceKind::imdb:
      return "train and test, each with folders neg and pos of .txt files";
    case SequenceKind::matching:
      return options.files + ".train.tsv, " + options.files + ".eval.tsv and " + options.files + ".test.tsv";
    default:
      return "data_batch_1.bin to data_batch_5.bin and test_batch.bin (plain, .gz or .xz)";
  }
}

std::filesystem::path find_sequence_root(const SequenceDatasetOptions& options,
                                         const std::filesystem::path& working_folder) {
  return find_data_path("data.root", options.root, PathKind::folder, working_folder,
                        "it should hold " + expected_files(options));
}

SharedSequences open_sequence_dataset(const SequenceDatasetOptions& options, SequenceSplit split,
                                      const std::filesystem::path& working_folder) {
  const auto root = find_sequence_root(options, working_folder);
  SharedSequences all = read_files(options, split, root, working_folder);
  if (options.validation_fraction > 0 && is_of_training_files(options, split))
    all = all->subset(part_of_training(all->size(), options, split));
  const SubsetOptions subset{split == SequenceSplit::train ? options.fraction : 1, options.limit, options.subset_seed};
  const auto kept = kept_samples(all->size(), subset, static_cast<uint64_t>(split));
  return kept ? all->subset(*kept) : all;
}

}  // namespace cachet::data
