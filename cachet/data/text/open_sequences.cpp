#include <algorithm>
#include <cmath>

#include "cachet/data/class_matching.h"
#include "cachet/data/data_path.h"
#include "cachet/data/named_by.h"
#include "cachet/data/random.h"
#include "cachet/data/subset.h"
#include "cachet/data/text/sequence_kinds.h"
#include "cachet/data/text/sequence_options.h"

namespace cachet::data {
namespace {

/// Whether the split's samples lie among the training files.
bool is_of_training_files(const SequenceDatasetOptions& options, SequenceSplit split) {
  return split == SequenceSplit::train || (split == SequenceSplit::validation && options.validation_fraction > 0);
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

std::string expected_files(const SequenceDatasetOptions& options) { return options.kind->expected_files(options); }

std::filesystem::path find_sequence_root(const SequenceDatasetOptions& options,
                                         const std::filesystem::path& working_folder) {
  return find_data_path("data.root", options.root, PathKind::folder, working_folder,
                        "it should hold " + expected_files(options));
}

std::shared_ptr<const SequenceDataset> open_sequence_dataset(const SequenceDatasetOptions& options, SequenceSplit split,
                                                             const std::filesystem::path& working_folder,
                                                             KeepOrigins keep) {
  const auto root = find_sequence_root(options, working_folder);
  const SequenceRules rules{options.max_length, options.too_long, options.text.empty_texts, keep == KeepOrigins::yes};
  const bool of_training = is_of_training_files(options, split);
  const auto open = [&] { return options.kind->open({options, split, of_training, root, working_folder, rules}); };
  auto all = options.files.empty() ? named_by({"data.root", "data.kind"}, open)
                                   : named_by({"data.root", "data.kind", "data.files"}, open);
  if (!options.class_names.empty() && all->class_names() != options.class_names)
    all = all->with_classes(match_numbered_classes(all->class_names(), options.class_names, root.string()),
                            options.class_names);
  if (options.validation_fraction > 0 && of_training) all = all->subset(part_of_training(all->size(), options, split));
  const SubsetOptions subset{split == SequenceSplit::train ? options.fraction : 1, options.limit, options.subset_seed};
  const auto kept = kept_samples(all->size(), subset, static_cast<uint64_t>(split));
  return kept ? all->subset(*kept, all->size()) : all;
}

}  // namespace cachet::data
