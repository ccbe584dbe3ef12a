# Run by build_info.cmake at each build. No clock, host name or path gets in: same sources, same bytes.
if(NOT COMMIT)
  set(COMMIT unknown)
  find_program(GIT git)
  if(GIT)
    # Only a repository of our own: sources unpacked inside somebody else's have no commit of theirs.
    execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix --short=12 HEAD
      OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)\n$")
      set(COMMIT ${CMAKE_MATCH_1})
      execute_process(COMMAND ${GIT} -C ${SOURCE} --no-optional-locks diff --quiet HEAD
        RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
      if(differs)
        string(APPEND COMMIT "-dirty")
      endif()
    endif()
  endif()
endif()

file(CONFIGURE OUTPUT ${HEADER} CONTENT [[#pragma once

#define XILA_BUILD_VERSION "@VERSION@"
#define XILA_BUILD_COMMIT "@COMMIT@"
#define XILA_BUILD_TYPE "@BUILD_TYPE@"
#define XILA_BUILD_COMPILER "@COMPILER@"
#define XILA_BUILD_LIBRARIES @LIBRARIES@
]] @ONLY)
