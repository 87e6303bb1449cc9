# TALUS_CUDA_OBJECT: src/backend/cuda/cuda.cu by nvcc, joined with CUDA's static runtime into one
# object that shows the few calls of backend/device.h and nothing else. It needs no driver to start.

get_filename_component(cuda_bin ${TALUS_NVCC} REALPATH)
get_filename_component(cuda_bin ${cuda_bin} DIRECTORY)
find_library(TALUS_CUDART libcudart_static.a
  HINTS ${cuda_bin}/.. PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib)
mark_as_advanced(TALUS_CUDART)
if(NOT TALUS_CUDART OR NOT CMAKE_OBJCOPY)
  message(STATUS "backend cuda: off, libcudart_static.a or objcopy was not found beside nvcc")
  return()
endif()

list(APPEND TALUS_LIBRARIES stdc++) # of CUB's headers
string(APPEND TALUS_PC_LIBS " -lstdc++")

set(cuda_archs)
foreach(arch IN LISTS TALUS_CUDA_ARCH)
  string(REPLACE "sm_" "compute_" virtual ${arch})
  list(APPEND cuda_archs -gencode arch=${virtual},code=${arch})
endforeach()

set(cuda_source ${PROJECT_SOURCE_DIR}/src/backend/cuda/cuda.cu)
set(cuda_folder ${PROJECT_BINARY_DIR}/generated)
file(GLOB cuda_headers CONFIGURE_DEPENDS src/backend/*.h src/backend/thread/*.h src/kernels/*.h
     src/base/*.h src/crowd/shape_row.h src/narrow/posed*.h src/narrow/clump_parts.h include/talus/*.h)
set(TALUS_CUDA_OBJECT ${cuda_folder}/backend_cuda.o)
string(REPLACE ";" " " cuda_names "${TALUS_CUDA_ARCH}")
set(cuda_werror)
if(TALUS_WERROR)
  set(cuda_werror -Werror all-warnings)
endif()
add_custom_command(
  OUTPUT ${TALUS_CUDA_OBJECT}
  COMMAND ${TALUS_NVCC} -std=c++17 -O3 ${cuda_archs} -fmad=false ${cuda_werror}
          "-DTALUS_CUDA_ARCH=\"${cuda_names}\""
          -DCCCL_DISABLE_NVTX
          -Xcompiler=-fPIC,-ffp-contract=off,-fvisibility=hidden,-fno-exceptions,-fno-gnu-unique
          -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include -I${TALUS_BINARY_INCLUDE}
          -c ${cuda_source} -o ${cuda_folder}/backend_cuda_alone.o
  COMMAND ${CMAKE_LINKER} -r ${cuda_folder}/backend_cuda_alone.o ${TALUS_CUDART}
          -o ${cuda_folder}/backend_cuda_joined.o
  COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=tl_device_open_cuda
          --keep-global-symbol=tl_device_has_cuda --keep-global-symbol=tl_device_describe_cuda
          ${cuda_folder}/backend_cuda_joined.o ${TALUS_CUDA_OBJECT}
  DEPENDS ${cuda_source} ${cuda_headers} ${TALUS_BINARY_INCLUDE}/talus/config.h
  COMMENT "Compiling the device of CUDA for ${cuda_names}"
  VERBATIM)
set_source_files_properties(${TALUS_CUDA_OBJECT} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_custom_target(backend_cuda DEPENDS ${TALUS_CUDA_OBJECT}) # once, for both libraries
