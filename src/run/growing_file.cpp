#include "run/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

#include "data/write_all.h"
#include "fedvg/error.h"

namespace fedvg {

void FileBegin::add(std::string_view bytes) {
  ContentHash all(hash);
  for (const char byte : bytes) all.add(static_cast<std::uint8_t>(byte));
  hash = all.state();
  size += std::ssize(bytes);
}

FileBegin begin_of(const std::filesystem::path& path, std::int64_t size) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError(path.string() + ": cannot be read");
  FileBegin begin;
  std::array<char, 1 << 16> piece{};
  while (begin.size < size && in) {
    in.read(piece.data(), std::min<std::streamsize>(std::ssize(piece), size - begin.size));
    begin.add({piece.data(), static_cast<std::size_t>(in.gcount())});
  }
  if (in.bad()) throw DataError(path.string() + ": cannot be read");
  return begin;
}

GrowingFile::GrowingFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) cannot_write(path_, errno);
}

GrowingFile::GrowingFile(const std::filesystem::path& path, const FileBegin& begin)
    : path_(path), content_(begin) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) cannot_write(path_, errno);
  struct stat there = {};
  if (::fstat(descriptor_, &there) == 0 && there.st_size < begin.size) {
    ::close(descriptor_);
    throw RunError(path.string() + ": shorter than the checkpoint says: lines are missing");
  }
  if (::ftruncate(descriptor_, begin.size) == 0) return;
  const int error = errno;
  ::close(descriptor_);
  cannot_write(path_, error);
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::append(std::string_view piece) {
  if (const int error = write_all(descriptor_, std::as_bytes(std::span(piece)))) {
    cut_to(content_);
    cannot_write(path_, error);
  }
  content_.add(piece);
}

void GrowingFile::cut_to(const FileBegin& before) noexcept {
  if (::ftruncate(descriptor_, before.size) == 0) content_ = before;
}

void GrowingFile::sync() {
  if (::fsync(descriptor_) != 0) cannot_write(path_, errno);
}

}  // namespace fedvg
