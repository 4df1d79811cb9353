#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fedvg/value.h"

namespace fedvg::config {

/// Collects the mistakes of a configuration, so that they are reported all together.
class Problems {
 public:
  /// `where` is the dotted key of the setting, or empty. Becomes
  /// "a.toml:7: train.lr: must be > 0, got -1"; a default has no source and no prefix.
  void add(const Source& source, std::string_view where, std::string_view message);
  /// Adds those of another collection.
  void add(const Problems& others);

  bool empty() const { return entries_.empty() && dropped_ == 0; }
  /// True when no further message will be shown: worth no effort to find more.
  bool full() const { return entries_.size() >= kMost; }
  /// By file and line, then those of the command line, then the rest; each once.
  std::vector<std::string> messages() const;

  /// Throws OptionError with all messages when there are any.
  void throw_if_any() const;

 private:
  static constexpr std::size_t kMost = 100;
  struct Entry {
    Source source;
    std::string text;
  };
  std::vector<Entry> entries_;
  std::size_t dropped_ = 0;  // beyond kMost
};

}  // namespace fedvg::config
