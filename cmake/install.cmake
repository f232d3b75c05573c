# The files that `cmake --install` installs, and the Debian package made by CPack.
include(GNUInstallDirs)

set(RETRYSTORM_MAINTAINER "the retrystorm authors <authors@retrystorm.invalid>")

# `server` would be too general a name in a folder shared by all programs.
foreach(program server client simulate)
  install(PROGRAMS $<TARGET_FILE:${program}> DESTINATION ${CMAKE_INSTALL_BINDIR}
          RENAME retrystorm-${program})
  # CMake strips targets, and a target cannot be renamed.
  install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
      set(installed \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR})
      execute_process(COMMAND ${CMAKE_STRIP} \${installed}/retrystorm-${program})
    endif()")
  install(FILES scripts/completions/retrystorm.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME retrystorm-${program})
endforeach()
install(TARGETS retrystorm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES scripts/completions/retrystorm.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME retrystorm)
# Under /usr/local, zsh searches the first folder. Under /usr, Debian's packages use the second.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder vendor-completions)
  endif()
  file(INSTALL TYPE FILE FILES \"${PROJECT_SOURCE_DIR}/scripts/completions/_retrystorm\"
       DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\")")
# The manual pages, from the programs' own help. They are part of the build that is tested and packed; an
# installation of another one goes without.
set(manual ${CMAKE_BINARY_DIR}/man)
add_custom_command(
  OUTPUT ${manual}/man1/retrystorm.1.gz
  COMMAND ${PROJECT_SOURCE_DIR}/cmake/manual ${manual} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
  DEPENDS cmake/manual cmake/manual.awk scripts/lib/help.awk docs/options.md docs/output.md
          server client simulate retrystorm
  COMMENT "Writing the manual pages"
  VERBATIM)
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set(all ALL)
endif()
add_custom_target(manual_pages ${all} DEPENDS ${manual}/man1/retrystorm.1.gz)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
install(DIRECTORY scripts/scenarios scripts/topologies DESTINATION ${CMAKE_INSTALL_DATADIR}/retrystorm)
install(FILES scripts/lib/prometheus/retrystorm.rules.yml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/retrystorm/prometheus)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# If the target `explorer` was not built, everything else is installed without it.
install(FILES ${CMAKE_BINARY_DIR}/bin/explorer.html DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
file(READ LICENSE licence)
file(WRITE ${CMAKE_BINARY_DIR}/copyright "${licence}
The program retrystorm contains LibYAML (https://github.com/yaml/libyaml), under the same licence:
Copyright (c) 2006-2020 Kirill Simonov
")
install(FILES ${CMAKE_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Debian requires a changelog in every package, with the highest compression.
find_program(GZIP gzip)
if(GZIP)
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${CMAKE_BINARY_DIR}/changelog
"retrystorm (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}.

 -- ${RETRYSTORM_MAINTAINER}  ${now}
")
  execute_process(COMMAND ${GZIP} -9nf ${CMAKE_BINARY_DIR}/changelog)
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME retrystorm)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "experiment that shows how retries kill a service")
set(CPACK_PACKAGE_CONTACT "${RETRYSTORM_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A server slows down once too many requests are in it at a time. A thousand
clients call it at a comfortable rate. Then the server freezes for a while,
and wakes up: with a fixed wait before each retry it never comes back, with
exponential backoff it does. A simulator runs the same in virtual time.")
include(CPack)
