#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// The layout of a TSV file: one row in each line, no quoting.
struct TsvLayout {
  std::string_view header;  // the first line; empty = no header
  size_t columns = 1;
};

/// Takes one row. If it throws an io::Error with the fault, file and line are put before the message.
using TakeRow = std::function<void(std::span<const std::string_view> fields)>;

/// Calls `take` with each row. Throws io::Error "<name>:<line>: <problem>" for another header, another number of
/// columns, and lines of more than 16 MiB.
void read_tsv(const io::ByteSource& source, const std::string& name, const TsvLayout& layout, const TakeRow& take);

/// The two parts of a file's name: the common beginning of the names of a data set's files (data.files), and the
/// rest.
struct TsvFileName {
  std::string files, ending;  // "basic", "_train.tsv"
  std::string text() const { return files + ending; }
};

/// Reads a file of the folder in this way: a plain file in pieces, .gz and .xz unpacked as a whole, up to 4 GiB.
/// Returns the file's path.
std::filesystem::path read_tsv_file(const std::filesystem::path& folder, const TsvFileName& name,
                                    const TsvLayout& layout, const TakeRow& take);

/// Reads a field that is a whole number 0 … classes − 1, with or without ".0" after it. Throws io::Error.
int parse_label(std::string_view field, int classes);

}  // namespace cachet::data
