#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachet/io/compression/zip_archive.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/io/tensors/torch_files/pickle_tree.h"

namespace cachet::io {

/// A file that torch.save wrote in PyTorch 1.6 or later (a zip archive). The file is read without Python, and code in
/// the file is never run. The constructor reads and checks the pickle. A tensor's bytes are read only on request, so
/// other tensors in the file (optimizer, averages) need no time or memory.
class TorchFile {
 public:
  /// Throws io::Error, which names the file and the fault: damage, code, or the name of another format (PyTorch's
  /// format before 1.6, TorchScript, a raw pickle, tar, 7z or gzip).
  explicit TorchFile(const std::filesystem::path& path);
  /// Reads a file in memory. `memory` must outlive the TorchFile object. Messages begin with `name`.
  TorchFile(std::span<const std::byte> memory, std::string name);

  const PickleTree& contents() const { return tree_; }

  /// Reads tensors of contents() by name, as views of their storages. Tensors that shared a storage when saved share it
  /// again if they are requested together. Throws io::Error for a damaged record.
  TensorMap tensors(const std::map<std::string, PickleTree::Tensor>& which) const;

 private:
  void open();
  const ZipMember& record(const std::string& name) const;

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ZipArchive> archive_;
  std::string folder_;  // the folder of all members: "archive/"
  PickleTree tree_;
};

/// Whether a file begins like a zip archive of torch.save, like an older format of torch.save, or like any pickle.
bool looks_like_torch_file(const std::filesystem::path& path);

}  // namespace cachet::io
