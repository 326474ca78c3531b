// Every options struct of data takes designated initialisers, with any of its members left out. Defaults are checked
// when this is compiled; the tests check what is not constant.
#include <gtest/gtest.h>

#include "cachet/data/loader.h"
#include "cachet/data/order/batch_rows.h"
#include "cachet/data/order/equal_batches.h"
#include "cachet/data/order/token_budget.h"
#include "cachet/data/subset.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/data/text/listops/listops_draw.h"
#include "cachet/data/text/parallel/parallel_loader.h"
#include "cachet/data/text/parallel/parallel_split.h"
#include "cachet/data/text/sequences/matching_maker.h"
#include "cachet/data/text/sequences/sequence_loader.h"
#include "cachet/data/text/sequences/sequence_options.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/data/vision/augmentation/mixing.h"
#include "cachet/data/vision/dataset_options.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/image_source.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"

namespace cachet::data {
namespace {

TEST(DesignatedOptions, OfImages) {
  EXPECT_EQ(ResizeOptions{.image_size = 224}.image_size, (TargetSize{224, 224}));
  EXPECT_EQ((ResizeOptions{.image_size = {192, 256}}.image_size.width), 256);
  const AugmentationOptions augmentation{.crop = CropKind::resized,
                                         .resized_crop = {.least_area = 0.5},
                                         .jitter = {.hue = 0.1},
                                         .rand_augment = {.operations = 2},
                                         .erasing = {.mode = ErasingMode::pixel}};
  EXPECT_EQ(augmentation.resized_crop.most_area, 1);
  EXPECT_EQ(DatasetOptions{.folders = {.channels = 1}}.classes, 10);
  static_assert(!ImageFileOptions{.channels = 1}.strict_images);
  EXPECT_EQ((ImageShape{.channels = 3, .height = 2, .width = 4}.numel()), 24);
  EXPECT_TRUE(MixingOptions{.mixup = 0.8}.mixes());
  static_assert(NormalizationOptions{.mean = {0.5}}.source == NormalizationSource::automatic);
}

TEST(DesignatedOptions, OfSequences) {
  static_assert(ListOpsOptions{.depth = 4}.arguments == 10);
  static_assert(MatchingOptions{.seed = 3}.evaluation_fraction == 0.1);
  static_assert(SequenceLoaderOptions{.loader = {.workers = 0}, .padding = {.multiple = 8}}.bucket_batches == 50);
  EXPECT_EQ(SequenceDatasetOptions{.text = {.tokens = TokenKind::subwords}}.max_length, 2000);
  static_assert(SubwordOptions{.vocabulary = 100}.kind == SubwordKind::bpe);
  EXPECT_EQ((ParallelOptions{.source = "de", .rules = {.max_ratio = 2}}.source_vocabulary.size), 8000);
  static_assert(ParallelLoaderOptions{.budget = {.max_samples = 9}}.budget.max_tokens == 4096);
  static_assert(PairSplitOptions{.by = "en"}.held_out == 1000);
}

// Orders.
static_assert(EqualBatchOptions{.batch_size = 4}.shuffle);
static_assert(BatchRowOptions{.batch_rows = 2}.segment_length == 150);
static_assert(TokenBudgetOptions{.max_tokens = 64}.max_samples == 0);
static_assert(SubsetOptions{.limit = 5}.fraction == 1);

}  // namespace
}  // namespace cachet::data
