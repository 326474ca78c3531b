#include "cachet/data/text/sequences/sequence_kinds.h"

#include <array>

#include "cachet/data/text/listops/listops.h"
#include "cachet/data/text/listops/listops_file.h"
#include "cachet/data/text/sequences/imdb.h"
#include "cachet/data/text/sequences/labelled_texts.h"
#include "cachet/data/text/sequences/matching.h"
#include "cachet/data/text/sequences/pixel_sequences.h"
#include "cachet/data/vision/cifar.h"
#include "cachet/data/vision/class_names.h"

namespace cachet::data {
namespace {

using SharedSequences = std::shared_ptr<const SequenceDataset>;

std::string listops_files(const SequenceDatasetOptions& options) {
  return options.files + "_train.tsv, " + options.files + "_val.tsv and " + options.files +
         "_test.tsv, which `cachet data listops` makes";
}
std::string imdb_files(const SequenceDatasetOptions& /*options*/) {
  return "train and test, each with folders neg and pos of .txt files";
}
std::string matching_files(const SequenceDatasetOptions& options) {
  return options.files + ".train.tsv, " + options.files + ".eval.tsv and " + options.files + ".test.tsv";
}
std::string labelled_text_files(const SequenceDatasetOptions& /*options*/) {
  return "train.tsv, validation.tsv and test.tsv, in which each line is the name of a class, a tab and a text";
}
std::string pixel_files(const SequenceDatasetOptions& /*options*/) { return std::string(kCifar10Files); }

std::vector<std::string> listops_classes() { return numbered_class_names(10); }
std::vector<std::string> imdb_classes() { return {"negative", "positive"}; }
std::vector<std::string> no_classes() { return {}; }
std::vector<std::string> matching_classes() { return {"different", "matching"}; }

SharedSequences open_listops(const SequenceFiles& files) {
  return read_listops_file(files.root, files.options.files, files.split, files.rules);
}
SharedSequences open_imdb(const SequenceFiles& files) {
  return read_imdb(files.root, files.of_training ? "train" : "test",
                   *make_text_encoder(files.options.text, files.working_folder), files.rules);
}
SharedSequences open_matching(const SequenceFiles& files) {
  return read_matching_file(files.root, files.options.files, files.split,
                            *make_text_encoder(files.options.text, files.working_folder), files.rules);
}
SharedSequences open_labelled_texts(const SequenceFiles& files) {
  return read_labelled_texts(files.root, files.split, files.options.class_names,
                             *make_text_encoder(files.options.text, files.working_folder), files.rules);
}
SharedSequences open_pixels(const SequenceFiles& files) {
  return read_cifar10_pixels(files.root, files.of_training ? Split::train : Split::test, files.rules);
}

}  // namespace

constexpr SequenceKind kListOps{.name = "listops",
                                .max_length = 2'000,
                                .vocabulary = kListOpsTokens,
                                .files = "basic",
                                .given = GivenForm::expression,
                                .class_names = listops_classes,
                                .word = listops_word,
                                .expected_files = listops_files,
                                .open = open_listops};

constexpr SequenceKind kImdb{.name = "imdb",
                             .max_length = 1'000,
                             .has_texts = true,
                             .validation_fraction = 0,
                             .given = GivenForm::text,
                             .class_names = imdb_classes,
                             .expected_files = imdb_files,
                             .open = open_imdb};

constexpr SequenceKind kMatching{.name = "matching",
                                 .max_length = 4'000,
                                 .has_texts = true,
                                 .pairs = true,
                                 .files = "new_aan_pairs",
                                 .given = GivenForm::pair_of_texts,
                                 .class_names = matching_classes,
                                 .expected_files = matching_files,
                                 .open = open_matching};

constexpr SequenceKind kCifar10Pixels{.name = "cifar10_pixels",
                                      .max_length = kPixelSide * kPixelSide,
                                      .vocabulary = kGreyValues,
                                      .validation_fraction = 0.1,
                                      .given = GivenForm::image,
                                      .class_names = cifar10_class_names,
                                      .expected_files = pixel_files,
                                      .open = open_pixels};

constexpr SequenceKind kTexts{.name = "texts",
                              .max_length = 1'000,
                              .has_texts = true,
                              .given = GivenForm::text,
                              .class_names = no_classes,
                              .expected_files = labelled_text_files,
                              .open = open_labelled_texts};

std::span<const SequenceKind* const> sequence_kinds() {
  static constexpr std::array kAll{&kListOps, &kImdb, &kMatching, &kCifar10Pixels, &kTexts};
  return kAll;
}

}  // namespace cachet::data
