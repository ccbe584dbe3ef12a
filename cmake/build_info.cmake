# xila_build.hpp: version, commit, compiler and libraries, for `xila-guard version` and the build_info metric.
# Written anew at each build, because the commit may have moved since CMake ran; left alone where nothing
# changed. Set XILA_COMMIT where the sources come without their git history, as in an image build.
set(XILA_COMMIT "" CACHE STRING "Commit that the binary reports; empty = ask git")

set(OpenSSL_VERSION ${OPENSSL_VERSION})
set(libraries "")
foreach(package Boost OpenSSL simdjson nlohmann_json yaml-cpp spdlog prometheus-cpp CLI11)
  if(${package}_VERSION)
    string(APPEND libraries "{\"${package}\", \"${${package}_VERSION}\"}, ")
  endif()
endforeach()

set(build_type "$<IF:$<BOOL:${CMAKE_BUILD_TYPE}>,${CMAKE_BUILD_TYPE},none>")
set(XILA_BUILD_HEADER_FOLDER ${CMAKE_BINARY_DIR}/generated)
add_custom_target(xila_build_info
  COMMAND ${CMAKE_COMMAND}
    -D "SOURCE=${CMAKE_SOURCE_DIR}" -D "HEADER=${XILA_BUILD_HEADER_FOLDER}/xila_build.hpp"
    -D "VERSION=${PROJECT_VERSION}" -D "COMMIT=${XILA_COMMIT}" -D "BUILD_TYPE=${build_type}"
    -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -D "LIBRARIES=${libraries}"
    -P ${CMAKE_SOURCE_DIR}/cmake/write_build_info.cmake
  BYPRODUCTS ${XILA_BUILD_HEADER_FOLDER}/xila_build.hpp
  COMMENT "" VERBATIM)

add_dependencies(xila-guard xila_build_info)
target_include_directories(xila-guard PRIVATE ${XILA_BUILD_HEADER_FOLDER})
