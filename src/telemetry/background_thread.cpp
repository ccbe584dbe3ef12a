#include "background_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace xila::telemetry {

void begin_background_thread(const char* name) {
  pthread_setname_np(pthread_self(), name);
  sigset_t blocked;
  sigfillset(&blocked);
  // These say that this very thread is broken; nobody else can take them.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace xila::telemetry
