#include "data/npz.h"

#include <zip.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include "data/file_bytes.h"
#include "data/wording.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::string_view ending = ".npy";
constexpr const char* expected = "an npz file, as numpy.savez or savez_compressed writes it";

void check_content(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw DataError(path.string() + " does not exist");
  if (!std::filesystem::is_regular_file(status)) {
    throw DataError(path.string() + " is not a file; it should be " + expected);
  }
  if (!std::ifstream(path)) throw DataError(path.string() + " cannot be read");
  const std::string content = describe_file(path);
  if (content == "a zip archive" || content == "an empty zip archive") return;
  throw DataError(path.string() + " is " + content + "; it should be " + expected +
                  (content == "a NumPy array" ? ": one file with features and labels" : ""));
}

// A member of an archive, unpacked front to back.
class MemberStream final : public ByteStream {
 public:
  // `file_bytes`: of the archive.
  MemberStream(zip_t* archive, std::uint64_t file_bytes, zip_uint64_t index, std::string name)
      : name_(std::move(name)) {
    zip_stat_t stat;
    if (zip_stat_index(archive, index, 0, &stat) != 0) fail(zip_strerror(archive));
    if (stat.encryption_method != ZIP_EM_NONE) {
      throw DataError(name_ + " is encrypted: unpack the archive and pack it without a password");
    }
    file_ = zip_fopen_index(archive, index, 0);
    if (!file_) fail(zip_strerror(archive));
    left_ = stat.size;
    packed_ = std::min<std::uint64_t>(stat.comp_size, file_bytes);
    stored_ = stat.comp_method == ZIP_CM_STORE;
  }
  ~MemberStream() override { zip_fclose(file_); }
  MemberStream(const MemberStream&) = delete;
  MemberStream& operator=(const MemberStream&) = delete;

  std::size_t read(std::span<std::uint8_t> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const zip_int64_t got = zip_fread(file_, out.data() + filled, out.size() - filled);
      if (got < 0) fail(zip_file_strerror(file_));
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    left_ -= std::min<std::uint64_t>(left_, filled);
    return filled;
  }

  // The archive's own word, which may be a lie: no more than a packed byte can give.
  std::uint64_t at_most() const override {
    constexpr std::uint64_t deflate_limit = 1032, inside_inflate = 1 << 16;
    return std::min(left_, stored_ ? packed_ : packed_ * deflate_limit + inside_inflate);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError(name_ + " is damaged (" + reason + "); get the file again");
  }

  std::string name_;
  zip_file_t* file_ = nullptr;
  std::uint64_t left_ = 0, packed_ = 0;
  bool stored_ = false;
};

}  // namespace

class NpzFile::Archive {
 public:
  explicit Archive(const std::string& path) {
    int code = 0;
    zip_ = zip_open(path.c_str(), ZIP_RDONLY, &code);
    if (zip_) return;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw DataError(path + " begins as a zip archive, but cannot be read (" + reason +
                    "): it is truncated or damaged; get the file again");
  }
  ~Archive() { zip_discard(zip_); }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  std::vector<std::string> members() const {
    std::vector<std::string> names;
    const zip_int64_t count = zip_get_num_entries(zip_, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const char* name = zip_get_name(zip_, static_cast<zip_uint64_t>(i), 0);
      names.emplace_back(name ? name : "");
    }
    return names;
  }
  zip_t* get() const { return zip_; }

 private:
  zip_t* zip_ = nullptr;
};

NpzFile::NpzFile(const std::filesystem::path& path) : path_(path.string()) {
  check_content(path);
  archive_ = std::make_unique<Archive>(path_);
  auto found = keys();
  if (found.empty()) {
    const auto members = archive_->members();
    throw DataError(path_ + " is a zip archive without NumPy arrays (" +
                    (members.empty() ? "it is empty" : "it holds " + some_of(members)) +
                    "); it should be " + expected);
  }
  std::sort(found.begin(), found.end());
  const auto twice = std::adjacent_find(found.begin(), found.end());
  if (twice != found.end()) throw DataError(path_ + " holds the array " + *twice + " twice");
}

NpzFile::~NpzFile() = default;

std::vector<std::string> NpzFile::keys() const {
  std::vector<std::string> keys;
  for (std::string& member : archive_->members()) {
    if (!member.ends_with(ending)) continue;
    keys.push_back(member.substr(0, member.size() - ending.size()));
  }
  return keys;
}

bool NpzFile::has(const std::string& key) const {
  const auto names = keys();
  return std::find(names.begin(), names.end(), key) != names.end();
}

NpyArray NpzFile::read(const std::string& key) const {
  const auto members = archive_->members();
  const auto member = std::find(members.begin(), members.end(), key + std::string(ending));
  if (member == members.end()) {
    throw DataError(path_ + " has no array " + key + "; it has " + some_of(keys()));
  }
  const std::string name = path_ + ": " + key;
  MemberStream stream(archive_->get(), file_bytes(path_),
                      static_cast<zip_uint64_t>(member - members.begin()), name);
  return read_npy(stream, name);
}

}  // namespace fedvg
