#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cachet::hub {

/// One repository in the cache folder of the hub's own client. The layout of the folder:
///   models--OWNER--NAME/blobs/ETAG               the bytes of a file
///   models--OWNER--NAME/refs/REVISION            the commit of a branch or tag
///   models--OWNER--NAME/snapshots/COMMIT/FILE    a relative link to a blob
///   .locks/models--OWNER--NAME/ETAG.lock         locked while a process writes the blob
class HubCache {
 public:
  HubCache(std::filesystem::path cache, const std::string& repository);

  /// Returns the commit of a revision, or an empty value if the cache does not have the revision.
  std::optional<std::string> commit_of(const std::string& revision) const;
  /// Stores the commit of a revision.
  void set_commit(const std::string& revision, const std::string& commit) const;

  std::filesystem::path snapshot(const std::string& commit) const;
  /// Returns the path of a file of a commit, or an empty value if the cache does not have the file.
  std::optional<std::filesystem::path> find(const std::string& commit, const std::string& file) const;

  std::filesystem::path blob(const std::string& etag) const;
  std::filesystem::path lock(const std::string& etag) const;
  /// Links a file of a commit to its blob and returns the link. If a link exists but its target is missing, replaces
  /// the link.
  std::filesystem::path link(const std::string& commit, const std::string& file, const std::string& etag) const;

 private:
  std::filesystem::path cache_, folder_;
  std::string name_;
};

}  // namespace cachet::hub
