#include "cachet/data/text/parallel/parallel_corpus.h"

#include <algorithm>

#include "cachet/config/counted.h"
#include "cachet/data/fingerprint.h"
#include "cachet/data/named_by.h"
#include "cachet/data/random.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

/// The rule by which a pair of so many tokens is left out; nothing where it stays.
using Reason = int64_t PairCounts::*;
Reason reason_against(const PairRules& rules, int64_t source, int64_t target) {
  const int64_t longer = std::max(source, target), shorter = std::min(source, target);
  if (shorter == 0) return &PairCounts::empty;
  if (longer > rules.max_length) return &PairCounts::too_long;
  if (rules.max_ratio > 0 && static_cast<double>(longer) > rules.max_ratio * static_cast<double>(shorter))
    return &PairCounts::unbalanced;
  return nullptr;
}

// Leaves reading when training has as many pairs as it may.
struct EnoughPairs {};

}  // namespace

bool is_kept_to_train(const ParallelOptions& options, int64_t pair) {
  return options.fraction >= 1 ||
         CounterRandom(options.subset_seed, RandomStream::subset, 0, static_cast<uint64_t>(pair))
             .chance(options.fraction);
}

ParallelEncoders make_parallel_encoders(const ParallelOptions& options, const std::filesystem::path& working_folder) {
  const SentenceEncoder source = make_sentence_encoder(options, ParallelSide::source, working_folder);
  if (options.shared_vocabulary) return {source, source};
  return {source, make_sentence_encoder(options, ParallelSide::target, working_folder)};
}

void ParallelCorpus::read_texts(const ParallelOptions& options, const ParallelEncoders& encoders, SequenceSplit split,
                                const std::vector<ParallelFiles>& files) {
  const bool trains = split == SequenceSplit::train;
  std::array<std::shared_ptr<SentencesInMemory>, 2> kept;
  for (size_t side = 0; side < 2; ++side)
    kept[side] = std::make_shared<SentencesInMemory>(sides_[side].vocabulary.size);
  int64_t number = 0;
  Fingerprint read;
  const auto take = [&](std::string_view source, std::string_view target) {
    read.add(source).add(target);
    const int64_t place = number++;
    if (trains && !is_kept_to_train(options, place)) return;
    if (options.limit > 0 && kept[0]->size() >= options.limit) {
      if (trains) throw EnoughPairs();
      return;  // pairs of other splits are counted to the end
    }
    const std::array<std::string_view, 2> texts{source, target};
    if (counts_.read == 0)
      for (size_t side = 0; side < 2; ++side) sides_[side].begins_with_mark = texts[side].starts_with(kByteOrderMark);
    ++counts_.read;
    std::array<SentenceEncoder::Sentence, 2> pair{encoders.source.encode(source), encoders.target.encode(target)};
    for (size_t side = 0; side < 2; ++side) counts_.replaced[side] += pair[side].replaced;
    const auto length = [&](size_t side) { return static_cast<int64_t>(pair[side].tokens.size()); };
    if (trains) {
      if (const Reason reason = reason_against(rules_, length(0), length(1))) {
        ++(counts_.*reason);
        return;
      }
    }
    for (size_t side = 0; side < 2; ++side) {
      if (length(side) > rules_.max_length) {
        pair[side].tokens.resize(static_cast<size_t>(rules_.max_length));
        ++counts_.cut;
      }
      kept[side]->add(pair[side].tokens);
      counts_.tokens[side] += length(side);
      counts_.unknown[side] += pair[side].unknown;
      if (!trains) sides_[side].texts.push_back(normalized(texts[side], sides_[side].vocabulary.normalization));
    }
  };
  try {
    for (const ParallelFiles& each : files) read_pairs(each, options, take);
  } catch (const EnoughPairs&) {
  }
  text_digest_ = read.text();
  if (!trains) split_size_ = number;
  for (size_t side = 0; side < 2; ++side) sides_[side].sentences = kept[side];
}

