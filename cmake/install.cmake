# `cmake --install build/release --prefix FOLDER`: the program, and with
# FEDVG_SHARED the library for programs of others, which may register own parts:
#
#   find_package(fedvg REQUIRED)
#   target_link_libraries(mine PRIVATE fedvg::fedvg)

include(CMakePackageConfigHelpers)

if(TARGET fedvg)
  set_target_properties(fedvg PROPERTIES
    INSTALL_RPATH "${LibtorchWheel_DIR}/lib" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS fedvg RUNTIME)
  install(FILES apps/fedvg/completion.bash RENAME fedvg
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endif()

if(NOT FEDVG_SHARED OR NOT FEDVG_ROOMS)
  return()
endif()

# All rooms but the command line and its measurements.
set(objects "")
foreach(room IN LISTS FEDVG_ROOMS)
  if(room AND NOT room MATCHES "^(apps|bench|stock)$")
    list(APPEND objects $<TARGET_OBJECTS:fedvg_${room}>)
  endif()
endforeach()
add_library(fedvg_shared SHARED ${objects})
target_link_libraries(fedvg_shared PRIVATE ZLIB::ZLIB PNG::PNG JPEG::JPEG libzip::zip
                      Threads::Threads spdlog::spdlog fmt::fmt
                      libtorch::libs)
set_target_properties(fedvg_shared PROPERTIES
  OUTPUT_NAME fedvg EXPORT_NAME libfedvg LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "${LibtorchWheel_DIR}/lib" BUILD_WITH_INSTALL_RPATH ON)
target_compile_features(fedvg_shared INTERFACE cxx_std_20)
target_include_directories(fedvg_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/fedvg")
install(TARGETS fedvg_shared EXPORT fedvg LIBRARY)
install(EXPORT fedvg NAMESPACE fedvg:: FILE fedvgTargets.cmake DESTINATION "${package}")
install(DIRECTORY include/fedvg TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/generated/fedvg/version.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/fedvg")
configure_package_config_file(cmake/fedvgConfig.cmake.in "${PROJECT_BINARY_DIR}/fedvgConfig.cmake"
  INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fedvgConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fedvgConfig.cmake"
  "${PROJECT_BINARY_DIR}/fedvgConfigVersion.cmake" cmake/FindLibtorchWheel.cmake
  DESTINATION "${package}")
