# cmake -DOUTPUT=FILE.cu -DORDER=forward|backward -DINCLUDE_ROOT=src -P write_kernels_cu.cmake
#       -- kernels/a.h kernels/b.h ...
#
# Writes a CUDA source that includes the headers in that order and uses every TL_FN and TL_BIG_FN function they
# define, once in host and once in device code.

set(headers)
set(after_dashes OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND headers "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(after_dashes ON)
  endif()
endforeach()
if(ORDER STREQUAL "backward")
  list(REVERSE headers)
endif()

set(includes "")
set(names)
foreach(header IN LISTS headers)
  string(APPEND includes "#include \"${header}\"\n")
  file(STRINGS "${INCLUDE_ROOT}/${header}" lines REGEX "^TL_(BIG_)?FN[ \t].*\\(")
  foreach(line IN LISTS lines)
    # "TL_FN talus_real tl_dot(talus_vec3 a, ..." -> tl_dot: the word before the first bracket.
    # kernels/ccp_visit.h writes names as VISIT(dot); with a real as the number that is tl_ccp_dot,
    # and of kernels/penalty_visit.h tl_spring_dot.
    # kernels/ellipsoid_lanes.h does the same with ELL(dot), tl_ell_dot, and kernels/triangle_lanes.h
    # with TRI(dot), tl_triangle_dot_d.
    set(prefix tl_ccp_)
    if(header MATCHES "penalty_visit")
      set(prefix tl_spring_)
    endif()
    string(REGEX REPLACE "VISIT\\(([a-z0-9_]+)\\)" "${prefix}\\1" line "${line}")
    string(REGEX REPLACE "ELL\\(([a-z_]+)\\)" "tl_ell_\\1" line "${line}")
    string(REGEX REPLACE "TRI\\(([a-z_]+)\\)" "tl_triangle_\\1_d" line "${line}")
    if(NOT line MATCHES "\\(")
      continue()
    endif()
    string(REGEX REPLACE "\\(.*$" "" line "${line}")
    if(line MATCHES "([A-Za-z_][A-Za-z0-9_]*)[ \t]*$")
      list(APPEND names ${CMAKE_MATCH_1})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES names)

set(uses "")
foreach(name IN LISTS names)
  string(APPEND uses "  *sink++ = reinterpret_cast<unsigned long long>(&${name});\n")
endforeach()

file(WRITE "${OUTPUT}" "// Made by cmake/write_kernels_cu.cmake.
${includes}
__global__ void use_on_device_${ORDER}(unsigned long long *sink) {
${uses}  *sink = 0;
}

void use_on_host_${ORDER}(unsigned long long *sink);
void use_on_host_${ORDER}(unsigned long long *sink) {
${uses}  *sink = 0;
}
")
