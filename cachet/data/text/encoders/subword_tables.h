#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// The tables that a SentencePiece model rewrites text by before it is split (normalizer_spec.precompiled_charsmap of
/// its protobuf message); nothing if the bytes are not such a message.
std::optional<std::vector<std::string_view>> normalization_tables(std::string_view model);

/// What makes a table unsafe, or nothing. SentencePiece walks it by a text's bytes and trusts it: every step of its
/// double array (Aoe 1989; darts-clone's units) must stay inside, none may lead back, and at most 32 entries may lie on
/// one way. Tables that SentencePiece refuses by itself, by their sizes, are passed over.
std::optional<std::string> table_problem(std::string_view table);

}  // namespace cachet::data
