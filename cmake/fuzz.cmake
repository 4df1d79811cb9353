# bin/fuzz/TARGET for each tests/fuzz/TARGET_test.cpp, with clang's libFuzzer, and for
# tests/run/configuration_fuzz_test.cpp, which needs every part: the preset "fuzz", ./dev fuzz.

if(NOT FEDVG_SANITIZE MATCHES "fuzzer")
  return()
endif()

add_custom_target(fuzzers)

# _fedvg_fuzzer(NAME LIBRARY source...)
function(_fedvg_fuzzer name library)
  add_executable(fuzz_${name} ${ARGN})
  target_link_libraries(fuzz_${name} PRIVATE fedvg_own_code ${library})
  target_include_directories(fuzz_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(fuzz_${name} PRIVATE FEDVG_FUZZER)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/fuzz")
  add_dependencies(fuzzers fuzz_${name})
endfunction()

file(GLOB sources CONFIGURE_DEPENDS tests/fuzz/*_test.cpp)
foreach(source IN LISTS sources)
  get_filename_component(name "${source}" NAME_WE)
  string(REGEX REPLACE "_test$" "" name "${name}")
  _fedvg_fuzzer(${name} fedvg::fuzz "${source}")
endforeach()
_fedvg_fuzzer(configuration fedvg::engine
  tests/run/configuration_fuzz_test.cpp src/run/configuration.cpp)
