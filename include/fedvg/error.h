#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace fedvg {

/// Root of everything fedvg throws on purpose. The message says what is wrong, where
/// (file:line where there is one) and what to do; the kind decides the exit code.
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, int exit_code)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// Wrong command line or configuration: unknown option, wrong type, out of bounds,
/// parts that cannot go together. Exit code 2. Several mistakes may be reported at
/// once: `problems` has one entry each, and the message joins them by newlines.
class OptionError : public Error {
 public:
  explicit OptionError(const std::string& message) : OptionError(std::vector{message}) {}
  explicit OptionError(std::vector<std::string> problems)
      : Error(join(problems), 2), problems_(std::move(problems)) {}
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  static std::string join(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += (text.empty() ? "" : "\n") + line;
    return text;
  }
  std::vector<std::string> problems_;
};

/// Data that cannot be read or does not fit: missing, truncated, mislabelled. Exit code 3.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(message, 3) {}
};

/// A run that cannot start or go on: output folder, disk, device, memory. Exit code 4.
class RunError : public Error {
 public:
  explicit RunError(const std::string& message) : Error(message, 4) {}
};

/// Stopped by the user (SIGINT, SIGTERM). Exit code 130.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& message) : Error(message, 130) {}
};

}  // namespace fedvg
