# One GoogleTest program for each folder of tests/, linked with the room of the
# same name (all rooms when there is none): tests/data/**_test.cpp is test_data.
# Python tests, tests/**/*_test.py, run with FEDVG_PYTHON's unittest.
#
# A test finds things by definitions (C++) or environment variables (Python):
#   FEDVG_SOURCE_DIR   the checkout
#   FEDVG_BINARY_DIR   the build folder
#   FEDVG_PROGRAM      the program fedvg
# and Python tests also by
#   FEDVG_TORCH_DIR    the torch that was linked;  FEDVG_CMAKE  the CMake in use
# Labels: the folder's name; "unit" for folders that mirror a room of src/.

find_package(GTest REQUIRED)
include(GoogleTest)

set(FEDVG_PROGRAM "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/fedvg")
set(FEDVG_UNIT_TIMEOUT 120)
set(FEDVG_PROGRAM_TIMEOUT 900)
if(FEDVG_SANITIZE)
  set(FEDVG_UNIT_TIMEOUT 600)
endif()
add_custom_target(unit_tests)
set(FEDVG_TEST_DEFINITIONS
  "FEDVG_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\""
  "FEDVG_BINARY_DIR=\"${PROJECT_BINARY_DIR}\""
  "FEDVG_PROGRAM=\"${FEDVG_PROGRAM}\"")
set(FEDVG_TEST_ENVIRONMENT
  "FEDVG_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "FEDVG_BINARY_DIR=${PROJECT_BINARY_DIR}"
  "FEDVG_PROGRAM=${FEDVG_PROGRAM}"
  ${FEDVG_SANITIZER_ENVIRONMENT})

# Is `folder` of tests/ the mirror of a room that sees torch?
function(_fedvg_sees_torch folder out)
  set(${out} FALSE PARENT_SCOPE)
  if(folder IN_LIST FEDVG_TORCH_ROOMS OR NOT TARGET fedvg::${folder})
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(_fedvg_cpp_tests folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "tests/${folder}/*_test.cpp" "tests/${folder}/*testing.cpp")
  if(NOT sources)
    return()
  endif()
  set(name test_${folder})
  set(labels ${folder})
  set(timeout ${FEDVG_PROGRAM_TIMEOUT})
  add_executable(${name} ${sources})
  if(NOT FEDVG_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)  # they are compiled more often than run
  endif()
  target_link_libraries(${name} PRIVATE fedvg_own_code GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE ${FEDVG_TEST_DEFINITIONS})
  if(TARGET fedvg::${folder})
    target_link_libraries(${name} PRIVATE fedvg::${folder})
  else()
    target_link_libraries(${name} PRIVATE fedvg::engine)
  endif()
  _fedvg_sees_torch(${folder} torch)
  if(torch)
    target_link_libraries(${name} PRIVATE libtorch::headers)
  endif()
  if(TARGET fedvg::${folder} AND NOT folder STREQUAL "apps")
    set(labels "${folder};unit")
    set(timeout ${FEDVG_UNIT_TIMEOUT})
    add_dependencies(unit_tests ${name})
  elseif(TARGET fedvg)
    add_dependencies(${name} fedvg)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    TEST_PREFIX "${folder}." TEST_LIST ${name}_names WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
    PROPERTIES TIMEOUT ${timeout})

  # gtest_discover_tests cannot pass on a property that is a list: a script that
  # ctest reads after the discovery does.
  set(script "${PROJECT_BINARY_DIR}/${name}_properties.cmake")
  file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT
"if(@name@_names)
  set_tests_properties(\${@name@_names} PROPERTIES
    LABELS \"@labels@\" ENVIRONMENT \"@FEDVG_TEST_ENVIRONMENT@\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()

function(_fedvg_python_test file)
  file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${file}")
  string(REGEX REPLACE "^tests/([^/]+)/.*" "\\1" folder "${path}")
  get_filename_component(beside "${file}" DIRECTORY)
  add_test(NAME "${path}" COMMAND "${FEDVG_PYTHON}" -m unittest "${path}"
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties("${path}" PROPERTIES
    LABELS "${folder};python" TIMEOUT ${FEDVG_PROGRAM_TIMEOUT}
    FAIL_REGULAR_EXPRESSION "Ran 0 tests"
    ENVIRONMENT "${FEDVG_TEST_ENVIRONMENT};FEDVG_TORCH_DIR=${LibtorchWheel_DIR};FEDVG_CMAKE=${CMAKE_COMMAND};PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests:${beside}")
endfunction()

file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true
  RELATIVE "${PROJECT_SOURCE_DIR}/tests" "tests/*")
foreach(folder IN LISTS folders)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/tests/${folder}")
    _fedvg_cpp_tests(${folder})
  endif()
endforeach()

file(GLOB_RECURSE files CONFIGURE_DEPENDS "tests/*_test.py")
foreach(file IN LISTS files)
  _fedvg_python_test("${file}")
endforeach()
