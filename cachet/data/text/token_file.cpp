#include "cachet/data/text/token_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "cachet/io/atomic_file.h"
#include "cachet/io/error.h"
#include "cachet/io/file_system.h"
#include "cachet/io/little_endian.h"

namespace cachet::data {
namespace {

constexpr std::string_view kTokenFileMark = "CACHTOK1";
constexpr size_t kHeaderBytes = 128, kFingerprintAt = 48, kFingerprintBytes = 64;
constexpr int64_t kMostNarrowIds = int64_t{1} << 16;
constexpr size_t kPieceBytes = size_t{1} << 20;

bool fits_two_bytes(int64_t vocabulary) { return vocabulary <= kMostNarrowIds; }
int64_t id_bytes(bool narrow) { return narrow ? 2 : 4; }

template <class Int>
void append_number(std::string& bytes, Int value) {
  for (size_t i = 0; i < sizeof(Int); ++i) bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xFF);
}

std::string header_of(const TokenFileFacts& facts) {
  std::string bytes(kTokenFileMark);
  append_number(bytes, static_cast<uint32_t>(id_bytes(fits_two_bytes(facts.vocabulary))));
  append_number(bytes, static_cast<uint32_t>(kHeaderBytes));
  for (const int64_t number : {facts.vocabulary, facts.tokens, facts.text_bytes, facts.text_characters})
    append_number(bytes, number);
  bytes += facts.fingerprint;
  bytes.resize(kHeaderBytes, '\0');
  return bytes;
}

}  // namespace

