# What this machine has: optional libraries and tools, and one table that says what each one gives.
#
# Sets TALUS_HAVE_OPENMP, TALUS_HAVE_YAML, TALUS_HAVE_HDF5 (they go to talus/config.h),
# TALUS_HAVE_NVCC, TALUS_HAVE_PYTEST, and TALUS_LIBRARIES: what the library links (for pkg-config:
# TALUS_PC_REQUIRES, TALUS_PC_LIBS).

option(TALUS_WITH_OPENMP "Use OpenMP where the compiler has it" ON)
option(TALUS_WITH_YAML "Use libyaml where it is installed" ON)
option(TALUS_WITH_HDF5 "Use serial HDF5 where it is installed" ON)
option(TALUS_WITH_CUDA "Compile the kernels as CUDA where nvcc is installed" ON)
set(TALUS_CUDA_ARCH sm_90 CACHE STRING "nvcc -arch")

set(TALUS_FEATURE_ROWS)

# talus_feature(NAME ON|OFF GIVES REMEDY): one row; the remedy is shown when the feature is off.
function(talus_feature name enabled gives remedy)
  if(enabled)
    set(state "on ")
    set(remedy "")
  else()
    set(state "off")
    set(remedy "<- ${remedy}")
  endif()
  string(SUBSTRING "${name}              " 0 14 name)
  string(SUBSTRING "${gives}                                        " 0 40 gives)
  string(STRIP "${name}${state}  ${gives}  ${remedy}" row)
  set(TALUS_FEATURE_ROWS ${TALUS_FEATURE_ROWS} "  ${row}" PARENT_SCOPE)
endfunction()

function(talus_print_features)
  if(TALUS_SINGLE)
    set(precision "single")
  else()
    set(precision "double")
  endif()
  string(JOIN " " details ${TALUS_NAME} ${PROJECT_VERSION} "(${precision} precision,"
         "${CMAKE_BUILD_TYPE}, ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION})")
  message(STATUS "${details}")
  foreach(row IN LISTS TALUS_FEATURE_ROWS)
    message(STATUS "${row}")
  endforeach()
  if(TALUS_FAST)
    message(STATUS "  fast build: results may differ from those of the other builds and machines")
  endif()
endfunction()

# talus_off_reason(OUT OPTION TEXT): TEXT, or that the option turned it off.
function(talus_off_reason out option text)
  if(${option})
    set(${out} "${text}" PARENT_SCOPE)
  else()
    set(${out} "-D${option}=OFF" PARENT_SCOPE)
  endif()
endfunction()

set(TALUS_LIBRARIES m)
set(TALUS_PC_REQUIRES "")
set(TALUS_PC_LIBS "-lm")
set(TALUS_HAVE_OPENMP OFF)
set(TALUS_HAVE_YAML OFF)
set(TALUS_HAVE_HDF5 OFF)
set(TALUS_HAVE_NVCC OFF)
set(TALUS_HAVE_PYTEST OFF)
find_package(PkgConfig QUIET)

# ---- OpenMP --------------------------------------------------------------------------------------

if(TALUS_WITH_OPENMP)
  find_package(OpenMP QUIET COMPONENTS C)
  if(OpenMP_C_FOUND)
    set(TALUS_HAVE_OPENMP ON)
    list(APPEND TALUS_LIBRARIES OpenMP::OpenMP_C)
    string(APPEND TALUS_PC_LIBS " ${OpenMP_C_FLAGS}")
  endif()
endif()
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  set(remedy "libomp-dev of this clang's version, such as libomp-14-dev")
else()
  set(remedy "a compiler with OpenMP, such as gcc")
endif()
talus_off_reason(remedy TALUS_WITH_OPENMP "${remedy}")
talus_feature("OpenMP" ${TALUS_HAVE_OPENMP} "several threads" "${remedy}")

# ---- libyaml -------------------------------------------------------------------------------------

if(TALUS_WITH_YAML)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(TALUS_YAML QUIET IMPORTED_TARGET yaml-0.1)
  endif()
  if(TALUS_YAML_FOUND)
    set(TALUS_HAVE_YAML ON)
    list(APPEND TALUS_LIBRARIES PkgConfig::TALUS_YAML)
    string(APPEND TALUS_PC_REQUIRES " yaml-0.1")
  else()
    find_path(TALUS_YAML_INCLUDE yaml.h)
    find_library(TALUS_YAML_LIBRARY yaml)
    if(TALUS_YAML_INCLUDE AND TALUS_YAML_LIBRARY)
      set(TALUS_HAVE_YAML ON)
      add_library(talus_yaml INTERFACE)
      target_include_directories(talus_yaml SYSTEM INTERFACE ${TALUS_YAML_INCLUDE})
      target_link_libraries(talus_yaml INTERFACE ${TALUS_YAML_LIBRARY})
      list(APPEND TALUS_LIBRARIES talus_yaml)
      string(APPEND TALUS_PC_LIBS " -lyaml")
    endif()
    mark_as_advanced(TALUS_YAML_INCLUDE TALUS_YAML_LIBRARY)
  endif()
