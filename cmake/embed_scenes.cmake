# cmake -DOUTPUT=FILE.c -P embed_scenes.cmake -- A.yaml B.yaml ...
#
# Writes the files into one C source, as the entries of tl_builtin_scenes (src/scene/builtin.h). Bytes,
# not string literals: any text survives, and C only promises literals of 4095 characters.

set(files)
set(after_dashes OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND files "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(after_dashes ON)
  endif()
endforeach()

set(texts "")
set(entries "")
set(count 0)
foreach(path IN LISTS files)
  get_filename_component(name "${path}" NAME_WLE)
  if(NOT name MATCHES "^[A-Za-z0-9_.-]+$")
    message(FATAL_ERROR "${path}: a built-in scene is named with letters, digits, '_', '-' and '.'")
  endif()
  file(READ "${path}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(FIND "${bytes}" "0x00," zero)
  if(NOT zero EQUAL -1)
    message(FATAL_ERROR "${path}: a scene is text and cannot hold a zero byte")
  endif()
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
         "\\1\n" bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${count}[] = {\n${bytes}0};\n\n")
  string(APPEND entries "    {\"${name}\", (const char *)text_${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}" "/* Made by cmake/embed_scenes.cmake from scenes/; edit those. */
#include \"scene/builtin.h\"

${texts}const tl_builtin_scene tl_builtin_scenes[] = {
${entries}    {NULL, NULL}};

const size_t tl_builtin_scene_count = ${count};
")
