// The walk that the kernel takes through a path, with a look at each step.
#include "trust.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::preload {
namespace {

constexpr int most_links = 40;  // as the kernel's

/// In a user namespace that knows few users, what belongs to all others seems to belong to this one; they
/// cannot be told apart, and root is among them.
bool is_unmapped(uid_t uid) {
  constexpr uid_t overflow = 65534;
  if (uid != overflow) return false;
  unsigned long inside = 0, outside = 0, count = 0;
  FILE* map = fopen("/proc/self/uid_map", "re");
  if (map == nullptr) return false;
  const int fields = fscanf(map, "%lu %lu %lu", &inside, &outside, &count);
  fclose(map);
  return fields == 3 && count <= overflow;
}

bool owner_is_fine(const struct stat& status, const Keeper& keeper) {
  const uid_t uid = status.st_uid;
  if (uid == 0 || uid == geteuid() || uid == keeper.owner || is_unmapped(uid)) return true;
  for (const auto& folder : keeper.above) {
    if (uid == folder.owner) return true;
  }
  return false;
}

bool group_is_fine(const struct stat& status, const Keeper& keeper) {
  const gid_t gid = status.st_gid;
  if (keeper.any_group || gid == 0 || gid == getegid() || gid == keeper.group) return true;
  for (const auto& folder : keeper.above) {
    if (gid == folder.group) return true;
  }
  return false;
}

bool is_fine(const struct stat& status, const Keeper& keeper, bool last) {
  if (!owner_is_fine(status, keeper)) return false;
  // What only owners may remove is as good as its own owner, at which the next step looks.
  if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && !last) return true;
  if ((status.st_mode & S_IWOTH) != 0) return false;
  return (status.st_mode & S_IWGRP) == 0 || group_is_fine(status, keeper);
}

bool copy(char (&to)[PATH_MAX], const char* text) {
  const size_t length = strlen(text);
  if (length >= sizeof to) return false;
  memmove(to, text, length + 1);
  return true;
}

}  // namespace

Keeper keeper_of(const char* path) {
  struct stat status{};
  if (stat(path, &status) != 0) return {0, 0};
  Keeper keeper{status.st_uid, status.st_gid};
  char place[PATH_MAX];
  if (realpath(path, place) == nullptr) return keeper;
  size_t others = 0;
  for (char* slash = strrchr(place, '/'); slash != nullptr && slash != place; slash = strrchr(place, '/')) {
    *slash = '\0';
    if (stat(place, &status) != 0) break;
    const bool writes = (status.st_mode & S_IWGRP) != 0;
    if (status.st_uid == keeper.owner && status.st_gid == keeper.group) continue;
    if (others < sizeof keeper.above / sizeof *keeper.above)
      keeper.above[others++] = {status.st_uid, writes ? status.st_gid : 0};
  }
  return keeper;
}

Keeper keeper_of_named(const char* folder) {
  Keeper keeper = keeper_of(folder);
  keeper.any_group = true;
  return keeper;
}

bool others_may_change(const char* path, const Keeper& keeper, char (&where)[PATH_MAX]) {
  // `where` is how far we are, `rest` what is still to go.
  char rest[PATH_MAX];
  char text[2 * PATH_MAX + 2];
  struct stat status{};
  if (!copy(where, path) || *path != '/' || !copy(rest, path + 1)) return true;
  copy(where, "/");
  if (stat("/", &status) != 0 || !is_fine(status, keeper, *rest == '\0')) return true;
  for (int links = 0; *rest != '\0';) {
    const size_t length = strcspn(rest, "/");
    const size_t next = length + strspn(rest + length, "/");
    char name[PATH_MAX];
    memcpy(name, rest, length);
    name[length] = '\0';
    copy(rest, rest + next);
    if (length == 0 || strcmp(name, ".") == 0) continue;
    const size_t parent = strlen(where);
    const bool in_shared = stat(where, &status) == 0 && (status.st_mode & (S_IWOTH | S_IWGRP)) != 0;
    if (strcmp(name, "..") == 0) {
      char* slash = strrchr(where, '/');
      *(slash == where ? slash + 1 : slash) = '\0';
      if (*rest != '\0') continue;
      return stat(where, &status) != 0 || !is_fine(status, keeper, true);
    }
    snprintf(text, sizeof text, "%s/%s", parent == 1 ? "" : where, name);
    if (!copy(where, text) || lstat(where, &status) != 0) return true;
    if (!S_ISLNK(status.st_mode)) {
      if (!is_fine(status, keeper, *rest == '\0')) return true;
      continue;
    }
    char target[PATH_MAX];
    const ssize_t size = readlink(where, target, sizeof target - 1);
    if (size <= 0 || ++links > most_links) return true;
    target[size] = '\0';
    // Who may not write to its folder cannot change a link, though it be his.
    if (in_shared && !owner_is_fine(status, keeper)) return true;
    snprintf(text, sizeof text, "%s%s%s", target, *rest != '\0' ? "/" : "", rest);
    if (!copy(rest, text)) return true;
    if (*target == '/') {
      copy(where, "/");
      copy(rest, rest + strspn(rest, "/"));
    } else {
      where[parent] = '\0';
    }
  }
  return false;
}

}  // namespace forebay::preload
