# What is installed, and where: cmake --install, `make install`, and the Debian packages.
#
# Three components, which are the three packages: `command`, `library` (the shared one) and
# `development`. A build with sanitizers is for testing and installs nothing.
if(TALUS_SANITIZE)
  return()
endif()
include(CMakePackageConfigHelpers)

# The single library has a config.h of its own, so its headers go into a folder of their own.
set(TALUS_INSTALL_LIB ${CMAKE_INSTALL_LIBDIR})
set(TALUS_INSTALL_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
if(TALUS_SINGLE)
  string(APPEND TALUS_INSTALL_INCLUDE /talus-single)
endif()
set(TALUS_INSTALL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/${TALUS_NAME})
set(TALUS_INSTALL_PC ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(TALUS_INSTALL_MAN ${CMAKE_INSTALL_MANDIR}/man1)
set(TALUS_INSTALL_DOC ${CMAKE_INSTALL_DATADIR}/doc/talus)
set(TALUS_INSTALL_BASH ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(TALUS_INSTALL_ZSH ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# ---- what uninstalling needs to know -------------------------------------------------------------

# One record per prefix, in the build: which folders were made, which files put. (CMake's own
# install_manifest.txt knows no folders, and forgets one prefix at the next.)
set(TALUS_RECORDS ${PROJECT_BINARY_DIR}/installed)
set(folders ${TALUS_INSTALL_LIB} ${TALUS_INSTALL_INCLUDE}/talus ${TALUS_INSTALL_CMAKE} ${TALUS_INSTALL_PC}
    ${CMAKE_INSTALL_BINDIR} ${TALUS_INSTALL_MAN} ${TALUS_INSTALL_DOC}/examples ${TALUS_INSTALL_DOC}/scenes
    ${TALUS_INSTALL_DOC}/howto ${TALUS_INSTALL_DOC}/theory
    ${TALUS_INSTALL_BASH} ${TALUS_INSTALL_ZSH})
install(CODE "set(TALUS_RECORDS \"${TALUS_RECORDS}\")
set(TALUS_FOLDERS \"${folders}\")
set(TALUS_WHEN before)
include(\"${CMAKE_CURRENT_LIST_DIR}/record_install.cmake\")" COMPONENT record)

# ---- the libraries -------------------------------------------------------------------------------

if(TALUS_SHARED)
  install(TARGETS talus EXPORT talus_export
    LIBRARY DESTINATION ${TALUS_INSTALL_LIB}
      COMPONENT library NAMELINK_COMPONENT development
    INCLUDES DESTINATION ${TALUS_INSTALL_INCLUDE})
  install(EXPORT talus_export FILE ${TALUS_NAME}-targets.cmake NAMESPACE ${TALUS_NAME}::
    DESTINATION ${TALUS_INSTALL_CMAKE} COMPONENT development)
endif()

# The static library shows talus_* only, as the shared one does: its objects are linked into one,
# and all other names in it made local.
set(archive ${PROJECT_BINARY_DIR}/install/lib${TALUS_NAME}.a)
set(object ${PROJECT_BINARY_DIR}/install/${TALUS_NAME}.o)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/install)
add_custom_command(
  OUTPUT ${archive}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object} $<TARGET_OBJECTS:talus_objects>
          ${TALUS_CUDA_OBJECT}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=talus_* ${object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${CMAKE_AR} qcs ${archive} ${object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${object}
  DEPENDS talus_objects $<TARGET_OBJECTS:talus_objects> ${TALUS_CUDA_OBJECT}
  COMMENT "Making the static library to install"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(talus_install_archive ALL DEPENDS ${archive})
install(FILES ${archive} DESTINATION ${TALUS_INSTALL_LIB} COMPONENT development)

install(FILES ${TALUS_PUBLIC_HEADERS} ${TALUS_BINARY_INCLUDE}/talus/config.h
        DESTINATION ${TALUS_INSTALL_INCLUDE}/talus COMPONENT development)

# ---- how programs find them ----------------------------------------------------------------------

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/talus-config.cmake.in
  ${PROJECT_BINARY_DIR}/install/${TALUS_NAME}-config.cmake
  INSTALL_DESTINATION ${TALUS_INSTALL_CMAKE} PATH_VARS TALUS_INSTALL_LIB TALUS_INSTALL_INCLUDE)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/${TALUS_NAME}-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/${TALUS_NAME}-config.cmake
              ${PROJECT_BINARY_DIR}/install/${TALUS_NAME}-config-version.cmake
        DESTINATION ${TALUS_INSTALL_CMAKE} COMPONENT development)

# Relative to where the file is found, so that an installed tree can be moved.
if(IS_ABSOLUTE ${TALUS_INSTALL_LIB} OR IS_ABSOLUTE ${TALUS_INSTALL_INCLUDE})
  set(TALUS_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(TALUS_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  get_filename_component(TALUS_PC_INCLUDEDIR ${TALUS_INSTALL_INCLUDE} ABSOLUTE
                         BASE_DIR ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /prefix/${TALUS_INSTALL_PC} /prefix)
  string(REGEX REPLACE "/$" "" up ${up})
  set(TALUS_PC_PREFIX "\${pcfiledir}/${up}")
  set(TALUS_PC_LIBDIR "\${prefix}/${TALUS_INSTALL_LIB}")
  set(TALUS_PC_INCLUDEDIR "\${prefix}/${TALUS_INSTALL_INCLUDE}")
endif()
set(pc_files)
if(TALUS_SHARED)
  list(APPEND pc_files talus)
endif()
list(APPEND pc_files talus-static)
foreach(pc IN LISTS pc_files)
  string(REGEX REPLACE "^talus" "${TALUS_NAME}" installed ${pc})
  set(installed ${PROJECT_BINARY_DIR}/install/${installed}.pc)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${pc}.pc.in ${installed} @ONLY)
  install(FILES ${installed} DESTINATION ${TALUS_INSTALL_PC} COMPONENT development)
endforeach()

# ---- the command, its man pages and completions --------------------------------------------------

if(TARGET talus_command)
  install(TARGETS talus_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  find_program(TALUS_AWK awk)
  mark_as_advanced(TALUS_AWK)
  if(TALUS_AWK AND NOT CMAKE_CROSSCOMPILING)
    # They are made from what the command says of itself, so it has to run here.
    set(help ${PROJECT_BINARY_DIR}/help)
    set(stamp ${PROJECT_BINARY_DIR}/help/help.txt)
    add_custom_command(
      OUTPUT ${stamp}
      COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/write_help_files.sh
              $<TARGET_FILE:talus_command> ${TALUS_NAME} ${PROJECT_VERSION} ${help}
      DEPENDS talus_command
              ${CMAKE_CURRENT_LIST_DIR}/write_help_files.sh
              ${CMAKE_CURRENT_LIST_DIR}/help_to_man.awk
              ${CMAKE_CURRENT_LIST_DIR}/help_to_completion.awk
      COMMENT "Writing man pages and completions"
      VERBATIM)
    add_custom_target(talus_help_files ALL DEPENDS ${stamp})
    install(DIRECTORY ${help}/man/ DESTINATION ${TALUS_INSTALL_MAN} COMPONENT command)
    if(NOT TALUS_SINGLE)
      install(FILES ${help}/completion/talus DESTINATION ${TALUS_INSTALL_BASH} COMPONENT command)
      install(FILES ${help}/completion/_talus DESTINATION ${TALUS_INSTALL_ZSH} COMPONENT command)
    endif()
  else()
    message(STATUS "no man pages and completions: they need awk, and a command that runs here")
  endif()
endif()

# ---- documents; the single library has the same --------------------------------------------------

if(NOT TALUS_SINGLE)
  install(FILES ${TALUS_EXAMPLE_SOURCES} DESTINATION ${TALUS_INSTALL_DOC}/examples
          COMPONENT development)
  file(GLOB documents CONFIGURE_DEPENDS README.md docs/*.md)
  install(FILES ${documents} LICENSE DESTINATION ${TALUS_INSTALL_DOC} COMPONENT command)
  foreach(part IN ITEMS howto theory)
    file(GLOB pages CONFIGURE_DEPENDS docs/${part}/*.md)
    install(FILES ${pages} DESTINATION ${TALUS_INSTALL_DOC}/${part} COMPONENT command)
  endforeach()
  file(GLOB scenes CONFIGURE_DEPENDS scenes/*.yaml)
  install(FILES ${scenes} DESTINATION ${TALUS_INSTALL_DOC}/scenes COMPONENT command)
endif()

# All that is installed and nothing else: `make install` need not wait for the tests to be built.
add_custom_target(talus_installed DEPENDS talus_install_archive)
foreach(target IN ITEMS talus talus_command talus_help_files)
  if(TARGET ${target})
    add_dependencies(talus_installed ${target})
  endif()
endforeach()

install(CODE "set(TALUS_WHEN after)
include(\"${CMAKE_CURRENT_LIST_DIR}/record_install.cmake\")" COMPONENT record)

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/deb.cmake)
endif()
