#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// Returns the tables with which a SentencePiece model rewrites text before splitting it
/// (normalizer_spec.precompiled_charsmap of its protobuf message), or std::nullopt if the bytes are not such a message.
std::optional<std::vector<std::string_view>> normalization_tables(std::string_view model);

/// Returns the fault that makes a normalization table unsafe, or std::nullopt. The table is a double array (Aoe 1989;
/// units of darts-clone), in which SentencePiece looks up a text's bytes without bounds checks. In a safe array, no
/// unit points outside the array, no path has a cycle, and no path has more than 32 entries. If SentencePiece itself
/// refuses a table because of its size, returns std::nullopt.
std::optional<std::string> table_problem(std::string_view table);

}  // namespace cachet::data
