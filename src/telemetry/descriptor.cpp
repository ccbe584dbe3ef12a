#include "descriptor.hpp"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

namespace xila::telemetry {

Written write_all(int descriptor, std::string_view text, const std::function<bool()>& give_up) {
  constexpr int kPollMilliseconds = 100;
  Written written;
  while (written.bytes < text.size()) {
    const std::string_view rest = text.substr(written.bytes);
    const ssize_t count = ::write(descriptor, rest.data(), rest.size());
    if (count > 0) {
      written.bytes += static_cast<std::size_t>(count);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      written.error = count == 0 ? EIO : errno;
      return written;
    } else if (errno == EAGAIN) {
      if (give_up()) {
        written.error = EAGAIN;
        return written;
      }
      pollfd waiting{descriptor, POLLOUT, 0};
      ::poll(&waiting, 1, kPollMilliseconds);
    }
  }
  return written;
}

}  // namespace xila::telemetry
