#include "connection.hpp"

#include <boost/system/error_code.hpp>

namespace xila::net {

namespace {

bool at_work(const Connection& connection) {
  return connection.phase == Phase::header || connection.phase == Phase::body ||
         connection.phase == Phase::answer;
}

// Its pending operation ends with an error, and with it the coroutine that serves it.
void close(Connection& connection, const char* reason) {
  if (connection.ended_by == nullptr) connection.ended_by = reason;
  boost::system::error_code ignored;
  connection.socket->close(ignored);
}

const char* limit_of(Phase phase) {
  switch (phase) {
    case Phase::handshake:
      return "handshake_timeout";
    case Phase::idle:
      return "idle_timeout";
    case Phase::header:
      return "header_timeout";
    case Phase::body:
      return "body_timeout";
    case Phase::answer:
      return "answer_timeout";
    case Phase::closing:
      return "close_timeout";
  }
  return "timeout";
}

}  // namespace

void Connections::sweep(SteadyTime now) {
  for (Connection* connection : open_) {
    if (connection->deadline <= now) close(*connection, limit_of(connection->phase));
  }
}

bool Connections::evict_one() {
  Connection* victim = nullptr;
  for (Connection* candidate : open_) {
    if (at_work(*candidate) || candidate->ended_by != nullptr) continue;
    const bool goes_first =
        victim == nullptr || (!candidate->has_asked && victim->has_asked) ||
        (candidate->has_asked == victim->has_asked && candidate->since < victim->since);
    if (goes_first) victim = candidate;
  }
  if (victim == nullptr) return false;
  close(*victim, "evicted");
  return true;
}

std::size_t Connections::close_idle(Patience patience) {
  std::size_t waited_for = 0;
  for (Connection* connection : open_) {
    const bool is_newcomer = !connection->has_asked && connection->ended_by == nullptr;
    if (at_work(*connection) || (is_newcomer && patience == Patience::with_newcomers)) {
      ++waited_for;
    } else if (connection->phase != Phase::closing) {
      close(*connection, "drained");
    }
  }
  return waited_for;
}

std::size_t Connections::close_all() {
  std::size_t working = 0;
  for (Connection* connection : open_) {
    working += at_work(*connection) ? 1 : 0;
    close(*connection, "stopped");
  }
  return working;
}

}  // namespace xila::net
