#include "cachet/hub/fetch.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cachet/hub/file_lock.h"
#include "cachet/hub/folders.h"
#include "cachet/hub/hub_cache.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/parse_json.h"

namespace cachet::hub {
namespace {

namespace fs = std::filesystem;
using HubJson = nlohmann::json;

constexpr uint64_t kMaxListBytes = uint64_t{64} << 20, kMaxIndexBytes = uint64_t{64} << 20;
constexpr std::string_view kIndexEnd = ".safetensors.index.json";
constexpr const char* kConfig = "config.json";

bool has_only_hex_digits(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char byte) { return std::isxdigit(byte) != 0; });
}

/// The only one of these names that ends so; nothing if there is none, or more than one.
std::optional<std::string> only_one(const std::vector<std::string>& files, std::string_view end) {
  std::optional<std::string> found;
  for (const std::string& file : files) {
    if (!file.ends_with(end)) continue;
    if (found) return std::nullopt;
    found = file;
  }
  return found;
}

std::optional<std::string> weights_among(const std::vector<std::string>& files) {
  const auto has = [&files](std::string_view name) { return std::ranges::find(files, name) != files.end(); };
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"})
    if (has(name)) return name;
  if (const auto only = only_one(files, ".safetensors")) return only;
  if (has("pytorch_model.bin")) return "pytorch_model.bin";
  for (const char* end : {".bin", ".pth", ".pt"})
    if (const auto only = only_one(files, end)) return only;
  return std::nullopt;
}

