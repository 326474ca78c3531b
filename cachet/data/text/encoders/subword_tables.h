#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// Returns the tables with which a SentencePiece model rewrites text before splitting it
/// (normalizer_spec.precompiled_charsmap of its protobuf message), or std::nullopt if the bytes are not such a message.
std::optional<std::vector<std::string_view>> normalization_tables(std::string_view model);

/// Returns the fault that makes a table unsafe, or std::nullopt. SentencePiece looks up a text's bytes in the table
/// without bounds checks. Therefore, each step of the table's double array (Aoe 1989; units of darts-clone) must stay
/// inside the array, no step may lead back, and a path may have at most 32 entries. Ignores a table if SentencePiece
/// refuses it because of its size.
std::optional<std::string> table_problem(std::string_view table);

}  // namespace cachet::data