void ParallelCorpus::read_token_files(const ParallelOptions& options, const std::vector<ParallelFiles>& files) {
  std::array<std::shared_ptr<ChosenSentences>, 2> kept{std::make_shared<ChosenSentences>(),
                                                       std::make_shared<ChosenSentences>()};
  int64_t number = 0;
  for (const ParallelFiles& each : files) {
    std::array<std::shared_ptr<const Sentences>, 2> all;
    for (size_t side = 0; side < 2; ++side) {
      const auto file = std::make_shared<const SentencesInFile>(TokenFile::open(side == 0 ? each.source : each.target),
                                                                sides_[side].vocabulary, sides_[side].marks.end);
      if (auto note = file->file().note()) file_notes_.push_back(*std::move(note));
      all[side] = file;
      kept[side]->add_file(all[side]);
    }
    if (all[0]->size() != all[1]->size())
      throw io::Error(each.source.string() + ": has " + config::counted(all[0]->size(), "sentence") + ", but " +
                      each.target.string() + " has " + std::to_string(all[1]->size()) +
                      "; both files must have the same number of sentences");
    for (int64_t i = 0; i < all[0]->size(); ++i) {
      if (!is_kept_to_train(options, number++)) continue;
      if (options.limit > 0 && kept[0]->size() >= options.limit) break;
      ++counts_.read;
      const std::array<int64_t, 2> lengths{all[0]->length(i), all[1]->length(i)};
      if (const Reason reason = reason_against(rules_, lengths[0], lengths[1])) {
        ++(counts_.*reason);
        continue;
      }
      for (size_t side = 0; side < 2; ++side) {
        kept[side]->add(i);
        counts_.tokens[side] += lengths[side];
      }
    }
  }
  for (size_t side = 0; side < 2; ++side) sides_[side].sentences = kept[side];
}

std::shared_ptr<const ParallelCorpus> ParallelCorpus::open(const ParallelOptions& options,
                                                           const ParallelEncoders& encoders, SequenceSplit split,
                                                           const std::filesystem::path& working_folder) {
  const auto corpus = std::make_shared<ParallelCorpus>();
  corpus->rules_ = options.rules;
  for (const ParallelSide side : {ParallelSide::source, ParallelSide::target}) {
    Side& own = corpus->sides_[side == ParallelSide::source ? 0 : 1];
    const SentenceEncoder& encoder = encoders.of(side);
    own.language = options.language(side);
    own.vocabulary = encoder.texts->vocabulary();
    own.marks = encoder.marks;
  }
  const std::filesystem::path root = find_parallel_root(options, working_folder);
  std::vector<ParallelFiles> files;
  if (split == SequenceSplit::train) files = find_parallel_token_files(options, root);
  if (!files.empty()) {
    corpus->read_token_files(options, files);
  } else {
    const std::string of_split = std::string("data.") + to_string(split);
    files = named_by({"data.root", of_split, "data.source", "data.target"},
                     [&] { return find_parallel_files(options, split, root); });
    corpus->read_texts(options, encoders, split, files);
  }
  corpus->files_ =
      files.front().name() +
      (files.size() > 1 ? " and " + config::counted(static_cast<int64_t>(files.size()) - 1, "other pair") + " of files"
                        : "");
  if (corpus->size() == 0)
    throw io::Error(corpus->files_ + ": none of " + config::counted(corpus->counts_.read, "pair") +
                    " can be used: each pair has an empty side, more than data.max_length = " +
                    std::to_string(options.rules.max_length) +
                    " tokens, or lengths whose ratio is above data.max_ratio" +
                    (options.fraction < 1 ? "; data.fraction selects few pairs" : "; raise data.max_length"));
  return corpus;
}

DataDigest ParallelCorpus::digest() const {
  Fingerprint contents;
  contents.add(size());
  for (const Side& side : sides_) {
    contents.add(side.vocabulary.size).add(side.vocabulary.fingerprint_of_tokens());
    side.sentences->add_to(contents, 0, size());
    for (const std::string& text : side.texts) contents.add(text);
  }
  return {.contents = contents.text(), .texts = text_digest_};
}

