// mkostemp, write, rename.
#include "whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "report/locked_file.hpp"

namespace forebay::tools {

Status look_at_whole_file(const std::string& name) {
  const std::string path = resolved(name);
  struct stat old{};
  if (::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode))
    return {Code::bad_argument, path + " is not a regular file"};
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return from_errno(errno, "cannot write in " + folder);
  return {};
}

Status write_whole_file(const std::string& name, const std::string& text) {
  if (Status status = look_at_whole_file(name); !status.ok()) return status;
  const std::string path = resolved(name);
  struct stat old{};
  const bool there = ::stat(path.c_str(), &old) == 0;
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) return from_errno(errno, "cannot write beside " + path);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  (void)!::fchmod(fd.get(), there ? old.st_mode & 0777 : 0666 & ~mask);
  Status status = write_all(fd.get(), 0, text, temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = from_errno(errno, "cannot write " + path);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace forebay::tools
