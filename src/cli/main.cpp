#include <cstdio>
#include <exception>

#include "options.hpp"

// The only place that catches what nobody expected: a program error ends the process with a
// sentence.
int main(int argc, char** argv) {
  try {
    return xila::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "xila-guard: internal error: %s\n", error.what());
  } catch (...) {
    std::fputs("xila-guard: internal error\n", stderr);
  }
  return xila::cli::kExitInternal;
}
