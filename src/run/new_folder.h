#pragma once

#include <filesystem>
#include <string>

// Folders that commands make for what they write. `option` is what names another one, for
// messages: "--out".

namespace fedvg {

/// Throws RunError when there can be no folder at `path` for a reason that is seen without making
/// it: a file or a link to nowhere is in the way, or a folder above cannot be written to. Where
/// there is a folder already that is fine. Creates nothing.
void check_can_be_made(const std::filesystem::path& path, const std::string& option);

/// The same as a part of a sentence, "cannot be created: not a folder"; empty where there can be
/// one.
std::string reason_against(const std::filesystem::path& path);

/// Makes the folder and those above it, where there are none. Throws RunError.
void make_folder(const std::filesystem::path& path, const std::string& option);

}  // namespace fedvg
