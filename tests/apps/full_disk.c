// A disk that is full, for a program that is started with this library before all others
// (LD_PRELOAD): writes to files below FULL_DISK fail with ENOSPC from the FULL_DISK_AFTER-th
// call on, whatever call it is. The number of calls is left in the file FULL_DISK_COUNT.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long calls = 0;

static int lies_on_the_disk(int descriptor) {
  const char* disk = getenv("FULL_DISK");
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (!disk || length < 0) return 0;
  path[length] = 0;
  return strncmp(path, disk, strlen(disk)) == 0;
}

static int is_full(int descriptor) {
  if (!lies_on_the_disk(descriptor)) return 0;
  const char* after = getenv("FULL_DISK_AFTER");
  const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (!after || number < atol(after)) return 0;
  errno = ENOSPC;
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void* bytes, size_t count) {
  return is_full(descriptor) ? -1 : REAL(write)(descriptor, bytes, count);
}
ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  return is_full(descriptor) ? -1 : REAL(pwrite)(descriptor, bytes, count, offset);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  return is_full(descriptor) ? -1 : REAL(pwrite64)(descriptor, bytes, count, offset);
}
ssize_t writev(int descriptor, const struct iovec* pieces, int count) {
  return is_full(descriptor) ? -1 : REAL(writev)(descriptor, pieces, count);
}
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t count,
                        unsigned flags) {
  return is_full(to) ? -1
                     : REAL(copy_file_range)(from, from_offset, to, to_offset, count, flags);
}
int fsync(int descriptor) { return is_full(descriptor) ? -1 : REAL(fsync)(descriptor); }
int fdatasync(int descriptor) { return is_full(descriptor) ? -1 : REAL(fdatasync)(descriptor); }
int mkdir(const char* path, mode_t mode) {
  const char* disk = getenv("FULL_DISK");
  const char* after = getenv("FULL_DISK_AFTER");
  char whole[PATH_MAX];
  if (path[0] != '/' && getcwd(whole, sizeof whole)) {
    strncat(whole, "/", sizeof whole - strlen(whole) - 1);
    strncat(whole, path, sizeof whole - strlen(whole) - 1);
  } else {
    snprintf(whole, sizeof whole, "%s", path);
  }
  if (disk && strncmp(whole, disk, strlen(disk)) == 0 &&
      __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) >= (after ? atol(after) : LONG_MAX)) {
    errno = ENOSPC;
    return -1;
  }
  return REAL(mkdir)(path, mode);
}

__attribute__((destructor)) static void leave_the_count(void) {
  const char* path = getenv("FULL_DISK_COUNT");
  FILE* file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}
