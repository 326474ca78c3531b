#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cachet::hub {

/// A repository of models on the Hugging Face hub, or one of its files.
struct HubName {
  std::string repository;         // "timm/vit_small_patch16_224.augreg_in21k_ft_in1k"
  std::string revision = "main";  // a branch, a tag or a commit
  std::string file{};             // "" = the weights of the repository

  std::string text() const;  // such as "hf:timm/vit_tiny_patch16_224@main/model.safetensors"
};

/// Whether a text is a remote name ("hf:…", "https://…", "http://…") and not a path of this machine.
bool is_remote(std::string_view text);

/// Parses hf:OWNER/NAME[@REVISION][/FILE], or the address of a file or a page of the hub at `endpoint`
/// (ENDPOINT/OWNER/NAME/resolve/REVISION/FILE). If the text is neither a name with "hf:" nor an address of the hub,
/// returns an empty value. Throws io::Error if a text begins with "hf:" but has another form.
std::optional<HubName> hub_name(std::string_view text, std::string_view endpoint);

/// Whether a remote name can be the name of a file below a folder: it has no empty part, no "." or "..", no
/// control character and no backslash.
bool is_file_below(std::string_view name);
/// Whether a text is a commit's name: 40 hexadecimal digits.
bool is_commit(std::string_view text);

}  // namespace cachet::hub
