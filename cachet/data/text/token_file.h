#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachet/data/text/token_sequence.h"
#include "cachet/data/text/vocabulary.h"
#include "cachet/io/byte_source.h"
#include "cachet/io/growing_file.h"

namespace cachet::data {

/// What a long sequence of tokens is of.
struct TokenFileFacts {
  int64_t vocabulary = 0;     // ids are below it
  std::string fingerprint{};  // of the vocabulary and the form of its texts; at most 64 bytes
  int64_t tokens = 0;
  int64_t text_bytes = 0, text_characters = 0;  // of the text that they stand for: what bits per byte are counted by
  bool operator==(const TokenFileFacts&) const = default;
};

/// A sequence in a file, read where it is asked for: however long it is, it takes no memory.
///
/// The file, little-endian: "CACHTOK1", bytes of an id (u32; 2 where the vocabulary fits, else 4), bytes of the header
/// (u32, 128), vocabulary, tokens, text bytes, text characters (u64 each), fingerprint (64 bytes, zeros behind it),
/// zeros up to the header's end, then the ids. It is read piece by piece and not mapped: a file that shrinks meanwhile
/// is an error then, and not the process's end.
class TokenFile final : public TokenSequence {
 public:
  /// Throws io::Error that begins with `name`: no such file, another version, a header that contradicts itself or the
  /// file's size.
  TokenFile(std::unique_ptr<const io::ByteSource> source, std::string name);
  static TokenFile open(const std::filesystem::path& path);

  const TokenFileFacts& facts() const { return facts_; }
  const std::string& name() const { return name_; }
  /// Throws io::Error unless the tokens are of this vocabulary and of texts in its form.
  void require(const Vocabulary& vocabulary) const;
  int64_t size() const override { return facts_.tokens; }
  /// Throws io::Error that names the place of an id beyond the vocabulary, too.
  void read(int64_t first, int64_t count, int64_t* out) const override;

 private:
  std::unique_ptr<const io::ByteSource> source_;
  std::string name_;
  TokenFileFacts facts_;
  bool narrow_ = true;
};

/// Writes such a file, ids as they come: a temporary name, then a rename.
class TokenFileWriter {
 public:
  /// Throws std::invalid_argument for a vocabulary above kMostTokens or a longer fingerprint, io::Error where the file
  /// cannot be written.
  TokenFileWriter(std::filesystem::path path, const Vocabulary& vocabulary);
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;
  ~TokenFileWriter();  // without finish(): removes what was written

  /// Throws std::invalid_argument for an id that the vocabulary does not have.
  void add(std::span<const Token> tokens);
  /// Of the text that the tokens stand for.
  void add_text(int64_t bytes, int64_t characters);
  TokenFileFacts finish();

 private:
  void flush();

  std::filesystem::path path_, temporary_;
  std::unique_ptr<io::GrowingFile> file_;
  TokenFileFacts facts_;
  std::string pending_;
  bool narrow_;
};

}  // namespace cachet::data
