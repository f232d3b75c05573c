// pidfd_open and pidfd_send_signal.
#pragma once

extern "C" {  // glibc 2.36 lacks this
#include <sys/pidfd.h>
}