std::string ParallelCorpus::sample_digest(int64_t pair) const {
  Fingerprint sample;
  for (const Side& side : sides_) {
    side.sentences->add_to(sample, pair, pair + 1);
    if (!side.texts.empty()) sample.add(side.texts.at(static_cast<size_t>(pair)));
  }
  return sample.text();
}

std::string ParallelCorpus::fingerprint() const {
  Fingerprint digest;
  digest.add(size());
  for (const Side& side : sides_) {
    digest.add(side.vocabulary.size).add(side.vocabulary.fingerprint_of_tokens());
    Fingerprint::for_some(size(), [&](int64_t pair) {
      for (const Token token : side.sentences->tokens(pair)) digest.add(token);
      digest.add(int64_t{-1});
    });
  }
  return digest.text();
}

std::vector<std::string> ParallelCorpus::notes(const char* split) const {
  const std::string before = std::string(split) + ": ";
  std::string first = before + config::counted(size(), "pair") + " of " + files_ + ";";
  for (size_t side = 0; side < 2; ++side) {
    first += (side == 0 ? " " : ", ") + sides_[side].language + " " + config::counted(counts_.tokens[side], "token");
    if (counts_.unknown[side] > 0) first += " (" + std::to_string(counts_.unknown[side]) + " unknown)";
  }
  std::vector<std::string> lines{first};
  for (const std::string& note : file_notes_) lines.push_back(before + note);
  if (counts_.left_out() > 0)
    lines.push_back(before + config::counted(counts_.left_out(), "pair") + " of " + std::to_string(counts_.read) +
                    " left out: " + std::to_string(counts_.empty) + " with an empty side, " +
                    std::to_string(counts_.too_long) + " longer than data.max_length, " +
                    std::to_string(counts_.unbalanced) + " above data.max_ratio");
  if (counts_.cut > 0)
    lines.push_back(before + config::counted(counts_.cut, "sentence") + " truncated to data.max_length, " +
                    std::to_string(rules_.max_length) + " tokens");
  for (size_t side = 0; side < 2; ++side) {
    if (counts_.replaced[side] > 0)
      lines.push_back(before + replaced_bytes_text(counts_.replaced[side], " of " + sides_[side].language));
    if (sides_[side].begins_with_mark)
      lines.push_back(before + sides_[side].language +
                      ": the text begins with a byte-order mark, which is not removed");
    if (!sides_[side].texts.empty() && sides_[side].vocabulary.normalization != TextNormalization::none)
      lines.push_back(before + sides_[side].language + ": all sentences are normalised to the form " +
                      to_string(sides_[side].vocabulary.normalization) + ", also the reference sentences");
  }
  return lines;
}

ParallelTokenFiles write_parallel_token_files(const ParallelFiles& files, const ParallelOptions& options,
                                              const ParallelEncoders& encoders, const ParallelFiles& into) {
  TokenFileWriter sources(into.source, encoders.source.texts->vocabulary()),
      targets(into.target, encoders.target.texts->vocabulary());
  ParallelTokenFiles written{into.source, into.target, {}, {}};
  const auto add = [](TokenFileWriter& writer, const SentenceEncoder& encoder, std::string_view text) {
    std::vector<Token> tokens = encoder.encode(text).tokens;
    tokens.push_back(encoder.marks.end);
    writer.add(tokens);
    const std::string kept = normalized(text, encoder.texts->vocabulary().normalization);
    writer.add_text(size_of(kept + "\n"));
  };
  read_pairs(files, options, [&](std::string_view source, std::string_view target) {
    add(sources, encoders.source, source);
    add(targets, encoders.target, target);
    ++written.pairs;
  });
  written.source_facts = sources.finish();
  written.target_facts = targets.finish();
  return written;
}

}  // namespace cachet::data
