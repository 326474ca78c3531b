#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// What a TSV file looks like: no quoting, a line a row.
struct TsvLayout {
  std::string_view header;  // the first line; empty = there is none
  size_t columns = 1;
};

/// Takes one row. An io::Error that it throws has the fault; file and line are put before it.
using TakeRow = std::function<void(std::span<const std::string_view> fields)>;

/// Calls `take` with each row. Throws io::Error "<name>:<line>: <problem>" for another header, another number of
/// columns, and lines of more than 16 MiB.
void read_tsv(const io::ByteSource& source, const std::string& name, const TsvLayout& layout, const TakeRow& take);

/// A file's name in two parts: the common beginning of the names of a data set's files (data.files), and the part that
/// differs.
struct TsvFileName {
  std::string files, ending;  // "basic", "_train.tsv"
  std::string text() const { return files + ending; }
};

/// Reads a file of the folder so: a plain one in pieces, .gz and .xz unpacked as a whole, up to 4 GiB.
/// Returns the file's path.
std::filesystem::path read_tsv_file(const std::filesystem::path& folder, const TsvFileName& name,
                                    const TsvLayout& layout, const TakeRow& take);

/// The whole number 0 … most − 1 that a field is, perhaps followed by ".0". Throws io::Error.
int parse_label(std::string_view field, int classes);

}  // namespace cachet::data
