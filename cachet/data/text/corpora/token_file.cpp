#include "cachet/data/text/corpora/token_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "cachet/io/digests/crc32.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/file_system.h"
#include "cachet/io/little_endian.h"

namespace cachet::data {
namespace {

// Files of the first version have no checksums.
constexpr std::string_view kTokenFileMark = "CACHTOK2", kFirstTokenFileMark = "CACHTOK1";
constexpr size_t kHeaderBytes = 160, kFirstHeaderBytes = 128, kFingerprintAt = 48, kFingerprintBytes = 64;
constexpr size_t kBlockBytesAt = 112, kTableChecksumAt = 116, kIsCodedAt = 120, kCodedAt = 128, kHeaderChecksumAt = 156;
constexpr int64_t kMaxNarrowIds = int64_t{1} << 16;
constexpr size_t kPieceBytes = size_t{1} << 20, kBlockBytes = size_t{1} << 16, kChecksumBytes = 4;
constexpr const char* kMadeAnew = "; make the file again with `cachet data tokens`";

bool fits_two_bytes(int64_t vocabulary) { return vocabulary <= kMaxNarrowIds; }
int64_t id_bytes(bool narrow) { return narrow ? 2 : 4; }

uint64_t blocks_of(uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

template <class Int>
void append_number(std::string& bytes, Int value) {
  for (size_t i = 0; i < sizeof(Int); ++i) bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xFF);
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string header_of(const TokenFileFacts& facts, uint32_t table_checksum) {
  std::string bytes(kTokenFileMark);
  append_number(bytes, static_cast<uint32_t>(id_bytes(fits_two_bytes(facts.vocabulary))));
  append_number(bytes, static_cast<uint32_t>(kHeaderBytes));
  for (const int64_t number : {facts.vocabulary, facts.tokens, facts.text.bytes, facts.text.characters})
    append_number(bytes, number);
  bytes += facts.fingerprint;
  bytes.resize(kBlockBytesAt, '\0');
  append_number(bytes, static_cast<uint32_t>(kBlockBytes));
  append_number(bytes, table_checksum);
  append_number(bytes, static_cast<uint32_t>(facts.coded ? 1 : 0));
  bytes.resize(kCodedAt, '\0');
  const CodedText coded = facts.coded.value_or(CodedText{});
  for (const int64_t number : {coded.size.bytes, coded.size.characters, coded.unknown}) append_number(bytes, number);
  bytes.resize(kHeaderChecksumAt, '\0');
  append_number(bytes, io::crc32(bytes_of(bytes)));
  return bytes;
}

/// Turns ids of a file into numbers; the largest of them, as if none had a sign.
template <class Id>
uint64_t widen(std::span<const std::byte> bytes, int64_t* out) {
  Id largest = 0;
  for (size_t i = 0; i < bytes.size() / sizeof(Id); ++i) {
    const Id id = io::little_endian<Id>(bytes, i * sizeof(Id));
    largest = std::max(largest, id);
    out[i] = static_cast<int64_t>(id);
  }
  return largest;
}

}  // namespace

TokenFile::TokenFile(std::unique_ptr<const io::ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {
  const auto fail = [this](const std::string& problem) { throw io::Error(name_ + ": " + problem); };
  std::array<std::byte, kHeaderBytes> header{};
  const auto need = [&](size_t bytes) {
    if (source_->size() < bytes) fail("is not a token file: the file ends within its header");
  };
  need(kFirstHeaderBytes);
  source_->read_at(0, std::span(header).first(kFirstHeaderBytes));
  const auto is = [&](std::string_view mark) { return std::memcmp(header.data(), mark.data(), mark.size()) == 0; };
  const bool has_checksums = is(kTokenFileMark);
  if (!has_checksums && !is(kFirstTokenFileMark))
    fail("is not a token file that this version can read; make one with `cachet data tokens`");
  header_bytes_ = has_checksums ? kHeaderBytes : kFirstHeaderBytes;
  need(header_bytes_);
  source_->read_at(0, std::span(header).first(header_bytes_));
  if (has_checksums &&
      io::little_endian<uint32_t>(header, kHeaderChecksumAt) != io::crc32(std::span(header).first(kHeaderChecksumAt)))
    fail(std::string("its header is damaged: the checksum is wrong") + kMadeAnew);
  const auto number_at = [&](size_t place) {
    const auto value = io::little_endian<uint64_t>(header, place);
    if (value > uint64_t{1} << 62) fail("its header is damaged: one of its numbers is above 2^62");
    return static_cast<int64_t>(value);
  };
  facts_ = {number_at(16), {}, number_at(24), {number_at(32), number_at(40)}};
  if (has_checksums && io::little_endian<uint32_t>(header, kIsCodedAt) != 0)
    facts_.coded = {{number_at(kCodedAt), number_at(kCodedAt + 8)}, number_at(kCodedAt + 16)};
  if (facts_.vocabulary < 1 || facts_.vocabulary > kMaxTokens)
    fail("its header is damaged: the header states a vocabulary of " + std::to_string(facts_.vocabulary) + " tokens");
  if (facts_.text.characters > facts_.text.bytes)
    fail("its header is damaged: the header states a text of " + std::to_string(facts_.text.characters) +
         " characters in " + std::to_string(facts_.text.bytes) + " bytes");
  if (facts_.coded &&
      (smaller(facts_.coded->size, facts_.text) != facts_.coded->size || facts_.coded->unknown > facts_.tokens))
    fail("its header is damaged: its tokens encode more bytes or characters than its text has");
  narrow_ = fits_two_bytes(facts_.vocabulary);
  if (io::little_endian<uint32_t>(header, 8) != static_cast<uint32_t>(id_bytes(narrow_)) ||
      io::little_endian<uint32_t>(header, 12) != header_bytes_)
    fail("its header is damaged: the header states ids of " + std::to_string(io::little_endian<uint32_t>(header, 8)) +
         " bytes; the stated size of the header is " + std::to_string(io::little_endian<uint32_t>(header, 12)));
  if (has_checksums && io::little_endian<uint32_t>(header, kBlockBytesAt) != kBlockBytes)
    fail("has blocks of a size that this version cannot read; make the file again with `cachet data tokens`");
  const char* fingerprint = reinterpret_cast<const char*>(header.data()) + kFingerprintAt;
  facts_.fingerprint.assign(fingerprint, strnlen(fingerprint, kFingerprintBytes));
  const auto ids = static_cast<uint64_t>(id_bytes(narrow_)), after = source_->size() - header_bytes_;
  const auto fail_size = [&](uint64_t held) {
    fail("its header states " + std::to_string(facts_.tokens) + " tokens, but the number of tokens in the file is " +
         std::to_string(held) + ": the file is truncated or damaged");
  };
  if (static_cast<uint64_t>(facts_.tokens) > after / ids) fail_size(after / ids);
  const uint64_t bytes = static_cast<uint64_t>(facts_.tokens) * ids;
  const uint64_t table = has_checksums ? blocks_of(bytes) * kChecksumBytes : 0;
  if (after != bytes + table) fail_size(after < bytes + table ? (after - std::min(after, table)) / ids : after / ids);
  if (has_checksums) read_checksums(bytes, io::little_endian<uint32_t>(header, kTableChecksumAt));
}

void TokenFile::read_checksums(uint64_t bytes, uint32_t table_checksum) {
  std::vector<std::byte> table(blocks_of(bytes) * kChecksumBytes);
  source_->read_at(header_bytes_ + bytes, table);
  if (io::crc32(table) != table_checksum) throw io::Error(name_ + ": its table of checksums is damaged" + kMadeAnew);
  checksums_ = std::make_unique<Checksums>();
  for (size_t place = 0; place < table.size(); place += kChecksumBytes)
    checksums_->of_blocks.push_back(io::little_endian<uint32_t>(table, place));
  checksums_->verified.resize(checksums_->of_blocks.size());
}

TokenFile TokenFile::open(const std::filesystem::path& path) {
  return TokenFile(std::make_unique<io::FileSource>(path), path.string());
}

void TokenFile::read(int64_t first, int64_t count, int64_t* out) const {
  if (first < 0 || count < 0 || first > size() || count > size() - first)
    throw std::out_of_range(name_ + ": tokens " + std::to_string(first) + " to " + std::to_string(first + count) +
                            " of " + std::to_string(size()));
  const auto width = static_cast<uint64_t>(id_bytes(narrow_));
  const auto of_block = static_cast<int64_t>(kBlockBytes / width);
  for (const int64_t end = first + count; first < end;) {
    const int64_t block = first / of_block, ids = std::min((block + 1) * of_block, end) - first;
    if (const auto held = checked_block(block)) {
      const uint64_t part = static_cast<uint64_t>(first - block * of_block) * width;
      use_ids(first, std::span(*held).subspan(part, static_cast<uint64_t>(ids) * width), out);
    } else {
      read_ids(first, ids, out);
    }
    first += ids;
    out += ids;
  }
}

// Nothing if the block had its checksum before and is not in memory any more.
TokenFile::Block TokenFile::checked_block(int64_t block) const {
  if (!checksums_) return nullptr;
  {
    const std::lock_guard lock(checksums_->mutex);
    const auto& [number, held] = checksums_->held[static_cast<size_t>(block) % checksums_->held.size()];
    if (held && number == block) return held;
    if (checksums_->verified[static_cast<size_t>(block)]) return nullptr;
  }
  const auto width = static_cast<uint64_t>(id_bytes(narrow_));
  const uint64_t begin = static_cast<uint64_t>(block) * kBlockBytes, all = static_cast<uint64_t>(size()) * width;
  auto bytes = std::make_shared<std::vector<std::byte>>(std::min<uint64_t>(kBlockBytes, all - begin));
  source_->read_at(header_bytes_ + begin, *bytes);
  if (io::crc32(*bytes) != checksums_->of_blocks[static_cast<size_t>(block)])
    throw io::Error(name_ + ": tokens " + std::to_string(begin / width) + " to " +
                    std::to_string((begin + bytes->size()) / width - 1) + " are damaged: the checksum is wrong" +
                    kMadeAnew);
  const std::lock_guard lock(checksums_->mutex);
  checksums_->verified[static_cast<size_t>(block)] = true;
  checksums_->held[static_cast<size_t>(block) % checksums_->held.size()] = {block, bytes};
  return bytes;
}

void TokenFile::read_ids(int64_t first, int64_t count, int64_t* out) const {
  std::array<std::byte, 4096> held;
  const auto width = static_cast<uint64_t>(id_bytes(narrow_));
  for (int64_t done = 0; done < count;) {
    const int64_t ids = std::min(static_cast<int64_t>(held.size() / width), count - done);
    const auto bytes = std::span(held).first(static_cast<size_t>(ids) * width);
    source_->read_at(header_bytes_ + static_cast<uint64_t>(first + done) * width, bytes);
    use_ids(first + done, bytes, out + done);
    done += ids;
  }
}

void TokenFile::use_ids(int64_t first, std::span<const std::byte> bytes, int64_t* out) const {
  const uint64_t largest = narrow_ ? widen<uint16_t>(bytes, out) : widen<uint32_t>(bytes, out);
  if (largest >= static_cast<uint64_t>(facts_.vocabulary))
    refuse_id(first, std::span(out, bytes.size() / static_cast<uint64_t>(id_bytes(narrow_))));
}

void TokenFile::refuse_id(int64_t first, std::span<const int64_t> ids) const {
  const auto wrong = std::ranges::find_if(ids, [this](int64_t id) { return id >= facts_.vocabulary; });
  throw io::Error(name_ + ": token " + std::to_string(first + (wrong - ids.begin())) + " is " + std::to_string(*wrong) +
                  ", but the vocabulary has only " + std::to_string(facts_.vocabulary) +
                  " tokens: the file is damaged");
}

std::optional<std::string> TokenFile::note() const {
  if (checksums_) return std::nullopt;
  return name_ + " was made by an earlier version of Cachet and has no checksums, so damage may stay unnoticed" +
         kMadeAnew;
}

void TokenFile::require(const Vocabulary& vocabulary) const {
  if (facts_.vocabulary == vocabulary.size && facts_.fingerprint == vocabulary.fingerprint_of_tokens()) return;
  for (const auto form : {TextNormalization::none, TextNormalization::nfc, TextNormalization::nfkc}) {
    Vocabulary other = vocabulary;
    other.normalization = form;
    if (facts_.vocabulary == vocabulary.size && facts_.fingerprint == other.fingerprint_of_tokens())
      throw io::Error(name_ + ": was made with --normalize " + to_string(form) +
                      ", but the recipe has data.normalize = \"" + to_string(vocabulary.normalization) +
                      "\"; `cachet data tokens --normalize " + to_string(vocabulary.normalization) +
                      "` makes it again");
  }
  throw io::Error(name_ + ": its tokens belong to another vocabulary, which has " + std::to_string(facts_.vocabulary) +
                  " tokens; make the file again with `cachet data tokens` and the vocabulary of the recipe");
}

TokenFileWriter::TokenFileWriter(std::filesystem::path path, const Vocabulary& vocabulary)
    : path_(std::move(path)), temporary_(io::temporary_path(path_)), narrow_(fits_two_bytes(vocabulary.size)) {
  if (vocabulary.size < 1 || vocabulary.size > kMaxTokens || vocabulary.fingerprint.size() > kFingerprintBytes)
    throw std::invalid_argument("the vocabulary of a token file must have 1 to " + std::to_string(kMaxTokens) +
                                " tokens and a fingerprint of at most 64 bytes");
  facts_.vocabulary = vocabulary.size;
  facts_.fingerprint = vocabulary.fingerprint_of_tokens();
  file_ = std::make_unique<io::GrowingFile>(temporary_);
  file_->append(std::string(kHeaderBytes, '\0'));
}

TokenFileWriter::~TokenFileWriter() {
  if (!file_) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void TokenFileWriter::add(std::span<const Token> tokens) {
  for (const Token token : tokens) {
    if (token < 0 || token >= facts_.vocabulary)
      throw std::invalid_argument("there is no token " + std::to_string(token) + " in a vocabulary of " +
                                  std::to_string(facts_.vocabulary) + " tokens");
    if (narrow_)
      append_number(pending_, static_cast<uint16_t>(token));
    else
      append_number(pending_, static_cast<uint32_t>(token));
  }
  facts_.tokens += static_cast<int64_t>(tokens.size());
  if (pending_.size() >= kPieceBytes) flush();
}

void TokenFileWriter::add_text(const TextSize& size) { facts_.text += size; }

void TokenFileWriter::add_coded(const CodedText& coded) {
  if (!facts_.coded) facts_.coded.emplace();
  *facts_.coded += coded;
}

void TokenFileWriter::flush() {
  file_->append(pending_);
  for (std::span<const std::byte> left = bytes_of(pending_); !left.empty();) {
    const auto part = left.first(std::min(kBlockBytes - in_block_, left.size()));
    block_checksum_ = io::crc32(part, block_checksum_);
    in_block_ += part.size();
    if (in_block_ == kBlockBytes) end_block();
    left = left.subspan(part.size());
  }
  pending_.clear();
}

void TokenFileWriter::end_block() {
  append_number(checksums_, block_checksum_);
  block_checksum_ = 0;
  in_block_ = 0;
}

TokenFileFacts TokenFileWriter::finish() {
  flush();
  if (in_block_ > 0) end_block();
  file_->append(checksums_);
  // The header over the zeros that keep its position: how many tokens there are is known now.
  io::FileSystem& system = io::FileSystem::real();
  const int begin = system.open(temporary_, O_WRONLY | O_CLOEXEC, 0);
  const std::string header = header_of(facts_, io::crc32(bytes_of(checksums_)));
  const bool written =
      begin >= 0 && system.write(begin, header.data(), header.size()) == static_cast<ssize_t>(header.size());
  if (begin >= 0) system.close(begin);
  if (!written) throw io::Error(path_.string() + ": its header cannot be written");
  file_->sync();
  io::rename_durably(temporary_, path_);
  file_.reset();
  return facts_;
}

}  // namespace cachet::data
