// Whether what lies at a path is what its owner put there: libraries are loaded from nowhere else. For the
// shim and the command; the C library only.
#pragma once

#include <limits.h>
#include <sys/types.h>

namespace forebay::preload {

/// Who, beside root and this user, may change what is trusted.
struct Keeper {
  uid_t owner;
  gid_t group;
  /// Of the folders on the way to it, where they are others; else root.
  struct {
    uid_t owner;
    gid_t group;
  } above[8] = {};
  bool any_group = false;  ///< the user named the place: who shares a group with him is his own matter
};

/// The owner and group of a file, and those of the folders on the way to it (as in somebody's checkout
/// that root builds): who could replace that could do anything. Root where there is no such file.
Keeper keeper_of(const char* path);
/// For a folder that the user named: whoever made it.
Keeper keeper_of_named(const char* folder);

/// Whether anybody else may change what `path`, which must be absolute, leads to: the file, or the folder and
/// so what is in it. All folders and links on the way count. `where` is set to what may be changed, or is
/// not there. In a folder like /tmp, where all may write but only owners remove, other people's files are
/// not trusted, and never the folder itself.
bool others_may_change(const char* path, const Keeper& keeper, char (&where)[PATH_MAX]);

}  // namespace forebay::preload
