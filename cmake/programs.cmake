# Everything with a main(): the program, the conformance driver, micro-benchmarks.

add_library(fedvg_all INTERFACE)
add_library(fedvg::fedvg ALIAS fedvg_all)
target_link_libraries(fedvg_all INTERFACE fedvg::report)

# fedvg_program(NAME [TORCH] SOURCES file... LIBRARIES target...)
function(fedvg_program name)
  cmake_parse_arguments(PROGRAM "TORCH" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE fedvg_own_code ${PROGRAM_LIBRARIES})
  if(PROGRAM_TORCH)
    target_link_libraries(${name} PRIVATE libtorch::headers)
  endif()
endfunction()

if(EXISTS "${PROJECT_SOURCE_DIR}/apps/fedvg/main.cpp")
  fedvg_program(fedvg SOURCES apps/fedvg/main.cpp LIBRARIES fedvg::apps)
endif()

file(GLOB sources CONFIGURE_DEPENDS apps/conformance/*.cpp)
if(sources)
  fedvg_program(fedvg-conformance TORCH SOURCES ${sources} LIBRARIES fedvg::engine)
endif()

# Micro-benchmarks of single operations, where Google Benchmark is there: ./dev micro
find_package(benchmark QUIET)
file(GLOB sources CONFIGURE_DEPENDS bench/micro/*.cpp)
if(benchmark_FOUND AND sources)
  fedvg_program(fedvg-micro TORCH SOURCES ${sources} 
    LIBRARIES fedvg::run fedvg_bench_headers benchmark::benchmark)
  set_target_properties(fedvg-micro PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

# What scoring.budget saves and costs, and scores in float32 and bf16: bench/NAME/run.sh
foreach(name IN ITEMS budget precision)
  if(EXISTS "${PROJECT_SOURCE_DIR}/bench/${name}/main.cpp")
    fedvg_program(fedvg-${name} SOURCES bench/${name}/main.cpp
      LIBRARIES fedvg::run fedvg_bench_headers)
    set_target_properties(fedvg-${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endforeach()
