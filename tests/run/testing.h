#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "run/configuration.h"

namespace fedvg {

/// A folder of one test, empty at first and gone at its end.
class TestFolder {
 public:
  TestFolder() {
    std::string name = ::testing::TempDir() + "fedvg_XXXXXX";
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file, with the folders on the way to it.
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What is thrown, or "nothing thrown".
template <class Exception, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing thrown";
}

/// What the text says, which messages call "a.toml", with settings replaced as by --set.
inline Configuration configuration_with(const std::vector<std::string>& sets,
                                        const std::string& text = "seed = 1\n") {
  std::vector<config::Override> overrides;
  for (const auto& set : sets) overrides.push_back(config::read_override(set));
  return load_configuration_text(text, "a.toml", overrides);
}

}  // namespace fedvg
