#include "data/arrays_testing.h"

#include <zip.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace fedvg::testing {

Bytes npy_with_header(const std::string& header, const Bytes& values, std::uint8_t version) {
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
  const std::size_t size_bytes = version == 1 ? 2 : 4;
  std::string padded = header;
  while ((bytes.size() + size_bytes + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(padded.size() >> (8 * i)));
  }
  bytes.insert(bytes.end(), padded.begin(), padded.end());
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

Bytes npy_file(const std::string& type, const std::string& shape, const Bytes& values,
               bool column_major) {
  return npy_with_header("{'descr': '" + type + "', 'fortran_order': " +
                             (column_major ? "True" : "False") + ", 'shape': " + shape + ", }",
                         values);
}

Bytes npy_bytes(const std::string& shape, const Bytes& values) {
  return npy_file("|u1", shape, values);
}

std::string write_zip(const TemporaryFolder& folder, const std::string& name,
                      const NamedBytes& members, bool deflated) {
  const std::string path = (folder.path() / name).string();
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive) throw std::runtime_error("zip_open");
  for (const auto& [member, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, member.c_str(), source, 0);
    if (index < 0 || zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                              deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0) {
      throw std::runtime_error("zip_file_add");
    }
  }
  if (zip_close(archive) != 0) throw std::runtime_error("zip_close");
  return path;
}

Bytes cifar_records(const std::vector<Bytes>& label_bytes) {
  Bytes bytes;
  for (std::size_t i = 0; i < label_bytes.size(); ++i) {
    bytes.insert(bytes.end(), label_bytes[i].begin(), label_bytes[i].end());
    for (std::size_t p = 0; p < 3072; ++p) {
      bytes.push_back(static_cast<std::uint8_t>((i + p) % 251));
    }
  }
  return bytes;
}

void write_cifar10(const TemporaryFolder& folder) {
  for (std::uint8_t batch = 1; batch <= 5; ++batch) {
    const auto before = static_cast<std::uint8_t>(batch - 1);
    folder.write("data_batch_" + std::to_string(batch) + ".bin",
                 cifar_records({{before}, {batch}}));
  }
  folder.write("test_batch.bin", cifar_records({{3}, {9}, {0}}));
}

std::string shared_data(const std::string& name) {
  const char* shared = std::getenv("FEDVG_SHARED");
  const auto path =
      std::filesystem::path(shared ? shared : FEDVG_SOURCE_DIR "/../shared") / "data" / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace fedvg::testing