TokenFile::TokenFile(std::unique_ptr<const io::ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {
  const auto fail = [this](const std::string& problem) { throw io::Error(name_ + ": " + problem); };
  std::array<std::byte, kHeaderBytes> header;
  if (source_->size() < kHeaderBytes) fail("is no file of tokens: it ends within its header");
  source_->read_at(0, header);
  if (std::memcmp(header.data(), kTokenFileMark.data(), kTokenFileMark.size()) != 0)
    fail("is no file of tokens that this version reads; `cachet data tokens` makes one");
  const auto number = [&](size_t place) {
    const auto value = io::little_endian<uint64_t>(header, 16 + 8 * place);
    if (value > uint64_t{1} << 62) fail("its header is damaged: a number in it is above 2^62");
    return static_cast<int64_t>(value);
  };
  facts_ = {number(0), {}, number(1), number(2), number(3)};
  if (facts_.vocabulary < 1 || facts_.vocabulary > kMostTokens)
    fail("its header is damaged: a vocabulary of " + std::to_string(facts_.vocabulary) + " tokens");
  narrow_ = fits_two_bytes(facts_.vocabulary);
  if (io::little_endian<uint32_t>(header, 8) != static_cast<uint32_t>(id_bytes(narrow_)) ||
      io::little_endian<uint32_t>(header, 12) != kHeaderBytes)
    fail("its header is damaged: ids of " + std::to_string(io::little_endian<uint32_t>(header, 8)) +
         " bytes behind a header of " + std::to_string(io::little_endian<uint32_t>(header, 12)));
  const char* fingerprint = reinterpret_cast<const char*>(header.data()) + kFingerprintAt;
  facts_.fingerprint.assign(fingerprint, strnlen(fingerprint, kFingerprintBytes));
  const auto ids = static_cast<uint64_t>(id_bytes(narrow_)), behind = source_->size() - kHeaderBytes;
  if (behind % ids != 0 || behind / ids != static_cast<uint64_t>(facts_.tokens))
    fail("its header says " + std::to_string(facts_.tokens) + " tokens, and the file holds " +
         std::to_string(behind / ids) + ": it is cut off or damaged");
}

TokenFile TokenFile::open(const std::filesystem::path& path) {
  return TokenFile(std::make_unique<io::FileSource>(path), path.string());
}

void TokenFile::read(int64_t first, int64_t count, int64_t* out) const {
  if (first < 0 || count < 0 || first > size() || count > size() - first)
    throw std::out_of_range(name_ + ": tokens " + std::to_string(first) + " to " + std::to_string(first + count) +
                            " of " + std::to_string(size()));
  std::array<std::byte, 4096> piece;
  const int64_t width = id_bytes(narrow_), at_once = static_cast<int64_t>(piece.size()) / width;
  for (int64_t done = 0; done < count;) {
    const int64_t ids = std::min(at_once, count - done);
    const std::span<std::byte> bytes(piece.data(), static_cast<size_t>(ids * width));
    source_->read_at(kHeaderBytes + static_cast<uint64_t>((first + done) * width), bytes);
    for (int64_t i = 0; i < ids; ++i) {
      const auto place = static_cast<size_t>(i * width);
      const int64_t id = narrow_ ? io::little_endian<uint16_t>(bytes, place) : io::little_endian<int32_t>(bytes, place);
      if (id < 0 || id >= facts_.vocabulary)
        throw io::Error(name_ + ": token " + std::to_string(first + done + i) + " is " + std::to_string(id) +
                        ", and its vocabulary has " + std::to_string(facts_.vocabulary) + ": the file is damaged");
      *out++ = id;
    }
    done += ids;
  }
}

void TokenFile::require(const Vocabulary& vocabulary) const {
  if (facts_.vocabulary == vocabulary.size && facts_.fingerprint == vocabulary.fingerprint_of_tokens()) return;
  for (const auto form : {TextNormalization::none, TextNormalization::nfc, TextNormalization::nfkc}) {
    Vocabulary other = vocabulary;
    other.normalization = form;
    if (facts_.vocabulary == vocabulary.size && facts_.fingerprint == other.fingerprint_of_tokens())
      throw io::Error(name_ + ": was made with --normalize " + to_string(form) +
                      ", and the recipe says data.normalize = \"" + to_string(vocabulary.normalization) +
                      "\"; `cachet data tokens --normalize " + to_string(vocabulary.normalization) + "` makes it anew");
  }
  throw io::Error(name_ + ": its tokens are of another vocabulary, of " + std::to_string(facts_.vocabulary) +
                  " tokens; `cachet data tokens` makes them of this one");
}

TokenFileWriter::TokenFileWriter(std::filesystem::path path, const Vocabulary& vocabulary)
    : path_(std::move(path)), temporary_(io::temporary_path(path_)), narrow_(fits_two_bytes(vocabulary.size)) {
  if (vocabulary.size < 1 || vocabulary.size > kMostTokens || vocabulary.fingerprint.size() > kFingerprintBytes)
    throw std::invalid_argument("a file of tokens has a vocabulary of 1 to " + std::to_string(kMostTokens) +
                                " and a fingerprint of at most 64 bytes");
  facts_.vocabulary = vocabulary.size;
  facts_.fingerprint = vocabulary.fingerprint_of_tokens();
  file_ = std::make_unique<io::GrowingFile>(temporary_);
  pending_ = std::string(kHeaderBytes, '\0');
}

TokenFileWriter::~TokenFileWriter() {
  if (!file_) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void TokenFileWriter::add(std::span<const Token> tokens) {
  for (const Token token : tokens) {
    if (token < 0 || token >= facts_.vocabulary)
      throw std::invalid_argument("token " + std::to_string(token) + " of a vocabulary of " +
                                  std::to_string(facts_.vocabulary));
    if (narrow_)
      append_number(pending_, static_cast<uint16_t>(token));
    else
      append_number(pending_, static_cast<uint32_t>(token));
  }
  facts_.tokens += static_cast<int64_t>(tokens.size());
  if (pending_.size() >= kPieceBytes) flush();
}

void TokenFileWriter::add_text(int64_t bytes, int64_t characters) {
  facts_.text_bytes += bytes;
  facts_.text_characters += characters;
}

void TokenFileWriter::flush() {
  file_->append(pending_);
  pending_.clear();
}

TokenFileFacts TokenFileWriter::finish() {
  flush();
  // The header over the zeros that keep its place: how many tokens there are is known now.
  io::FileSystem& system = io::FileSystem::real();
  const int begin = system.open(temporary_, O_WRONLY | O_CLOEXEC, 0);
  const std::string header = header_of(facts_);
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