endif()
talus_off_reason(remedy TALUS_WITH_YAML "libyaml-dev")
talus_feature("libyaml" ${TALUS_HAVE_YAML} "scene files" "${remedy}")

# ---- HDF5, the serial one ------------------------------------------------------------------------

# Where both are installed, plain `pkg-config hdf5` and FindHDF5 may give the MPI build, which would
# make MPI a dependency of every program that links talus: it is refused.
set(remedy "libhdf5-dev")
if(TALUS_WITH_HDF5)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(TALUS_HDF5 QUIET IMPORTED_TARGET hdf5-serial)
  endif()
  if(TALUS_HDF5_FOUND)
    set(TALUS_HAVE_HDF5 ON)
    list(APPEND TALUS_LIBRARIES PkgConfig::TALUS_HDF5)
    string(APPEND TALUS_PC_REQUIRES " hdf5-serial")
  else()
    set(HDF5_PREFER_PARALLEL OFF)
    find_package(HDF5 QUIET COMPONENTS C)
    if(HDF5_FOUND AND HDF5_IS_PARALLEL)
      set(remedy "libhdf5-dev; only HDF5 for MPI is here")
    elseif(HDF5_FOUND)
      set(TALUS_HAVE_HDF5 ON)
      add_library(talus_hdf5 INTERFACE)
      target_include_directories(talus_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
      target_compile_definitions(talus_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
      target_link_libraries(talus_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
      list(APPEND TALUS_LIBRARIES talus_hdf5)
      string(APPEND TALUS_PC_LIBS " -lhdf5")
    endif()
  endif()
endif()
talus_off_reason(remedy TALUS_WITH_HDF5 "${remedy}")
talus_feature("HDF5" ${TALUS_HAVE_HDF5} "result folders, checkpoints" "${remedy}")

# ---- nvcc ----------------------------------------------------------------------------------------

# Called by custom commands, not as a CMake language: an nvcc that is there but does not work (a host
# compiler too new, no toolkit behind it) then costs one row of the table and not the configuration.
set(remedy "nvcc from NVIDIA's toolkit")
if(TALUS_WITH_CUDA)
  find_program(TALUS_NVCC nvcc
    HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin
    PATHS /usr/local/cuda/bin /opt/cuda/bin /usr/lib/cuda/bin)
  mark_as_advanced(TALUS_NVCC)
  if(TALUS_NVCC AND NOT "${TALUS_NVCC_WORKS}" STREQUAL "${TALUS_NVCC} ${TALUS_CUDA_ARCH}")
    set(probe ${PROJECT_BINARY_DIR}/generated/nvcc_probe)
    file(WRITE ${probe}.cu "#include <cmath>\n__global__ void probe(double *x) { *x = sqrt(*x); }\n")
    execute_process(
      COMMAND ${TALUS_NVCC} -std=c++17 -arch=${TALUS_CUDA_ARCH} -c ${probe}.cu -o ${probe}.o
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(TALUS_NVCC_WORKS "${TALUS_NVCC} ${TALUS_CUDA_ARCH}" CACHE INTERNAL "nvcc seen to work")
    else()
      unset(TALUS_NVCC_WORKS CACHE)
      set(remedy "${TALUS_NVCC} does not compile for ${TALUS_CUDA_ARCH}")
    endif()
  endif()
  if(TALUS_NVCC AND TALUS_NVCC_WORKS)
    set(TALUS_HAVE_NVCC ON)
  endif()
endif()
talus_off_reason(remedy TALUS_WITH_CUDA "${remedy}")
talus_feature("nvcc" ${TALUS_HAVE_NVCC} "kernels compiled as CUDA" "${remedy}")

# ---- tools for tests -----------------------------------------------------------------------------

# talus_python_has(OUT MODULE)
function(talus_python_has out module)
  set(${out} OFF PARENT_SCOPE)
  if(TALUS_PYTHON)
    execute_process(
      COMMAND ${TALUS_PYTHON} -c
              "import importlib.util as u, sys; sys.exit(u.find_spec('${module}') is None)"
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(${out} ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(TALUS_TESTS)
  # The system's Python first: Debian's packages of pytest, VTK and hypothesis are made for it.
  find_program(TALUS_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(TALUS_PYTHON python3)
  mark_as_advanced(TALUS_PYTHON)
  talus_python_has(TALUS_HAVE_PYTEST pytest)
  talus_python_has(have_vtk vtkmodules)
  talus_python_has(have_hypothesis hypothesis)
  talus_feature("pytest" ${TALUS_HAVE_PYTEST} "tests of the command" "python3-pytest")
  talus_feature("VTK" ${have_vtk} "tests of frames in VTK's reader" "python3-vtk9")
  talus_feature("hypothesis" ${have_hypothesis} "tests with generated input" "python3-hypothesis")
endif()

find_program(TALUS_CLANG clang-14)
mark_as_advanced(TALUS_CLANG)
if(TALUS_CLANG)
  set(have_clang ON)
else()
  set(have_clang OFF)
endif()
talus_feature("clang-14" ${have_clang} "preset tsan" "clang-14 libomp-14-dev")
