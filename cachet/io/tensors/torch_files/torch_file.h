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

/// A file that torch.save wrote (since 1.6: a zip archive), read without Python and without running its content. The
/// constructor reads and checks the pickle. A tensor's bytes are read only on request, so that other tensors in the
/// file (optimizer, averages) cost nothing.
class TorchFile {
 public:
  /// Throws io::Error, which names the file and the fault: damage, code, or another format of .pth files (the format of
  /// PyTorch before 1.6, TorchScript, a raw pickle, tar, 7z, gzip), which it names.
  explicit TorchFile(const std::filesystem::path& path);
  /// Reads a file in memory, which must outlive this object. `name` begins the messages.
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

/// Whether a file begins like a zip archive of torch.save, one of its older formats, or any pickle.
bool looks_like_torch_file(const std::filesystem::path& path);

}  // namespace cachet::io
