#include "connection.hpp"

#include <boost/system/error_code.hpp>

namespace xila::net {

namespace {

// A client of good will sends a request in one go.
constexpr std::chrono::seconds kStalledAfter{1};

bool at_work(const Connection& connection) {
  return connection.phase == Phase::header || connection.phase == Phase::body ||
         connection.phase == Phase::answer || connection.phase == Phase::send;
}

// A request has come that its coroutine has not been told of.
bool is_asking(const Connection& connection) {
  boost::system::error_code ignored;
  return connection.phase == Phase::idle && connection.socket->available(ignored) > 0;
}

// Its pending operation ends with an error, and with it the coroutine that serves it.
void close(Connection& connection, const char* reason) {
  if (connection.ended_by == nullptr) connection.ended_by = reason;
  boost::system::error_code ignored;
  connection.socket->close(ignored);
}

enum class Missed : std::uint8_t { least, little, much };

// How much the client would miss the connection. One that never asked anything, or that stopped
// in the middle, may be one of many by which somebody takes all places.
Missed missed(const Connection& connection, SteadyTime now) {
  switch (connection.phase) {
    case Phase::handshake:
      return Missed::least;
    case Phase::idle:
      return connection.has_asked ? Missed::little : Missed::least;
    case Phase::header:
    case Phase::body:
    case Phase::send:
    case Phase::skip:
      return now - connection.since > kStalledAfter ? Missed::least : Missed::much;
    case Phase::answer:
      return Missed::much;
    case Phase::closing:
      return Missed::least;
  }
  return Missed::much;
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
    case Phase::skip:
      return "body_timeout";
    case Phase::answer:
    case Phase::send:
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

Connection* Connections::least_missed(SteadyTime now) const {
  Connection* victim = nullptr;
  Missed least = Missed::much;
  for (Connection* candidate : open_) {
    const Missed here = missed(*candidate, now);
    if (here == Missed::much || candidate->ended_by != nullptr) continue;
    if (here < least || (here == least && candidate->since < victim->since)) {
      victim = candidate;
      least = here;
    }
  }
  return victim;
}

bool Connections::evict_one(SteadyTime now) {
  Connection* victim = least_missed(now);
  // One whose next request has come is as good as new.
  while (victim != nullptr && is_asking(*victim) && victim->since < now) {
    victim->since = now;
    victim = least_missed(now);
  }
  if (victim == nullptr) return false;
  close(*victim, "evicted");
  return true;
}

std::size_t Connections::close_idle(Patience patience) {
  std::size_t waited_for = 0;
  for (Connection* connection : open_) {
    const bool is_newcomer = !connection->has_asked && connection->ended_by == nullptr;
    if (at_work(*connection) || is_asking(*connection) ||
        (is_newcomer && patience == Patience::with_newcomers)) {
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
