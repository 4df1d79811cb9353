#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/testing.h"

namespace fedvg::testing {

/// The bytes of numbers in the machine's byte order.
template <class T>
Bytes bytes_of(const std::vector<T>& numbers) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(numbers.data());
  return {first, first + numbers.size() * sizeof(T)};
}

/// A .npy file with this header text, as NumPy pads it to 64 bytes.
Bytes npy_with_header(const std::string& header, const Bytes& values, std::uint8_t version = 1);
/// A .npy file: "<f4", "(2, 3)" and the values as they lie in the file.
Bytes npy_file(const std::string& type, const std::string& shape, const Bytes& values,
               bool column_major = false);

/// Of uint8: images, or labels.
Bytes npy_bytes(const std::string& shape, const Bytes& values);

using NamedBytes = std::vector<std::pair<std::string, Bytes>>;
/// Writes a zip archive of these members, deflated or stored, and returns its path.
std::string write_zip(const TemporaryFolder& folder, const std::string& name,
                      const NamedBytes& members, bool deflated = true);

/// CIFAR records: image i has the label bytes of entry i, and pixel p = (i + p) modulo 251.
Bytes cifar_records(const std::vector<Bytes>& label_bytes);
/// The folder of a small CIFAR-10: batch b (1 to 5) holds labels b - 1 and b, the test batch
/// labels 3, 9 and 0.
void write_cifar10(const TemporaryFolder& folder);

/// A real set in data/ of the folder that FEDVG_SHARED names, else of ../shared beside the
/// checkout; empty where there is none.
std::string shared_data(const std::string& name);

}  // namespace fedvg::testing
