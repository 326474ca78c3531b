#include "cachet/io/tensors/torch_files/torch_file.h"

#include <ATen/ops/empty.h>

#include <array>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/git_lfs.h"
#include "cachet/io/tensors/safetensors/safetensors_types.h"
#include "cachet/io/tensors/torch_files/torch_unpickler.h"

namespace cachet::io {
namespace {

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
constexpr size_t kSniffed = 512;

struct Signature {
  std::string_view bytes;
  size_t position;
  const char* meaning;  // what else a file can be; none: a zip archive
};

using std::string_view_literals::operator""sv;  // signatures may have zeros

constexpr std::array<Signature, 8> kSignatures{{
    {"PK\x03\x04"sv, 0, nullptr},
    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv, 0,
     "was written by torch.save of a version before PyTorch 1.6; in Python, save it again: torch.save(torch.load(FILE, "
     "weights_only=True), NEW)"},
    {"ustar"sv, 257,
     "is a tar archive, the format of PyTorch before 0.1.10; in Python, save it again: torch.save(torch.load(FILE), "
     "NEW)"},
    {kGitLfsPointer, 0, kIsGitLfsPointer},
    {"7z\xbc\xaf\x27\x1c"sv, 0, "is a 7z archive; unpack it first"},
    {"\x1f\x8b"sv, 0, "is compressed with gzip; unpack it first"},
    {"\x89HDF"sv, 0, "is an HDF5 file; only safetensors and PyTorch files are supported"},
    {"\x80"sv, 0, "is a pickle file without the PyTorch format; in Python, save its tensors with torch.save"},
}};

std::string first_bytes(const ByteSource& source) {
  std::string bytes(std::min<uint64_t>(source.size(), kSniffed), '\0');
  source.read_at(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

// The length of a header below 16 MiB and a brace: a length may begin with any of the signatures' bytes.
bool begins_as_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes.substr(3, 6) == "\0\0\0\0\0{"sv; }

const Signature* signature_of(const ByteSource& source) {
  const std::string bytes = first_bytes(source);
  if (begins_as_safetensors(bytes)) return nullptr;
  for (const Signature& each : kSignatures)
    if (bytes.size() > each.position && std::string_view(bytes).substr(each.position).starts_with(each.bytes))
      return &each;
  return nullptr;
}

void require_zip(const ByteSource& source, const std::string& name) {
  const Signature* signature = signature_of(source);
  if (signature == nullptr) throw Error(name + ": is not a PyTorch file");
  if (signature->meaning != nullptr) throw Error(name + ": " + signature->meaning);
}

/// The folder that all members of torch.save's archives lie in, with its slash.
std::string common_folder(const ZipArchive& archive) {
  const std::string& first = archive.members().front().name;
  const std::string folder = first.substr(0, first.find('/') + 1);
  for (const ZipMember& member : archive.members())
    if (folder.empty() || !member.name.starts_with(folder))
      throw Error(archive.name() + ": member " + in_quotes(member.name) +
                  " is not in the folder that torch.save writes, so this zip archive is not a PyTorch file");
  return folder;
}

/// Storages as they are asked for, each read once.
class StorageReader {
 public:
  StorageReader(const ZipArchive& archive, const std::string& folder) : archive_(archive), folder_(folder) {}

  at::Tensor bytes(const PickledStorage& storage) {
    at::Tensor& tensor = read_[storage.key];
    if (tensor.defined()) return tensor;
    tensor = at::empty({static_cast<int64_t>(storage.bytes)}, at::kByte);
    archive_.read(*archive_.find(folder_ + "data/" + storage.key),
                  {static_cast<std::byte*>(tensor.mutable_data_ptr()), storage.bytes});
    return tensor;
  }

 private:
  const ZipArchive& archive_;
  const std::string& folder_;
  TensorMap read_;  // by key
};

// A bool that is neither 0 nor 1 is undefined behaviour in whoever reads it.
void check_bools(const at::Tensor& bytes, const std::string& file, const std::string& name) {
  if (bytes.numel() > 0 && bytes.max().item<uint8_t>() > 1)
    throw Error(file + ": tensor " + in_quotes(name) + " of type bool has a byte that is neither 0 nor 1");
}

}  // namespace

TorchFile::TorchFile(const std::filesystem::path& path)
    : name_(path.string()), source_(std::make_unique<FileSource>(path)) {
  open();
}

TorchFile::TorchFile(std::span<const std::byte> memory, std::string name)
    : name_(std::move(name)), source_(std::make_unique<MemorySource>(memory)) {
  open();
}

void TorchFile::open() {
  require_zip(*source_, name_);
  archive_ = std::make_unique<ZipArchive>(*source_, name_);
  folder_ = common_folder(*archive_);
  if (archive_->find(folder_ + "constants.pkl") != nullptr)
    throw Error(name_ +
                ": contains TorchScript, which is a program and not weights; in Python, save the state_dict() of "
                "torch.jit.load(FILE)");
  if (const ZipMember* order = archive_->find(folder_ + "byteorder"); order != nullptr) {
    std::string word(std::min<uint64_t>(order->size, 16), '\0');
    if (order->size == word.size()) archive_->read(*order, std::as_writable_bytes(std::span(word)));
    if (word != "little") throw Error(name_ + ": was written on a machine with another byte order, " + in_quotes(word));
  }
  const ZipMember& pickle = record("data.pkl");
  if (pickle.size > kMaxPickleBytes)
    throw Error(name_ + ": data.pkl has " + std::to_string(pickle.size) + " bytes; the maximum is " +
                std::to_string(kMaxPickleBytes));
  std::vector<std::byte> bytes(pickle.size);
  archive_->read(pickle, bytes);
  tree_ = unpickle(std::move(bytes), name_ + ": data.pkl",
                   [this](const std::string& key) { return record("data/" + key).size; });
}

const ZipMember& TorchFile::record(const std::string& name) const {
  const ZipMember* member = archive_->find(folder_ + name);
  if (member == nullptr) throw Error(name_ + ": has no member " + in_quotes(folder_ + name));
  return *member;
}

TensorMap TorchFile::tensors(const std::map<std::string, PickleTree::Tensor>& which) const {
  StorageReader storages(*archive_, folder_);
  TensorMap result;
  for (const auto& [name, index] : which) {
    const PickledTensor& tensor = tree_.tensors[index.index];
    const at::Tensor bytes = storages.bytes(tree_.storages[tensor.storage]);
    if (tensor.type == SafetensorsType::kBool) check_bools(bytes, name_, name);
    result.emplace(name, at::empty({0}, scalar_type(tensor.type))
                             .set_(bytes.storage(), static_cast<int64_t>(tensor.offset), tensor.shape, tensor.strides));
  }
  return result;
}

bool looks_like_torch_file(const std::filesystem::path& path) { return signature_of(FileSource(path)) != nullptr; }

}  // namespace cachet::io
