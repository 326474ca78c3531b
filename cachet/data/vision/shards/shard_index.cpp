#include "cachet/data/vision/shards/shard_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <span>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "cachet/data/data_digest.h"
#include "cachet/data/folder_walk.h"
#include "cachet/io/archives/tar_archive.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

constexpr std::string_view kIndexHeading = "cachet shard index 1";
constexpr uint64_t kMaxIndexBytes = uint64_t{8} << 30;
constexpr size_t kMaxLabelBytes = 32;
constexpr int64_t kMaxLabel = 100'000'000;

template <class Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Collects the members of a shard into samples.
class IndexMaker {
 public:
  IndexMaker(const io::ByteSource& shard, const std::string& name) : shard_(shard), name_(name) {}

  void add(io::TarMember&& member) {
    const MemberName parts = split_member_name(member.name);
    const bool is_image =
        parts.has_key() && parts.ending.find('.') == std::string::npos && has_image_name("x." + parts.ending);
    const bool is_label = parts.has_key() && parts.ending == "cls";
    if (!is_image && !is_label) {
      if (index_.others++ == 0) index_.first_other = std::move(member.name);
      return;
    }
    if (!is_open_ || parts.key != key_) begin(parts.key, member.name);
    if (is_image ? has_image_ : has_label_)
      fail(member.name, is_image ? "is the second image of its sample" : "is the second class of its sample");
    if (is_label) {
      sample_.label = label_of(member);
      has_label_ = true;
    } else {
      sample_.name = std::move(member.name);
      sample_.begin = member.begin;
      sample_.size = member.size;
      has_image_ = true;
    }
  }

  ShardIndex finish() {
    close();
    return std::move(index_);
  }

 private:
  [[noreturn]] void fail(const std::string& member, const std::string& fault) const {
    throw io::Error(name_ + ": the member " + io::in_quotes(member) + " " + fault);
  }

  void begin(const std::string& key, const std::string& member) {
    close();
    if (!keys_.insert(key).second)
      fail(member, "belongs to a sample whose members are not consecutive: the key " + io::in_quotes(key) +
                       " occurs before, too");
    key_ = key;
    is_open_ = true;
    has_image_ = has_label_ = false;
  }

  void close() {
    if (!std::exchange(is_open_, false)) return;
    if (!has_image_)
      fail(key_ + ".cls", "has no image: a sample needs " + io::in_quotes(key_ + ".jpg") + " or .png next to it");
    if (!has_label_) fail(sample_.name, "has no class: a sample needs " + io::in_quotes(key_ + ".cls") + " next to it");
    index_.samples.push_back(std::move(sample_));
    sample_ = {};
  }

  int64_t label_of(const io::TarMember& member) const {
    if (member.size > kMaxLabelBytes)
      fail(member.name, "has " + std::to_string(member.size) + " bytes; a class is a number in decimal digits");
    std::array<char, kMaxLabelBytes> bytes;
    shard_.read_at(member.begin, std::as_writable_bytes(std::span(bytes).first(member.size)));
    std::string_view text(bytes.data(), member.size);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    const auto label = parsed_number<int64_t>(text);
    if (!label || *label < 0 || *label > kMaxLabel)
      fail(member.name, "has the class " + io::in_quotes(text) + "; a class is a number in decimal digits, from 0 on");
    return *label;
  }

  const io::ByteSource& shard_;
  const std::string& name_;
  ShardIndex index_;
  std::unordered_set<std::string> keys_;
  std::string key_;
  ShardSample sample_;
  bool is_open_ = false, has_image_ = false, has_label_ = false;
};

/// Reads the lines of an index file and their fields.
class IndexText {
 public:
  explicit IndexText(std::string_view text) : text_(text) {}

  std::optional<std::string_view> until(char end) {
    const size_t at = text_.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view field = text_.substr(0, at);
    text_.remove_prefix(at + 1);
    return field;
  }
  template <class Number>
  std::optional<Number> number(char end) {
    const auto field = until(end);
    return field ? parsed_number<Number>(*field) : std::nullopt;
  }
  bool is_empty() const { return text_.empty(); }

 private:
  std::string_view text_;
};

}  // namespace

