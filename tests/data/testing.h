#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fedvg/dataset.h"
#include "fedvg/error.h"

namespace fedvg::testing {

using Bytes = std::vector<std::uint8_t>;

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, std::span<const std::uint8_t> content) const;
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

/// An IDX file of type `type`: header with these extents, then the values.
Bytes idx_file(const std::vector<std::uint32_t>& extents, const Bytes& values,
               std::uint8_t type = 8);
Bytes gzip(const Bytes& bytes);
/// 0, 1, 2, … modulo 251.
Bytes counting(std::size_t size);

/// Writes the four files of a set into `folder`. Image i of the training part is height x
/// width pixels of value i (modulo 256), image i of the test part of value 255 - i.
void write_idx_set(const TemporaryFolder& folder, const Bytes& training_labels,
                   const Bytes& test_labels, std::uint32_t height = 2, std::uint32_t width = 2);

/// Real Fashion-MNIST as Debian's package dataset-fashion-mnist ships it?
bool has_fashion_mnist();

/// What `action` says when it throws Expected; a failed test when it does not.
template <class Expected, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace fedvg::testing
