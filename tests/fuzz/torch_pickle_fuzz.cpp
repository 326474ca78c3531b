// The pickles in what torch.save writes. Storages "0" to "9" have 8 bytes each.
#include "cachet/io/error.h"
#include "cachet/io/tensors/torch_files/torch_unpickler.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/torch_archive.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  const auto bytes = std::as_bytes(input);
  try {
    const io::PickleTree tree = io::unpickle({bytes.begin(), bytes.end()}, "input", [](const std::string& key) {
      if (key.size() != 1) throw io::Error("no such record");
      return uint64_t{8};
    });
    for (const io::PickledTensor& tensor : tree.tensors) {
      uint64_t last = tensor.offset;  // what the reader promises: no element lies beyond its storage
      bool empty = false;
      for (size_t i = 0; i < tensor.shape.size(); ++i) {
        empty = empty || tensor.shape[i] == 0;
        last += static_cast<uint64_t>(tensor.shape[i] - 1) * static_cast<uint64_t>(tensor.strides[i]);
      }
      if (!empty && (last + 1) * io::type_bytes(tensor.type) > 8) std::abort();
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  namespace p = test::pickled;
  const std::string tensor = p::tensor(p::storage("0", 2), 0, {2, 1}, {1, 1});
  const std::string arguments = p::global("argparse", "Namespace") + ")\x81}(" + p::text("lr") + "K\1ub";
  const std::string parameter = p::call(p::global("torch._utils", "_rebuild_parameter"),
                                        tensor + "\x88" + p::call(p::global("collections", "OrderedDict"), ""));
  const std::string typed = p::call(p::global("torch._utils", "_rebuild_tensor_v3"),
                                    p::storage("1", 8, "UntypedStorage", "torch.storage") + "K\1" + p::integers({3}) +
                                        p::integers({1}) + "\x89}" + p::global("torch", "uint16"));
  const std::string modern = "\x80\x04\x95" + test::u64(20) + "}\x94(\x8c\1w\x94\x8c\1m\x8c\1n\x93\x94)\x81\x94u.";
  return {p::program(p::dict({{"w", tensor}, {"args", arguments}, {"epoch", "K\1"}})),
          p::program(p::dict({{"p", parameter}, {"t", typed}})),
          p::program("](K\1M\1\2J\1\2\3\4\x8a\1\1NG12345678\x88U\2abq\1h\1r\2\1\1\1j\2\1\1\1K\1\x85K\1K\2\x86)e"),
          modern};
}

}  // namespace cachet::fuzz
