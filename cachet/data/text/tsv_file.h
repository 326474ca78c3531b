#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// The layout of a TSV file, which has one row in each line and no quoting.
struct TsvLayout {
  std::string_view header;  // the first line; empty = no header
  size_t columns = 1;
};

/// A function that receives one row of a TSV file. If the function throws io::Error, the reader adds the file and the
/// line before the message.
using TakeRow = std::function<void(std::span<const std::string_view> fields)>;

/// Calls `take` with each row. Throws io::Error "<name>:<line>: <problem>" for a wrong header, a wrong number of
/// columns, and a line of more than 16 MiB.
void read_tsv(const io::ByteSource& source, const std::string& name, const TsvLayout& layout, const TakeRow& take);

/// The two parts of a file's name: the prefix that all files of a data set have in common (data.files), and the ending
/// of the name.
struct TsvFileName {
  std::string files, ending;  // such as "basic" and "_train.tsv"
  std::string text() const { return files + ending; }
};

/// Reads a TSV file of a folder with read_tsv(), and returns the file's path. A plain file is read in pieces; .gz and
/// .xz files are unpacked as a whole, up to 4 GiB.
std::filesystem::path read_tsv_file(const std::filesystem::path& folder, const TsvFileName& name,
                                    const TsvLayout& layout, const TakeRow& take);

/// Reads a field that is an integer 0 … classes − 1, possibly followed by ".0". Throws io::Error.
int parse_label(std::string_view field, int classes);

}  // namespace cachet::data
