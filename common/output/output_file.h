// An output file that a program overwrites, locked against other programs.
#pragma once

#include <string>

#include "common/os/process.h"

namespace retrystorm {

// An open, locked file. Its old content stays until `empty` is called.
class OutputFile {
 public:
  // An empty path means no file. "-" means standard output: from then on, what is printed there goes
  // to standard error instead. For a FIFO, waits until a reader opens it. Construct this object
  // before `EndSignals`, so that Ctrl-C ends that wait, but after any fork: the lock is held until
  // every process has closed the file. Throws std::runtime_error with a readable message if the
  // file cannot be written, or if another program is already writing it, and std::invalid_argument
  // if standard output is taken already.
  explicit OutputFile(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  ~OutputFile();

  OutputFile& operator=(OutputFile&&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }  // -1 for none
  // On a disk, so no reader can block it. Standard output never counts as one.
  bool is_regular() const { return regular_; }

  // Truncates the file.
  void empty() const;

  // Leaves the descriptor open after this object's end: a thread may still be blocked writing to
  // it.
  void leave_open() { descriptor_ = -1; }

 private:
  void take_standard_output();

  std::string path_;
  int descriptor_ = -1;
  bool regular_ = false;
};

struct FileBeside {
  std::string path;
  Descriptor file;
};

// Makes an empty file for its owner beside `path`, to be renamed to it. Nobody can know its path before. Throws
// std::runtime_error, which begins with `cannot`, if it cannot, or if it would replace a link, a pipe or a device.
FileBeside make_beside(const std::string& path, const std::string& cannot);

}  // namespace retrystorm
