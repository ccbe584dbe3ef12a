#include "line_file.hpp"

#include <fcntl.h>

#include "xila/base/text.hpp"

namespace xila::telemetry {

base::Result<int> open_line_file(const std::filesystem::path& path, const LineFileNames& names) {
  // O_NONBLOCK: a FIFO that nobody reads is an error to report at once, not a place to wait in.
  const int descriptor =
      path == "-"
          ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
          : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
  if (descriptor < 0) {
    return base::fail("cannot open " + std::string(names.text) + " " +
                      base::quote(path.native(), 4096) + ": " +
                      std::generic_category().message(errno));
  }
  return descriptor;
}

}  // namespace xila::telemetry
