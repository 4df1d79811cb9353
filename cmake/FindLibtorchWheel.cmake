# Finds libtorch inside the PyTorch wheel: headers and libraries of one folder.
#
# The wheel's own TorchConfig.cmake is not used:
#   - beside Debian's libtorch-dev it links the system's older libc10, and every
#     program aborts at start;
#   - with a CUDA wheel and no CUDA toolkit it refuses to configure;
#   - it hands its include folder to every target, and that folder carries an
#     fmt which hides the system's and breaks the system's spdlog.
#
# Input:
#   FEDVG_TORCH_DIR  folder with include/ and lib/ (a wheel's torch/, or libtorch);
#                    empty: ask FEDVG_PYTHON where its torch lies
#   FEDVG_PYTHON     a Python; empty: .venv/bin/python, else python3
# Output:
#   LibtorchWheel_FOUND, LibtorchWheel_VERSION, LibtorchWheel_DIR, LibtorchWheel_CUDA
#   libtorch::headers  include folders (SYSTEM) and the ABI's definition, no libraries
#   libtorch::libs     libraries by full path, no include folders

include(FindPackageHandleStandardArgs)

set(FEDVG_TORCH_MINIMUM 2.4)

# Where the Python's torch package lies; does not import it (that takes seconds).
function(_libtorch_ask_python python out)
  execute_process(
    COMMAND "${python}" -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE folder ERROR_VARIABLE ignored RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(folder "")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

# TORCH_VERSION_MAJOR.MINOR.PATCH of the headers in `folder`, empty when absent.
function(_libtorch_version folder out)
  set(version "")
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    set(path "${folder}/include/${header}")
    if(version STREQUAL "" AND EXISTS "${path}")
      file(STRINGS "${path}" lines REGEX "^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
      list(TRANSFORM lines REPLACE ".* ([0-9]+).*" "\\1")
      list(JOIN lines "." version)
    endif()
  endforeach()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# Which std::string the libraries were built with: 1 for the C++11 one.
function(_libtorch_abi libc10 out)
  file(STRINGS "${libc10}" symbols REGEX "__cxx11" LIMIT_COUNT 1)
  set(${out} 0 PARENT_SCOPE)
  if(symbols)
    set(${out} 1 PARENT_SCOPE)
  endif()
endfunction()

if(NOT FEDVG_PYTHON)
  set(FEDVG_PYTHON python3)
  if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../.venv/bin/python")
    get_filename_component(FEDVG_PYTHON "${CMAKE_CURRENT_LIST_DIR}/../.venv/bin/python" ABSOLUTE)
  endif()
endif()

set(LibtorchWheel_DIR "${FEDVG_TORCH_DIR}")
if(NOT LibtorchWheel_DIR)
  _libtorch_ask_python("${FEDVG_PYTHON}" LibtorchWheel_DIR)
endif()

set(_libtorch_advice
    "Run './dev build', which makes .venv with the right one, or 'pip install -r requirements.txt'; \
-DFEDVG_PYTHON=PYTHON names another Python, -DFEDVG_TORCH_DIR=FOLDER a folder with include/ and lib/.")

if(NOT LibtorchWheel_DIR)
  set(_libtorch_reason "${FEDVG_PYTHON} has no torch.")
else()
  _libtorch_version("${LibtorchWheel_DIR}" LibtorchWheel_VERSION)
  set(_libtorch_c10 "${LibtorchWheel_DIR}/lib/libc10.so")
  set(_libtorch_cpu "${LibtorchWheel_DIR}/lib/libtorch_cpu.so")
  if(LibtorchWheel_VERSION STREQUAL "")
    set(_libtorch_reason "${LibtorchWheel_DIR}/include holds no torch/version.h: not a torch folder.")
  elseif(LibtorchWheel_VERSION VERSION_LESS FEDVG_TORCH_MINIMUM)
    set(_libtorch_reason
        "PyTorch ${LibtorchWheel_VERSION} in ${LibtorchWheel_DIR} is older than ${FEDVG_TORCH_MINIMUM}, \
the first that fedvg builds with.")
  elseif(NOT EXISTS "${_libtorch_c10}" OR NOT EXISTS "${_libtorch_cpu}")
    set(_libtorch_reason "${LibtorchWheel_DIR}/lib lacks libc10.so or libtorch_cpu.so.")
  endif()
endif()

if(_libtorch_reason)
  set(LibtorchWheel_FOUND FALSE)
  set(LibtorchWheel_NOT_FOUND_MESSAGE "${_libtorch_reason}\n${_libtorch_advice}")
  if(LibtorchWheel_FIND_REQUIRED)
    message(FATAL_ERROR "${LibtorchWheel_NOT_FOUND_MESSAGE}")
  endif()
  return()
endif()

_libtorch_abi("${_libtorch_c10}" _libtorch_cxx11)
set(LibtorchWheel_CUDA FALSE)
if(EXISTS "${LibtorchWheel_DIR}/lib/libtorch_cuda.so")
  set(LibtorchWheel_CUDA TRUE)
endif()

if(NOT TARGET libtorch::headers)
  add_library(libtorch::headers INTERFACE IMPORTED)
  set_target_properties(libtorch::headers PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=${_libtorch_cxx11}")
  target_include_directories(libtorch::headers SYSTEM INTERFACE
    "${LibtorchWheel_DIR}/include"
    "${LibtorchWheel_DIR}/include/torch/csrc/api/include")
  target_compile_features(libtorch::headers INTERFACE cxx_std_20)

  # By full path: no folder is searched, and CMake gives programs the RPATH. The
  # linker keeps each library even when only its start-up code is wanted
  # (libtorch_cuda registers its kernels there).
  add_library(libtorch::libs INTERFACE IMPORTED)
  set(_libtorch_libs "${_libtorch_cpu}" "${_libtorch_c10}")
  if(LibtorchWheel_CUDA)
    list(APPEND _libtorch_libs "${LibtorchWheel_DIR}/lib/libtorch_cuda.so"
         "${LibtorchWheel_DIR}/lib/libc10_cuda.so")
    # libtorch_cuda finds NVIDIA's libraries beside the wheel by its own RPATH.
    target_link_options(libtorch::libs INTERFACE "LINKER:--allow-shlib-undefined")
  endif()
  target_link_libraries(libtorch::libs INTERFACE ${_libtorch_libs})
  target_link_options(libtorch::libs INTERFACE
    "LINKER:--no-as-needed" "LINKER:-rpath-link,${LibtorchWheel_DIR}/lib")
endif()

set(LibtorchWheel_FOUND TRUE)
find_package_handle_standard_args(LibtorchWheel
  REQUIRED_VARS LibtorchWheel_DIR VERSION_VAR LibtorchWheel_VERSION)
