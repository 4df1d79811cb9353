#include "data/zip_check.h"

#include <zip.h>

#include <array>
#include <memory>
#include <string>

#include "fedvg/error.h"

namespace fedvg {
namespace {

// Empty: the member is whole. libzip compares checksums when it comes to the end.
std::string fault_of(zip_t* archive, zip_uint64_t index) {
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive, index, 0),
                                                               zip_fclose);
  if (!file) return zip_strerror(archive);
  std::array<char, 1 << 16> bytes{};
  zip_int64_t got = 0;
  do {
    got = zip_fread(file.get(), bytes.data(), bytes.size());
  } while (got > 0);
  return got < 0 ? zip_file_strerror(file.get()) : "";
}

}  // namespace

void check_zip(const std::filesystem::path& path) {
  int code = 0;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(path.c_str(), ZIP_RDONLY, &code),
                                                         zip_discard);
  if (!archive) return;
  const zip_int64_t members = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < members; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const std::string fault = fault_of(archive.get(), index);
    if (fault.empty()) continue;
    const char* name = zip_get_name(archive.get(), index, 0);
    throw DataError(path.string() + " is damaged in " + (name ? name : "a member") + " (" + fault +
                    "); get the file again");
  }
}

}  // namespace fedvg
