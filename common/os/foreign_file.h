// Reads files that are not ours: of any kind and length, named on a command line.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "model/base/text.h"

namespace retrystorm {

// A file that was named on the command line and cannot be read. Programs exit with 2.
class UnreadableFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Whether it is a file, a FIFO or /dev/null. Folders, other devices and files of the kernel (/proc/kmsg) are not even
// opened: that may wait for ever. What is not there counts as a file, so that opening it says why.
inline bool is_plain_file(const std::string& path) {
  constexpr auto kProc = 0x9fa0;
  struct stat about {};
  struct statfs system {};
  if (stat(path.c_str(), &about) != 0 || S_ISFIFO(about.st_mode)) return true;
  if (S_ISCHR(about.st_mode)) return about.st_rdev == makedev(1, 3);
  return S_ISREG(about.st_mode) && (statfs(path.c_str(), &system) != 0 || system.f_type != kProc);
}

// What is in the file; of a FIFO, until its end. Throws UnreadableFile, also if it is longer than `most` bytes.
// `whose`: how its message begins, such as "--body: ".
inline std::string read_foreign_file(const std::string& path, std::size_t most,
                                     const std::string& whose = "") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      is_plain_file(path) ? std::fopen(path.c_str(), "rbe") : nullptr, &std::fclose);
  std::string text(most + 1, '\0');
  if (file != nullptr) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (file == nullptr || std::ferror(file.get()) != 0) {
    throw UnreadableFile(whose + "cannot read " + in_quotes(path));
  }
  if (text.size() <= most) return text;
  throw UnreadableFile(whose + in_quotes(path) + " is longer than " + std::to_string(most / 1'000) +
                       " kB");
}

}  // namespace retrystorm
