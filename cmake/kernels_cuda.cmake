# Target kernels_cuda: every header in src/kernels compiled by nvcc as host and as device code, which
# keeps the mathematics in the common subset of C17 and CUDA C++17.
#
# Two sources include all headers, in opposite orders, so that a header leaning on another that
# happens to come first is noticed; a kernel takes the address of each function, because nvcc drops
# unused ones before it generates code for them.
#
# Nothing runs this code, so it is not optimised and stays PTX: assembling it for a chip took nine tenths
# of the time and finds nothing in the language. The second order leaves out host code, too, and is left to
# the build in double precision: an order has none.

file(GLOB TALUS_KERNEL_HEADERS CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
     src/kernels/*.h)
if(NOT TALUS_KERNEL_HEADERS)
  return()
endif()
list(SORT TALUS_KERNEL_HEADERS)
list(TRANSFORM TALUS_KERNEL_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE kernel_paths)
file(GLOB kernel_base_headers CONFIGURE_DEPENDS src/base/*.h include/talus/*.h)

list(GET TALUS_CUDA_ARCH 0 kernel_arch)
string(REPLACE "sm_" "compute_" kernel_arch ${kernel_arch})
set(kernel_flags
  -std=c++17 -gencode arch=${kernel_arch},code=${kernel_arch} -fmad=false -Xcicc -O0
  -Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off
  -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include -I${TALUS_BINARY_INCLUDE})

set(kernel_orders forward)
if(NOT TALUS_SINGLE)
  list(APPEND kernel_orders backward)
endif()
set(as_forward -c)
set(as_backward -ptx)

set(kernel_objects)
foreach(order IN LISTS kernel_orders)
  set(source ${PROJECT_BINARY_DIR}/generated/kernels_${order}.cu)
  set(object ${PROJECT_BINARY_DIR}/generated/kernels_${order}.o)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${source} -DORDER=${order}
            -DINCLUDE_ROOT=${PROJECT_SOURCE_DIR}/src
            -P ${PROJECT_SOURCE_DIR}/cmake/write_kernels_cu.cmake -- ${TALUS_KERNEL_HEADERS}
    DEPENDS ${kernel_paths} ${PROJECT_SOURCE_DIR}/cmake/write_kernels_cu.cmake
    COMMENT "Listing the kernels (${order})"
    VERBATIM)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${TALUS_NVCC} ${kernel_flags} ${as_${order}} ${source} -o ${object}
    DEPENDS ${source} ${kernel_paths} ${kernel_base_headers} ${TALUS_BINARY_INCLUDE}/talus/config.h
    COMMENT "Compiling the kernels as CUDA (${order})"
    VERBATIM)
  list(APPEND kernel_objects ${object})
endforeach()
add_custom_target(kernels_cuda DEPENDS ${kernel_objects})
