# `cpack -G DEB` makes three packages of the three components (`make deb` does it, for /usr):
#   talus          the command, man pages, completions, documents; self-contained
#   libtalus0      the shared library; the number is that of its ABI
#   libtalus-dev   headers, static library, pkg-config and CMake files
# What they depend on is asked from dpkg-shlibdeps.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${TALUS_NAME})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(maintainer "the talus developers <talus@localhost>")
if(DEFINED ENV{DEBEMAIL}) # as Debian's own tools do
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_CONTACT "${maintainer}" CACHE STRING "Maintainer of the Debian packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_COMPONENTS_ALL development)
if(TARGET talus_command)
  list(APPEND CPACK_COMPONENTS_ALL command)
endif()
set(library lib${TALUS_NAME}${PROJECT_VERSION_MAJOR})
set(more "\ntalus simulates rigid bodies and grains in contact:\n\
a scene goes in, a folder of results comes out.\nThis package holds")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME ${TALUS_NAME})
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "simulator of rigid bodies and grains in contact${more}\
 the command, its manual and its documents.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "ffmpeg, paraview")

if(TALUS_SHARED)
  list(APPEND CPACK_COMPONENTS_ALL library)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")
endif()
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
file(WRITE ${PROJECT_BINARY_DIR}/install/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/install/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "rigid bodies and grains in contact: shared library${more}\
 the library that programs are linked with.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME lib${TALUS_NAME}-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libyaml-dev, libhdf5-dev, pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "rigid bodies and grains in contact: development files${more}\
 headers, the static\nlibrary, and what pkg-config and CMake read.")

# Debian's own ways are given to the files before they are packed.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/deb_staging.cmake)
set(CPACK_TALUS_DOC ${TALUS_INSTALL_DOC})
set(CPACK_TALUS_PACKAGE_command ${CPACK_DEBIAN_COMMAND_PACKAGE_NAME})
set(CPACK_TALUS_PACKAGE_library ${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME})
set(CPACK_TALUS_PACKAGE_development ${CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME})
include(CPack)
