#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cachet/data/text/corpora/token_sequence.h"
#include "cachet/data/text/encoders/coded_text.h"
#include "cachet/data/text/encoders/vocabulary.h"
#include "cachet/io/files/byte_source.h"
#include "cachet/io/files/growing_file.h"

namespace cachet::data {

/// The properties of a file with a long sequence of tokens.
struct TokenFileFacts {
  int64_t vocabulary = 0;     // number of tokens of the vocabulary; ids are smaller
  std::string fingerprint{};  // fingerprint of the vocabulary and its normalization; at most 64 bytes
  int64_t tokens = 0;
  TextSize text{};                   // size of the text that was tokenized; empty if it is not known
  std::optional<CodedText> coded{};  // size of the coded text; empty if it was not counted
  bool operator==(const TokenFileFacts&) const = default;
};

/// A sequence of tokens in a file, read on demand. The tokens stay in the file and take no memory, however long the
/// sequence is.
///
/// The file is little-endian. The header has "CACHTOK2", bytes of an id (u32; 2 if the vocabulary fits, else 4), bytes
/// of the header (u32, 160), vocabulary, tokens, text bytes, text characters (u64 each), fingerprint (64 bytes, padded
/// with zeros), bytes of a block (u32, 65536), CRC-32 of the table of checksums (u32), 1 if the coded text was counted,
/// else 0 (u32), zero (u32), coded bytes, coded characters, unknown tokens (u64 each), zero (u32), CRC-32 of all
/// earlier header bytes (u32). The header is followed by the ids and the table of checksums (a CRC-32 for each block,
/// u32). The checksum of a block is verified when the block is first read. A file of the first version, "CACHTOK1", has
/// a header of 128 bytes that ends with 16 zeros, and no checksums. The file is read piece by piece and not
/// memory-mapped. Thus, if the file shrinks during reading, the reader throws an error and the process does not crash.
class TokenFile final : public TokenSequence {
 public:
  /// Throws io::Error, whose message begins with `name`, for a missing file, another version, a damaged header or table
  /// of checksums, and for a header that contradicts itself or the file's size.
  TokenFile(std::unique_ptr<const io::ByteSource> source, std::string name);
  static TokenFile open(const std::filesystem::path& path);

  const TokenFileFacts& facts() const { return facts_; }
  const std::string& name() const { return name_; }
  /// Throws io::Error if the file was made with another vocabulary or normalization than `vocabulary`.
  void require(const Vocabulary& vocabulary) const;
  int64_t size() const override { return facts_.tokens; }
  /// Reads ids. Throws io::Error, with the position, for a wrong checksum of a block or an id outside the vocabulary.
  void read(int64_t first, int64_t count, int64_t* out) const override;
  /// Returns a line for the user if the file has the first version, without checksums.
  std::optional<std::string> note() const;

 private:
  void read_checksums(uint64_t bytes, uint32_t table_checksum);
  /// The bytes of a block of ids, after the checksum of the block was verified.
  using Block = std::shared_ptr<const std::vector<std::byte>>;
  Block checked_block(int64_t block) const;
  void read_ids(int64_t first, int64_t count, int64_t* out) const;
  /// Converts bytes of the file (two or four for each id) to ids.
  void use_ids(int64_t first, std::span<const std::byte> bytes, int64_t* out) const;
  [[noreturn]] void refuse_id(int64_t first, std::span<const int64_t> ids) const;

  std::unique_ptr<const io::ByteSource> source_;
  std::string name_;
  TokenFileFacts facts_;
  bool narrow_ = true;
  uint64_t header_bytes_ = 0;

  /// A cache (up to 8 MiB) of the last verified blocks of ids, because each batch row reads its block many times.
  struct Checksums {
    std::vector<uint32_t> of_blocks;
    std::mutex mutex;  // guards the other members
    std::vector<bool> verified;
    std::array<std::pair<int64_t, Block>, 128> held{};  // blocks by their numbers modulo 128
  };
  std::unique_ptr<Checksums> checksums_;  // null for a file of the first version
};

/// Writes a file of tokens id by id. While the file is written, it has a temporary name. When the file is complete, it
/// gets its final name.
class TokenFileWriter {
 public:
  /// Throws std::invalid_argument for a vocabulary above kMaxTokens or a fingerprint that is too long. Throws io::Error
  /// if the file cannot be written.
  TokenFileWriter(std::filesystem::path path, const Vocabulary& vocabulary);
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;
  ~TokenFileWriter();  // without finish(): removes the unfinished file

  /// Adds ids. Throws std::invalid_argument for an id outside the vocabulary.
  void add(std::span<const Token> tokens);
  /// Adds `size`, the size of a text whose ids were passed to add(), to the facts that finish() returns.
  void add_text(const TextSize& size);
  /// Adds the coded part of a text (the part that its tokens encode) to the facts that finish() returns. Call
  /// add_coded() for all parts of a text, or for none of them.
  void add_coded(const CodedText& coded);
  TokenFileFacts finish();

 private:
  void flush();
  void end_block();

  std::filesystem::path path_, temporary_;
  std::unique_ptr<io::GrowingFile> file_;
  TokenFileFacts facts_;
  std::string pending_;    // ids that are not written yet
  std::string checksums_;  // checksums of the blocks written so far, in the form of the file
  size_t in_block_ = 0;    // bytes of the current block
  uint32_t block_checksum_ = 0;
  bool narrow_;
};

}  // namespace cachet::data
