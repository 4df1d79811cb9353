# libzip as the target libzip::zip. Debian's own package file for CMake refuses to load
# unless the programs zipcmp, zipmerge and ziptool are installed as well.
find_path(FEDVG_LIBZIP_INCLUDE zip.h REQUIRED)
find_library(FEDVG_LIBZIP_LIBRARY zip REQUIRED)
if(NOT TARGET libzip::zip)
  add_library(libzip::zip UNKNOWN IMPORTED)
  set_target_properties(libzip::zip PROPERTIES
    IMPORTED_LOCATION "${FEDVG_LIBZIP_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${FEDVG_LIBZIP_INCLUDE}")
endif()
