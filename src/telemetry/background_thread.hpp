#pragma once

namespace xila::telemetry {

// What each writer thread does first: takes a name, at most 15 bytes, and leaves signals to the
// program's own threads. SIGPIPE above all: a reader that went away is an error of write(2) to
// count, not the end of the process.
void begin_background_thread(const char* name);

}  // namespace xila::telemetry