MemberName split_member_name(const std::string& name) {
  const size_t slash = name.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = std::min(name.find('.', begin), name.size());
  MemberName parts{name.substr(0, dot), dot < name.size() ? name.substr(dot + 1) : ""};
  std::ranges::transform(parts.ending, parts.ending.begin(),
                         [](unsigned char c) { return c < 0x80 ? std::tolower(c) : c; });
  return parts;
}

FileVersion version_of(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0)
    throw io::Error(file.string() + ": opening failed: " + std::generic_category().message(errno));
  return {static_cast<uint64_t>(found.st_size),
          static_cast<int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec};
}

ShardIndex make_shard_index(const io::ByteSource& shard, const std::string& name) {
  IndexMaker maker(shard, name);
  io::for_each_tar_member(shard, name, [&](io::TarMember&& member) { maker.add(std::move(member)); });
  return maker.finish();
}

// Lines of fields with tabs between them: the heading, the version of the shard and the numbers of samples and of other
// members, the first other member, a line for each sample, and the digest of all these lines. No name has a control
// character (io::for_each_tar_member).
std::string to_text(const ShardIndex& index, const FileVersion& shard) {
  std::string text(kIndexHeading);
  text += '\n' + std::to_string(shard.size) + '\t' + std::to_string(shard.nanoseconds) + '\t' +
          std::to_string(index.samples.size()) + '\t' + std::to_string(index.others) + '\n' + index.first_other + '\n';
  for (const ShardSample& sample : index.samples)
    text += std::to_string(sample.begin) + '\t' + std::to_string(sample.size) + '\t' + std::to_string(sample.label) +
            '\t' + sample.name + '\n';
  return text + digest_of(text) + '\n';
}

std::optional<ShardIndex> parse_shard_index(std::string_view text, const FileVersion& shard) {
  constexpr size_t kDigestLine = 17;  // 16 digits and the end of the line
  if (text.size() < kDigestLine || text.back() != '\n') return std::nullopt;
  const std::string_view content = text.substr(0, text.size() - kDigestLine);
  if (digest_of(content) != text.substr(content.size(), kDigestLine - 1)) return std::nullopt;
  IndexText lines(content);
  if (lines.until('\n') != kIndexHeading) return std::nullopt;
  const auto size = lines.number<uint64_t>('\t');
  const auto time = lines.number<int64_t>('\t');
  if (!size || !time || FileVersion{*size, *time} != shard) return std::nullopt;
  const auto count = lines.number<uint64_t>('\t');
  const auto others = lines.number<int64_t>('\n');
  const auto first_other = lines.until('\n');
  if (!count || !others || *others < 0 || !first_other) return std::nullopt;
  ShardIndex index{{}, *others, std::string(*first_other)};
  while (!lines.is_empty()) {
    const auto begin = lines.number<uint64_t>('\t');
    const auto bytes = begin ? lines.number<uint64_t>('\t') : std::nullopt;
    const auto label = bytes ? lines.number<int64_t>('\t') : std::nullopt;
    const auto name = label ? lines.until('\n') : std::nullopt;
    if (!name || *label < 0 || *begin > shard.size || *bytes > shard.size - *begin) return std::nullopt;
    index.samples.push_back({std::string(*name), *begin, *bytes, *label});
  }
  if (index.samples.size() != *count) return std::nullopt;
  return index;
}

std::filesystem::path index_path(const std::filesystem::path& shard) { return shard.string() + kIndexEnding; }

ShardIndex read_shard_index(const std::filesystem::path& shard) {
  const FileVersion version = version_of(shard);
  const std::filesystem::path file = index_path(shard);
  std::error_code absent;
  if (std::filesystem::is_regular_file(file, absent)) {
    try {
      if (auto index = parse_shard_index(io::read_text_file(file, kMaxIndexBytes), version)) return *std::move(index);
    } catch (const io::Error&) {  // the index is made again
    }
  }
  ShardIndex index = make_shard_index(io::FileSource(shard), shard.string());
  if (version_of(shard) != version) throw io::Error(shard.string() + ": changed while its index was made");
  try {
    io::write_file_atomically(file, to_text(index, version));
  } catch (const io::Error&) {  // the folder is read-only or full: the index stays in memory
  }
  return index;
}

}  // namespace cachet::data
