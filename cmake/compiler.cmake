# Compiler settings of our own code: language, warnings, sanitizers, ccache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the rooms' objects also make the shared library
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)

# Optimised for any processor of the architecture: never -march=native, the
# program may be copied to another machine; kernels choose their instruction set
# when the program runs. Never -ffast-math: results must repeat bitwise.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "Flags of the Release build" FORCE)
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g" CACHE STRING "Flags of the Debug build" FORCE)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

# ccache sees paths relative to the checkout, so that clones share its entries.
find_program(FEDVG_CCACHE ccache)
if(FEDVG_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${FEDVG_CCACHE}")
endif()

# Linked into every target of ours, never installed.
add_library(fedvg_own_code INTERFACE)
# Designated initializers leave out what has a sensible default: that is their use.
target_compile_options(fedvg_own_code INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  -Wno-missing-field-initializers)
# GCC 12 sees overlapping copies inside "text" + std::string (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(fedvg_own_code INTERFACE -Wno-restrict)
endif()
if(FEDVG_WERROR)
  target_compile_options(fedvg_own_code INTERFACE -Werror)
endif()
target_include_directories(fedvg_own_code INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")

# __FILE__ as in the checkout ("src/..."), whether or not ccache made it relative.
foreach(prefix "${PROJECT_SOURCE_DIR}/" "../../")
  add_compile_options("-fmacro-prefix-map=${prefix}=")
endforeach()

# FEDVG_SANITIZE: a list for -fsanitize, e.g. "address,undefined" or "thread".
# Every finding fails the test; libtorch itself is not instrumented.
set(FEDVG_SANITIZER_ENVIRONMENT "")
if(FEDVG_SANITIZE)
  add_compile_options("-fsanitize=${FEDVG_SANITIZE}" -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${FEDVG_SANITIZE}")
endif()
if(FEDVG_SANITIZE MATCHES "undefined")
  # No vptr check: libtorch exports too little type information for it.
  add_compile_options(-fno-sanitize-recover=all -fno-sanitize=vptr)
  add_link_options(-fno-sanitize=vptr)
  list(APPEND FEDVG_SANITIZER_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
endif()
if(FEDVG_SANITIZE MATCHES "address" AND NOT FEDVG_SANITIZE MATCHES "fuzzer")
  # Unoptimised: with its checks, a file takes twice as long to compile at -O1.
  add_compile_options(-O0 -g1)
  list(APPEND FEDVG_SANITIZER_ENVIRONMENT
    "ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1")
endif()
if(FEDVG_SANITIZE MATCHES "thread")
  list(APPEND FEDVG_SANITIZER_ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp:ignore_noninstrumented_modules=1:history_size=4")
endif()
