# Compiler and linker flags for our own code: warnings are errors, hardening is always on.
# Source of the hardening list: OpenSSF Compiler Options Hardening Guide for C and C++.
include(CheckCXXCompilerFlag)

add_library(xila_flags INTERFACE)
target_compile_options(xila_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wformat=2 -Wimplicit-fallthrough -Werror
  -Wno-missing-field-initializers   # designated initialisers leave defaults out on purpose
  -fstack-protector-strong -fstack-clash-protection
  -fno-delete-null-pointer-checks -fno-strict-overflow
  "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
foreach(flag -fcf-protection=full -ftrivial-auto-var-init=zero -fstrict-flex-arrays=3)
  string(MAKE_C_IDENTIFIER "XILA_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(xila_flags INTERFACE ${flag})
  endif()
endforeach()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these two inside libstdc++ and Boost at -O1 and higher; clang-19 is the compiler that ships.
  target_compile_options(xila_flags INTERFACE -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
endif()
target_compile_definitions(xila_flags INTERFACE _GLIBCXX_ASSERTIONS)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported()
target_link_options(xila_flags INTERFACE
  -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed -Wl,-z,separate-code)

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(XILA_SANITIZE)
  target_compile_options(xila_flags INTERFACE -fsanitize=${XILA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(xila_flags INTERFACE -fsanitize=${XILA_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(xila_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
if(XILA_FUZZ)
  target_compile_options(xila_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
