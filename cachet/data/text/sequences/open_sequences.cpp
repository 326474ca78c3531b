#include "cachet/data/text/sequences/open_sequences.h"

#include <algorithm>
#include <cmath>

#include "cachet/data/class_matching.h"
#include "cachet/data/data_path.h"
#include "cachet/data/named_by.h"
#include "cachet/data/random.h"
#include "cachet/data/sample_groups.h"
#include "cachet/data/subset.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

/// Whether the split's samples lie among the training files.
bool is_of_training_files(const SequenceDatasetOptions& options, SequenceSplit split) {
  return split == SequenceSplit::train || (split == SequenceSplit::validation && options.validation_fraction > 0);
}

/// The samples that stay in one split together.
std::vector<std::vector<int64_t>> groups_of(const SequenceDataset& all, SplitBy split_by) {
  SampleGroups samples;
  for (int64_t i = 0; i < all.size(); ++i) {
    std::vector<std::string> keys;
    if (split_by == SplitBy::groups) keys = all.split_keys(i);
    std::erase(keys, "");
    samples.add(keys);
  }
  return samples.groups();
}

/// The training or the validation samples among all of the training files, in their order. Without equal texts both
/// rules draw the same samples.
std::vector<int64_t> part_of_training(const SequenceDataset& all, const SequenceDatasetOptions& options,
                                      SequenceSplit split) {
  const auto most = std::max<int64_t>(all.size() - 1, 1);
  const auto drawn = std::llround(options.validation_fraction * static_cast<double>(all.size()));
  const int64_t held_out = std::clamp<int64_t>(drawn, 1, most);
  const std::vector<std::vector<int64_t>> groups = groups_of(all, options.split_by);
  if (groups.size() < 2)
    throw io::Error("data.validation_fraction cannot hold out a sample, because all samples have the same text");
  std::vector<int64_t> sizes;
  for (const std::vector<int64_t>& group : groups) sizes.push_back(std::ssize(group));
  std::vector<size_t> parts = dealt_groups(sizes, {held_out}, {options.subset_seed, RandomStream::held_out, 0, 0});
  // If all groups are larger than the fraction, the smallest one is held out.
  if (std::ranges::find(parts, size_t{0}) == parts.end())
    parts[static_cast<size_t>(std::ranges::min_element(sizes) - sizes.begin())] = 0;
  const bool validates = split == SequenceSplit::validation;
  std::vector<int64_t> part;
  for (size_t i = 0; i < groups.size(); ++i)
    if ((parts[i] == 0) == validates) part.insert(part.end(), groups[i].begin(), groups[i].end());
  std::ranges::sort(part);
  return part;
}

}  // namespace

std::string expected_files(const SequenceDatasetOptions& options) { return options.kind->expected_files(options); }

std::filesystem::path find_sequence_root(const SequenceDatasetOptions& options,
                                         const std::filesystem::path& working_folder) {
  return find_data_path("data.root", options.root, PathKind::folder, working_folder,
                        "it should contain " + expected_files(options));
}

std::shared_ptr<const SequenceDataset> open_sequence_dataset(const SequenceDatasetOptions& options, SequenceSplit split,
                                                             const std::filesystem::path& working_folder,
                                                             KeepOrigins keep) {
  const auto root = find_sequence_root(options, working_folder);
  const bool held_out = options.validation_fraction > 0 && is_of_training_files(options, split);
  const bool needs_texts = held_out && options.split_by == SplitBy::groups;
  const SequenceRules rules{options.max_length, options.too_long, options.text.empty_texts,
                            keep == KeepOrigins::yes || needs_texts};
  const bool of_training = is_of_training_files(options, split);
  const auto open = [&] { return options.kind->open({options, split, of_training, root, working_folder, rules}); };
  auto all = options.files.empty() ? named_by({"data.root", "data.kind"}, open)
                                   : named_by({"data.root", "data.kind", "data.files"}, open);
  if (!options.class_names.empty() && all->class_names() != options.class_names)
    all = all->with_classes(match_numbered_classes(all->class_names(), options.class_names, root.string()),
                            options.class_names);
  if (held_out) all = named_by({"data.root"}, [&] { return all->subset(part_of_training(*all, options, split)); });
  const SubsetOptions subset{split == SequenceSplit::train ? options.fraction : 1, options.limit, options.subset_seed};
  const auto kept = kept_samples(all->size(), subset, static_cast<uint64_t>(split));
  return kept ? all->subset(*kept, all->size()) : all;
}

}  // namespace cachet::data
