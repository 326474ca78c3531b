#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "tests/support/recording_file_system.h"

namespace cachet::test {

/// A disk on which only what was synced is sure to be there after a power cut: the bytes of a file after fsync of the
/// file, its name after fsync of its folder. The rest may be there or not.
class PowerCutDisk {
 public:
  /// Starts from a folder as it is, all of it synced.
  explicit PowerCutDisk(const std::filesystem::path& root) : root_(root), top_(copy_of(root)) {}

  /// Repeats one recorded call. Paths outside the folder are ignored.
  void apply(const RecordingFileSystem::Call& call);

  /// Writes one of the possible states after a power cut into an empty folder. Chance decides for each folder whether
  /// its names are the synced or the latest, and for each file whether it holds the synced bytes, the latest, half of
  /// them, or zeros; seed 0 is "nothing more than was synced", seed 1 "all names, no bytes".
  void materialise(const std::filesystem::path& to, uint32_t seed) const;

 private:
  struct Node;
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  struct Node {
    bool is_folder = false;
    std::string bytes, synced_bytes;
    Names names, synced_names;
  };
  using NodePtr = std::shared_ptr<Node>;

  static NodePtr copy_of(const std::filesystem::path& path);
  /// The folder that holds a path, or null outside the root.
  Node* parent_of(const std::filesystem::path& path) const;
  Node* find(const std::filesystem::path& path) const;
  static void write(const Node& node, const std::filesystem::path& to, uint32_t seed, std::mt19937& chance);

  std::filesystem::path root_;
  NodePtr top_;
};

inline PowerCutDisk::NodePtr PowerCutDisk::copy_of(const std::filesystem::path& path) {
  auto node = std::make_shared<Node>();
  node->is_folder = std::filesystem::is_directory(path);
  if (node->is_folder) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      node->names[entry.path().filename().string()] = copy_of(entry.path());
    }
    node->synced_names = node->names;
  } else {
    std::ifstream file(path, std::ios::binary);
    node->bytes.assign(std::istreambuf_iterator<char>(file), {});
    node->synced_bytes = node->bytes;
  }
  return node;
}

inline PowerCutDisk::Node* PowerCutDisk::find(const std::filesystem::path& path) const {
  const std::filesystem::path inside = path.lexically_relative(root_);
  if (inside.empty() || *inside.begin() == "..") return nullptr;
  Node* node = top_.get();
  for (const auto& step : inside) {
    if (step == "." || step.empty()) continue;
    const auto found = node->names.find(step.string());
    if (found == node->names.end()) return nullptr;
    node = found->second.get();
  }
  return node;
}

inline PowerCutDisk::Node* PowerCutDisk::parent_of(const std::filesystem::path& path) const {
  return find(path.parent_path());
}

inline void PowerCutDisk::apply(const RecordingFileSystem::Call& call) {
  using Kind = RecordingFileSystem::Call::Kind;
  if (!call.succeeded) return;
  const std::string name = call.path.filename().string();
  Node* node = find(call.path);
  Node* parent = parent_of(call.path);
  switch (call.kind) {
    case Kind::kOpen:
      if (call.creates && parent != nullptr && node == nullptr) parent->names[name] = std::make_shared<Node>();
      break;
    case Kind::kWrite:
      if (node != nullptr) node->bytes += call.bytes;
      break;
    case Kind::kFsync:
      if (node == nullptr) break;
      node->synced_bytes = node->bytes;
      node->synced_names = node->names;
      break;
    case Kind::kRename:
      if (parent == nullptr || node == nullptr) break;
      parent_of(call.to)->names[call.to.filename().string()] = parent->names.at(name);
      parent->names.erase(name);
      break;
    case Kind::kMkdir:
      if (parent == nullptr) break;
      parent->names[name] = std::make_shared<Node>();
      parent->names[name]->is_folder = true;
      break;
    case Kind::kUnlink:
    case Kind::kRmdir:
      if (parent != nullptr) parent->names.erase(name);
      break;
    case Kind::kClose:
    case Kind::kFreeBytes:
      break;
  }
}

inline void PowerCutDisk::write(const Node& node, const std::filesystem::path& to, uint32_t seed,
                                std::mt19937& chance) {
  if (node.is_folder) {
    std::filesystem::create_directory(to);
    const bool latest = seed == 0 ? false : seed == 1 ? true : chance() % 2 == 0;
    for (const auto& [name, child] : latest ? node.names : node.synced_names) write(*child, to / name, seed, chance);
    return;
  }
  std::string bytes = node.synced_bytes;
  const auto choice = seed < 2 ? 0 : chance() % 4;
  if (choice == 1) bytes = node.bytes;
  if (choice == 2) bytes = node.bytes.substr(0, std::max(node.synced_bytes.size(), node.bytes.size() / 2));
  if (choice == 3) bytes.resize(node.bytes.size(), '\0');
  std::ofstream(to, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void PowerCutDisk::materialise(const std::filesystem::path& to, uint32_t seed) const {
  std::mt19937 chance(seed);
  write(*top_, to, seed, chance);
}

}  // namespace cachet::test
