#include "common/output/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {
namespace {

[[noreturn]] void refuse_path(const std::string& path, const std::string& why) {
  throw std::runtime_error("cannot write to " + path + ": " + why);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path.empty()) return;
  if (path == "-") {
    take_standard_output();
    return;
  }
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse_path(path, std::generic_category().message(errno));
  struct stat about {};
  regular_ = fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode);
  // Some file systems have no locks. There, the file is not protected.
  if (regular_ && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor_);
    refuse_path(path, "it is being written already, perhaps by another run");
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      regular_(other.regular_) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void OutputFile::take_standard_output() {
  static bool taken = false;
  if (std::exchange(taken, true)) refuse("only one file can be standard output");
  path_ = "standard output";
  std::cout.flush();
  descriptor_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (descriptor_ < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    refuse_path(path_, std::generic_category().message(errno));
  }
}

FileBeside make_beside(const std::string& path, const std::string& cannot) {
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    throw std::runtime_error(cannot + ": it is not a regular file");
  }
  std::string beside = path + ".XXXXXX";
  Descriptor file(mkostemp(beside.data(), O_CLOEXEC));
  if (!file) throw std::runtime_error(cannot + ": " + std::generic_category().message(errno));
  return {std::move(beside), std::move(file)};
}

void OutputFile::empty() const {
  if (regular_ && ftruncate(descriptor_, 0) != 0) {
    refuse_path(path_, std::generic_category().message(errno));
  }
}

}  // namespace retrystorm
