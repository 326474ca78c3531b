// ListOps files, expressions alone, and pairs of texts: what is taken must have samples with tokens, labels and values
// in range. The first byte chooses the reader.
#include <cstdlib>
#include <span>

#include "cachet/data/text/listops/listops.h"
#include "cachet/data/text/listops/listops_file.h"
#include "cachet/data/text/sequences/matching.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

constexpr int64_t kMaxTokens = 20;

void check_samples(const data::SequenceDataset& samples) {
  if (samples.size() < 1) std::abort();
  for (int64_t i = 0; i < samples.size(); ++i) {
    if (samples.label(i) < 0 || samples.label(i) >= samples.classes()) std::abort();
    if (samples.tokens(i).empty() || samples.length(i) > kMaxTokens) std::abort();
    for (const data::Token token : samples.tokens(i))
      if (token <= data::kPaddingToken || token >= samples.vocabulary().size) std::abort();
  }
}

void read_expression(std::string_view text) {
  const int value = data::evaluate_listops(data::parse_listops(text));
  if (value < 0 || value > 9) std::abort();
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto bytes = input.subspan(1);
  const io::MemorySource source(std::as_bytes(bytes));
  const data::SequenceRules rules{.max_length = kMaxTokens, .empty_texts = data::EmptyText::skip};
  try {
    switch (input[0] % 3) {
      case 0:
        return check_samples(*data::read_listops(source, "input", rules));
      case 1:
        return check_samples(*data::read_matching(source, "input", data::ByteEncoder(), rules));
      default:
        return read_expression({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {"\0Source\tTarget\r\n( ( ( [MIN 6 ) 7 ) ] )\t6\n[MED 1 [SM 2 9 ] ]\t1\n"s,
          "\1\x31\tP1\tP2\tone text\tanother\n0.0\tP1\tP3\tone text\t\n"s, "\2( ( ( [MAX 6 ) 7 ) ] )"s};
}

}  // namespace cachet::fuzz
