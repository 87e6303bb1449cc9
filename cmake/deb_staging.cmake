# Run by CPack on the files of each package, before they are packed: what Debian's policy asks for and
# an installation elsewhere does not.

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
  set(package "${CPACK_TALUS_PACKAGE_${component}}")
  set(doc "${root}/share/doc/${package}")
  file(MAKE_DIRECTORY "${doc}")

  # Documents lie under the package's own name, with copyright and change log.
  set(common "${root}/${CPACK_TALUS_DOC}")
  if(NOT common STREQUAL doc AND EXISTS "${common}")
    file(GLOB inside "${common}/*")
    file(COPY ${inside} DESTINATION "${doc}")
    file(REMOVE_RECURSE "${common}")
  endif()
  file(REMOVE "${doc}/LICENSE")
  file(WRITE "${doc}/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: talus

Files: *
Copyright: the talus authors
License: Apache-2.0
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.
")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or that of SOURCE_DATE_EPOCH
  file(WRITE "${doc}/changelog"
"${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Made from the sources by `make deb`.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

  file(GLOB pages "${root}/share/man/man1/*.1")
  execute_process(COMMAND gzip -9nf "${doc}/changelog" ${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD_RECURSE "${doc}" FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
       DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                             WORLD_READ WORLD_EXECUTE)

  # Packages have a folder of their own for zsh.
  if(EXISTS "${root}/share/zsh/site-functions")
    file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
  endif()

  # Here the prefix is known, and a plain /usr is what tools expect to filter out.
  file(GLOB_RECURSE pc_files "${root}/*.pc")
  foreach(pc IN LISTS pc_files)
    file(READ "${pc}" text)
    string(REGEX REPLACE "^prefix=[^\n]*" "prefix=/usr" text "${text}")
    file(WRITE "${pc}" "${text}")
  endforeach()

  if(component STREQUAL "development")
    file(GLOB_RECURSE archives "${root}/lib/*.a")
    execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${archives}
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
