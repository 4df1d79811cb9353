# Writes fedvg/version.h. Configuring again after a commit keeps it true.

find_package(Git QUIET)
set(FEDVG_COMMIT unknown)
if(GIT_FOUND)
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(FEDVG_COMMIT "${commit}")
  endif()
endif()
foreach(watched HEAD logs/HEAD)
  if(EXISTS "${PROJECT_SOURCE_DIR}/.git/${watched}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/.git/${watched}")
  endif()
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.h.in"
               "${PROJECT_BINARY_DIR}/generated/fedvg/version.h" @ONLY)
