#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace fedvg {

/// log.txt of a run folder: one line a message, with time (UTC) and level. Throws RunError
/// naming the file when it cannot be written.
class LogFile {
 public:
  /// Creates the file, or goes on at the end of the one that is there.
  explicit LogFile(const std::filesystem::path& path);
  ~LogFile();

  void info(const std::string& message);
  void warning(const std::string& message);
  void error(const std::string& message);

 private:
  void write(int level, const std::string& message);

  std::string failure_;  // what a sink threw: spdlog hands it to a handler
  std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace fedvg
