#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace xila::kube {

base::Result<std::string> read_file(const std::filesystem::path& path) {
  constexpr std::streamsize kMostBytes = 4 << 20;  // a CA bundle of a distribution has 0.2 MiB
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(std::size_t{64} << 10, '\0');
  std::string whole;
  while (file) {
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    whole.append(text, 0, static_cast<std::size_t>(file.gcount()));
    if (whole.size() > kMostBytes) return base::fail(path.string() + ": is larger than 4 MiB");
  }
  if (!file.eof()) {
    const int reason = errno;
    return base::fail(path.string() + ": " +
                      (reason == 0 ? "cannot be read" : std::strerror(reason)));
  }
  return whole;
}

}  // namespace xila::kube
