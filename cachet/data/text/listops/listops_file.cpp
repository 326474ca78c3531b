#include "cachet/data/text/listops/listops_file.h"

#include <array>

#include "cachet/data/text/listops/listops.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/files/growing_file.h"
#include "cachet/io/files/new_folder.h"

namespace cachet::data {
namespace {

constexpr TsvLayout kListOpsLayout{.header = "Source\tTarget", .columns = 2};
constexpr int kListOpsClasses = 10;

TsvFileName listops_file_name(const std::string& files, SequenceSplit split) {
  const char* part = split == SequenceSplit::train ? "_train" : split == SequenceSplit::test ? "_test" : "_val";
  return {files, std::string(part) + ".tsv"};
}

TakeRow take_expressions(SequenceBuilder& builder, const SequenceRules& rules) {
  return [&builder, &rules, line = int64_t{1}](std::span<const std::string_view> fields) mutable {
    for (const std::string_view field : fields) builder.add_text(field);
    const auto number = builder.add_sequence(parse_listops(fields[0]), text_key(fields[0], rules));
    builder.add_sample({.tokens = *number, .label = parse_label(fields[1], kListOpsClasses), .place = ++line});
  };
}

std::shared_ptr<const SequenceDataset> finish_listops(SequenceBuilder& builder, const std::string& name) {
  return builder.finish(name, kListOps.class_names(), {.before_place = name + ":"});
}

/// One file that is written in large pieces.
class ListOpsWriter {
 public:
  explicit ListOpsWriter(const std::filesystem::path& path) : file_(path) {
    pending_ += kListOpsLayout.header;
    pending_ += '\n';
  }

  void write(const ListOpsExpression& expression) {
    pending_ += expression.source;
    pending_ += '\t';
    pending_ += static_cast<char>('0' + expression.value);
    pending_ += '\n';
    if (pending_.size() >= kPieceBytes) flush();
  }
  void finish() {
    flush();
    file_.sync();
  }

 private:
  static constexpr size_t kPieceBytes = size_t{1} << 20;
  void flush() {
    file_.append(pending_);
    pending_.clear();
  }

  io::GrowingFile file_;
  std::string pending_;
};

}  // namespace

std::shared_ptr<const SequenceDataset> read_listops(const io::ByteSource& source, const std::string& name,
                                                    const SequenceRules& rules) {
  SequenceBuilder builder(listops_vocabulary(), rules);
  read_tsv(source, name, kListOpsLayout, take_expressions(builder, rules));
  return finish_listops(builder, name);
}

std::shared_ptr<const SequenceDataset> read_listops_file(const std::filesystem::path& folder, const std::string& files,
                                                         SequenceSplit split, const SequenceRules& rules) {
  SequenceBuilder builder(listops_vocabulary(), rules);
  const auto path =
      read_tsv_file(folder, listops_file_name(files, split), kListOpsLayout, take_expressions(builder, rules));
  return finish_listops(builder, path.string());
}

ListOpsStatistics write_listops_folder(const std::filesystem::path& folder, const ListOpsOptions& options,
                                       const WatchListOps& progress) {
  check(options);
  io::NewFolder result(folder);
  const auto writer = [&](SequenceSplit split) {
    return ListOpsWriter(result.path() / listops_file_name("basic", split).text());
  };
  ListOpsWriter train = writer(SequenceSplit::train), validation = writer(SequenceSplit::validation),
                test = writer(SequenceSplit::test);
  const auto write = [&](int64_t index, const ListOpsExpression& expression) {
    auto& file = index < options.train ? train : index < options.train + options.validation ? validation : test;
    file.write(expression);
  };
  const auto statistics = generate_listops(options, write, progress);
  for (ListOpsWriter* file : {&train, &validation, &test}) file->finish();
  result.finish();
  return statistics;
}

}  // namespace cachet::data
