#include "data/testing.h"

#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace fedvg::testing {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "fedvg-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name,
                                   std::span<const std::uint8_t> content) const {
  const auto path = path_ / name;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
  return path.string();
}

std::string TemporaryFolder::write(const std::string& name, const std::string& content) const {
  return write(name,
               std::span(reinterpret_cast<const std::uint8_t*>(content.data()), content.size()));
}

Bytes idx_file(const std::vector<std::uint32_t>& extents, const Bytes& values, std::uint8_t type) {
  Bytes bytes = {0, 0, type, static_cast<std::uint8_t>(extents.size())};
  for (const std::uint32_t extent : extents) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes.push_back(static_cast<std::uint8_t>(extent >> shift));
    }
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

Bytes gzip(const Bytes& bytes) {
  z_stream state{};
  if (deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  Bytes packed(deflateBound(&state, bytes.size()) + 64);
  state.next_in = const_cast<Bytef*>(bytes.data());
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = packed.data();
  state.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&state, Z_FINISH);
  packed.resize(state.total_out);
  deflateEnd(&state);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  return bytes;
}

void write_idx_set(const TemporaryFolder& folder, const Bytes& training_labels,
                   const Bytes& test_labels, std::uint32_t height, std::uint32_t width) {
  const auto images = [&](std::size_t count, bool from_above) {
    Bytes pixels;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t value = from_above ? 255 - i % 256 : i % 256;
      pixels.insert(pixels.end(), height * width, static_cast<std::uint8_t>(value));
    }
    return idx_file({static_cast<std::uint32_t>(count), height, width}, pixels);
  };
  const auto labels = [](const Bytes& values) {
    return idx_file({static_cast<std::uint32_t>(values.size())}, values);
  };
  folder.write("train-images-idx3-ubyte", images(training_labels.size(), false));
  folder.write("train-labels-idx1-ubyte", labels(training_labels));
  folder.write("t10k-images-idx3-ubyte", images(test_labels.size(), true));
  folder.write("t10k-labels-idx1-ubyte", labels(test_labels));
}

bool has_fashion_mnist() {
  return std::filesystem::exists("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz");
}

}  // namespace fedvg::testing
