// A process that outlives this one for as long as it takes to undo what this one did to others.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>

#include "model/base/duration.h"

namespace retrystorm {

// A pipe that no program gets which this process starts: where it is read, and where it is written.
// Throws std::runtime_error with a sentence for a person.
std::array<int, 2> make_pipe();

// A forked process of one thread, in a session of its own, so that what befalls this process does
// not befall it: what is sent to the whole process group (Ctrl-C, Ctrl-\, Ctrl-Z, a shell's kill,
// timeout -s KILL), and the end of the terminal.
class Watchdog {
 public:
  // `watch` runs in the new process, which ends when it returns. It reads the words that are told,
  // one byte each, from the descriptor it is given, and then the end: be it that this object has
  // gone or that its whole process has. Throws std::runtime_error with a sentence for a person.
  // Construct it before any thread is started, for it forks.
  explicit Watchdog(const std::function<void(int words)>& watch);

  // Waits for the process to end; but not for long where it has more to do.
  ~Watchdog();

  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Returns whether there still is somebody who hears it.
  bool tell(char word);

 private:
  pid_t pid_ = -1;
  int words_ = -1;
};

// Reads the next word in `watch`; nothing at the end.
bool read_word(int words, char& word);

}  // namespace retrystorm
