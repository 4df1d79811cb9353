# src/kernels/instances: one source chain, an instance for each instruction set, and only these
# files are compiled for more than the baseline processor.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(loops -O3 -ffp-contract=fast -fno-math-errno)
  set_source_files_properties(src/kernels/instances/avx2.cpp PROPERTIES
    COMPILE_OPTIONS "${loops};-mavx2;-mfma")
  set_source_files_properties(src/kernels/instances/avx512.cpp PROPERTIES
    COMPILE_OPTIONS
    "${loops};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512")
endif()