std::string first_of(const std::vector<std::string>& files) {
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t i = 0; i < std::min(files.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + io::in_quotes(files[i]);
  return text + (files.size() > kShown ? ", …" : "");
}

/// The parts of an index of safetensors files, as names below the repository.
std::set<std::string> parts_of_index(const fs::path& index, const std::string& name) {
  std::set<std::string> parts;
  const HubJson json = io::parse_json<HubJson>(io::read_text_file(index, kMaxIndexBytes), /*throws=*/false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object())
    throw io::Error(name + ": is not an index of safetensors files; give the name of a file in the repository");
  const std::string folder = name.substr(0, name.rfind('/') + 1);
  for (const auto& part : *map) {
    if (!part.is_string() || !is_file_below(part.get<std::string>()))
      throw io::Error(name +
                      ": the index must list the file names of its parts; give the name of a file in the repository");
    parts.insert((name.find('/') == std::string::npos ? "" : folder) + part.get<std::string>());
  }
  return parts;
}

/// A revision of a repository, as the hub answers.
struct HubRevision {
  std::string commit;
  std::vector<std::string> files;
};

/// The revisions that this process has asked for. A command that fetches config.json and weights takes both from one
/// commit, and asks once.
class KnownRevisions {
 public:
  std::optional<HubRevision> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto known = revisions_.find(key);
    return known == revisions_.end() ? std::nullopt : std::optional(known->second);
  }
  void add(const std::string& key, HubRevision revision) {
    const std::lock_guard lock(mutex_);
    revisions_[key] = std::move(revision);
  }
  static KnownRevisions& of_process() {
    static KnownRevisions known;
    return known;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, HubRevision> revisions_;
};

/// What is taken of a repository.
enum class HubPart {
  weights,  // those that are named, or the usual ones, with config.json if it exists
  config,   // config.json alone; the file of the result is empty if it does not exist
};

class HubFetch {
 public:
  HubFetch(HubName name, HubPart part, const HubSettings& settings, const DownloadOptions& options)
      : name_(std::move(name)),
        part_(part),
        label_("hf:" + name_.repository),
        settings_(settings),
        options_(options),
        cache_(settings.cache, name_.repository) {
    if (part_ == HubPart::config) name_.file = kConfig;
  }

  FetchedWeights run() {
    if (const auto known = from_commit()) return *known;
    if (settings_.offline) return from_cache("HF_HUB_OFFLINE is set");
    if (!can_download()) return from_cache("this Cachet was built without libcurl and cannot download");
    try {
      look_up();
    } catch (const ConnectionError& error) {
      return from_cache_or_throw(error);
    } catch (const HttpError& error) {
      if (error.status / 100 == 5 || error.status == 429) return from_cache_or_throw(error);
      explain(error);
    }
    try {
      return from_hub();
    } catch (const HttpError& error) {
      explain(error);
    }
  }

 private:
  /// A commit never changes: what the cache has of it needs no server.
  std::optional<FetchedWeights> from_commit() {
    if (!is_commit(name_.revision)) return std::nullopt;
    const std::string file = name_.file.empty() ? "model.safetensors" : name_.file;
    const auto path = cache_.find(name_.revision, file);
    if (!path || file.ends_with(kIndexEnd) || !cache_.find(name_.revision, kConfig)) return std::nullopt;
    return FetchedWeights{*path, HubName{name_.repository, name_.revision, file}.text()};
  }

  FetchedWeights from_cache_or_throw(const io::Error& error) {
    std::optional<FetchedWeights> found;
    try {
      found = from_cache(error.what());
    } catch (const io::Error&) {
      throw error;
    }
    if (options_.note) options_.note(std::string(error.what()) + "; the command uses the files of the last download");
    return *found;
  }

  FetchedWeights from_cache(const std::string& reason) {
    const std::string missing = label_ + ": " + reason + ", and the cache " + settings_.cache.string();
    const auto commit = cache_.commit_of(name_.revision);
    if (!commit) throw io::Error(missing + " has no revision " + io::in_quotes(name_.revision) + " of it; " + remedy());
    std::string file = name_.file;
    if (file.empty()) {
      std::vector<std::string> files;
      std::error_code absent;
      for (const auto& entry : fs::recursive_directory_iterator(cache_.snapshot(*commit), absent))
        if (entry.is_regular_file())
          files.push_back(entry.path().lexically_relative(cache_.snapshot(*commit)).string());
      std::ranges::sort(files);
      file = weights_among(files).value_or("");
    }
    const auto path = file.empty() ? std::nullopt : cache_.find(*commit, file);
    if (!path && part_ == HubPart::config) return {};
    if (!path)
      throw io::Error(missing + " does not have " + (file.empty() ? "its weights" : io::in_quotes(file)) + "; " +
                      remedy());
    if (file.ends_with(kIndexEnd))
      for (const std::string& part : parts_of_index(*path, file))
        if (!cache_.find(*commit, part)) throw io::Error(missing + " does not have " + io::in_quotes(part));
    return {*path, HubName{name_.repository, *commit, file}.text()};
  }

  std::string remedy() const {
    return can_download()
               ? "to download the files, run the command with a network connection and without HF_HUB_OFFLINE"
               : "download the files with `hf download " + name_.repository +
                     "`, or build Cachet with libcurl4-openssl-dev";
  }

  /// Asks the hub which commit the revision is, and which files it has, if this process does not know it.
  void look_up() {
    const std::string key =
        settings_.endpoint + '\n' + name_.repository + '\n' + name_.revision + '\n' + settings_.token;
    KnownRevisions& known = KnownRevisions::of_process();
    std::optional<HubRevision> revision = known.find(key);
    if (!revision) known.add(key, *(revision = asked_revision()));
    commit_ = revision->commit;
    files_ = revision->files;
  }

  HubRevision asked_revision() const {
    const std::string api = "/api/models/" + name_.repository + "/revision/" + percent_encoded(name_.revision);
    const std::string text =
        download_text({.address = parse_address(settings_.endpoint + api), .token = settings_.token}, label_,
                      kMaxListBytes, options_);
    const HubJson json = io::parse_json<HubJson>(text, /*throws=*/false);
    const bool is_answer = json.is_object() && json.contains("sha") && json["sha"].is_string() &&
                           is_commit(json["sha"].get<std::string>()) && json.contains("siblings") &&
                           json["siblings"].is_array();
    if (!is_answer)
      throw io::Error(label_ + ": " + settings_.endpoint +
                      " does not answer like a Hugging Face hub; check HF_ENDPOINT and proxies");
    HubRevision revision{json["sha"].get<std::string>(), {}};
    for (const HubJson& each : json["siblings"]) {
      if (!each.is_object() || !each.contains("rfilename") || !each["rfilename"].is_string()) continue;
      if (std::string file = each["rfilename"].get<std::string>(); is_file_below(file))
        revision.files.push_back(std::move(file));
    }
    return revision;
  }

  FetchedWeights from_hub() {
    const bool has_config = std::ranges::find(files_, kConfig) != files_.end();
    if (part_ == HubPart::config && !has_config) return {};
    const std::string file = chosen_file();
    cache_.set_commit(name_.revision, commit_);
    if (has_config) bring(kConfig);
    const fs::path path = bring(file);
    if (file.ends_with(kIndexEnd))
      for (const std::string& part : parts_of_index(path, file)) bring(part);
    return {path, HubName{name_.repository, commit_, file}.text()};
  }

  std::string chosen_file() const {
    if (!name_.file.empty()) {
      if (std::ranges::find(files_, name_.file) != files_.end()) return name_.file;
      throw io::Error(label_ + ": has no file " + io::in_quotes(name_.file) + " in revision " +
                      io::in_quotes(name_.revision) + "; its files: " + first_of(files_));
    }
    if (const auto file = weights_among(files_)) return *file;
    throw io::Error(label_ +
                    ": it is not clear which file has the weights; give the file as hf:OWNER/NAME/FILE. The files of "
                    "the repository: " +
                    first_of(files_));
  }

  /// Where a file of the commit lies, after a download if the cache does not have it.
  fs::path bring(const std::string& file) {
    if (const auto path = cache_.find(commit_, file)) return *path;
    const std::string target = "/" + name_.repository + "/resolve/" + commit_ + "/" + percent_encoded(file, "/");
    DownloadSource source{.name = label_ + "/" + file,
                          .address = parse_address(settings_.endpoint + target),
                          .token = settings_.token,
                          .never_changes = true};
    const Answer answer = send_repeatedly(
        {.address = source.address, .only_headers = true, .token = settings_.token, .until_linked = true}, source.name,
        options_);
    const std::string etag = read_facts(answer, source);
    const fs::path blob = cache_.blob(etag);
    std::error_code absent;
    if (!fs::is_regular_file(blob, absent)) {
      const FileLock lock(cache_.lock(etag), [&] {
        if (options_.note) options_.note(source.name + ": waiting for another process that is downloading this file");
      });
      make_folders(blob.parent_path());
      if (!fs::is_regular_file(blob, absent)) download(source, blob.string() + ".incomplete", blob, options_);
    }
    return cache_.link(commit_, file, etag);
  }

  /// The ETag, after which the blob is called. Of files in LFS it is the SHA-256, of others git's digest.
  std::string read_facts(const Answer& answer, DownloadSource& source) const {
    std::string etag = answer.header("x-linked-etag");
    if (etag.empty()) etag = answer.header("etag");
    etag.erase(0, etag.find_first_not_of("W/"));
    std::erase(etag, '"');
    const auto may_be = [](unsigned char byte) {
      return byte < 0x80 && (std::isalnum(byte) || byte == '-' || byte == '_');
    };
    if (etag.empty() || etag.size() > 128 || !std::ranges::all_of(etag, may_be))
      throw io::Error(source.name + ": " + answer.address.host +
                      " sends no usable ETag; check HF_ENDPOINT and proxies");
    if (etag.size() == 64 && has_only_hex_digits(etag)) source.sha256 = etag;
    if (etag.size() == 40 && has_only_hex_digits(etag)) source.git_sha1 = etag;
    if (source.sha256.empty() && source.git_sha1.empty() && options_.note)
      options_.note(source.name + ": the server gives no digest of this file, so only its size is checked");
    Answer linked;
    linked.headers["content-length"] = answer.header("x-linked-size");
    source.size = linked.length();
    if (!source.size && answer.status == 200) source.size = answer.length();
    return etag;
  }

  /// Throws an error with what to do about an answer of the hub.
  [[noreturn]] void explain(const HttpError& error) const {
    const bool has_token = !settings_.token.empty();
    const std::string begin = label_ + ": the hub answers " + std::to_string(error.status);
    if (error.status == 401 && has_token)
      throw io::Error(
          begin + ", because the hub does not accept the token; set HF_TOKEN to a valid token, or remove the token");
    if (error.status == 401)
      throw io::Error(begin + ": there is no such repository, or it is private; check the name, or set HF_TOKEN");
    if (error.status == 403)
      throw io::Error(begin + ": access is restricted; ask for access at " + settings_.endpoint + "/" +
                      name_.repository + (has_token ? ", with the account of your token" : ", then set HF_TOKEN"));
    if (error.status == 404 && error.code == "RevisionNotFound")
      throw io::Error(begin + ": the repository has no revision " + io::in_quotes(name_.revision) +
                      "; check the branch, tag or commit after @");
    if (error.status == 404)
      throw io::Error(begin + " (not found); check OWNER/NAME, and HF_TOKEN if the repository is private");
    throw error;
  }

  HubName name_;
  HubPart part_;
  std::string label_;
  const HubSettings& settings_;
  const DownloadOptions& options_;
  HubCache cache_;
  std::string commit_;
  std::vector<std::string> files_;
};

/// The digest after "#sha256=", in lower case; "" if the address names none.
std::string digest_of_address(const std::string& text) {
  constexpr std::string_view kMark = "sha256=";
  const size_t hash = text.find('#');
  if (hash == std::string::npos) return {};
  std::string digest = text.substr(hash + 1);
  if (!digest.starts_with(kMark)) return {};
  digest.erase(0, kMark.size());
  std::ranges::transform(digest, digest.begin(),
                         [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  if (digest.size() != 64 || !has_only_hex_digits(digest))
    throw io::Error(io::in_quotes(text) + ": #sha256= must be followed by 64 hexadecimal digits");
  return digest;
}

FetchedWeights fetch_address(const std::string& text, const HubSettings& settings, const DownloadOptions& options) {
  const WebAddress address = parse_address(text);
  const std::string whole = address.text(), digest = digest_of_address(text);
  const std::string path = address.target.substr(0, address.target.find('?'));
  const std::string name = path.substr(path.rfind('/') + 1);
  if (!is_file_below(name) || name.starts_with('.'))
    throw io::Error(io::in_quotes(text) + " does not end with the name of a file; give the address of the file itself");
  const fs::path folder =
      settings.downloads / "downloads" / address.host / io::sha256_hex(whole + "#" + digest).substr(0, 16);
  const fs::path file = folder / name;
  const FetchedWeights fetched{file, whole};
  std::error_code absent;
  if (fs::is_regular_file(file, absent)) return fetched;
  if (settings.offline)
    throw io::Error(whole + ": HF_HUB_OFFLINE is set, but " + settings.downloads.string() +
                    " does not have this file; download the file first");
  const FileLock lock(folder / ".lock", [&] {
    if (options.note) options.note(whole + ": waiting for another process that is downloading this file");
  });
  if (fs::is_regular_file(file, absent)) return fetched;
  download({.name = whole, .address = address, .sha256 = digest}, folder / (name + ".incomplete"), file, options);
  return fetched;
}

}  // namespace

FetchedWeights fetch_weights(const std::string& name, const HubSettings& settings, const DownloadOptions& options) {
  if (auto of_hub = hub_name(name, settings.endpoint))
    return HubFetch(std::move(*of_hub), HubPart::weights, settings, options).run();
  return fetch_address(name, settings, options);
}

std::optional<fs::path> fetch_config(const std::string& name, const HubSettings& settings,
                                     const DownloadOptions& options) {
  auto of_hub = hub_name(name, settings.endpoint);
  if (!of_hub) return std::nullopt;
  const fs::path file = HubFetch(std::move(*of_hub), HubPart::config, settings, options).run().file;
  return file.empty() ? std::nullopt : std::optional(file);
}

}  // namespace cachet::hub
