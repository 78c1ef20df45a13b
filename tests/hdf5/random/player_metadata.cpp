// Groups, attributes and links.
#include <algorithm>
#include <cstring>

#include "player.hpp"

namespace test {

void Player::create_group() {
  FileModel& file = pick_file();
  if (file.groups.size() >= 6) return;
  const Id gcpl(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(gcpl, false);
  const std::string path = path_in(all_.pick(file.groups), new_name("group"));
  const Id group(
      trace_.sign("create " + path, H5Gcreate2(file.id, path.c_str(), H5P_DEFAULT, gcpl, H5P_DEFAULT)));
  if (group >= 0) file.groups.push_back(path);
}

void Player::change_attributes() {
  FileModel& file = pick_file();
  DatasetModel* set = all_.one_in(2) ? pick_set(file) : nullptr;
  std::vector<std::string>& names = set != nullptr ? set->attributes : file.attributes;
  const std::string path = set != nullptr ? set->paths.back() : "/";
  const Id object(trace_.sign("open " + path, H5Oopen(file.id, path.c_str(), H5P_DEFAULT)));
  for (std::int64_t n = all_.one_in(4) ? all_.between(10, 30) : all_.between(1, 4); n > 0; --n) {
    const std::int64_t what = names.empty() ? 0 : all_.below(5);
    const std::string name = names.empty() ? "" : all_.pick(names);
    if (what <= 1) {
      const std::vector<hsize_t> dims{static_cast<hsize_t>(all_.between(1, all_.one_in(6) ? 400 : 8))};
      const Id extent = space(dims);
      std::vector<int> values(dims[0], static_cast<int>(all_.below(1 << 20)));
      const std::string fresh = new_name("attribute");
      const Id attribute(trace_.sign("create " + fresh, H5Acreate2(object, fresh.c_str(), H5T_STD_I32BE,
                                                                   extent, H5P_DEFAULT, H5P_DEFAULT)));
      if (attribute < 0) continue;
      trace_.sign("write", H5Awrite(attribute, H5T_NATIVE_INT, values.data()));
      names.push_back(fresh);
    } else if (what == 2) {
      const Id attribute(trace_.sign("open " + name, H5Aopen(object, name.c_str(), H5P_DEFAULT)));
      const Id extent(H5Aget_space(attribute));
      const auto count =
          static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(extent), 0));
      std::vector<int> values(count, -1);
      trace_.sign("read", H5Aread(attribute, H5T_NATIVE_INT, values.data()));
      const std::vector<std::int64_t> wide(values.begin(), values.end());
      trace_.value("attribute", hash_of(wide));
      for (int& v : values) v += 7;
      if (all_.one_in(2)) trace_.sign("write", H5Awrite(attribute, H5T_NATIVE_INT, values.data()));
    } else if (what == 3) {
      trace_.sign("delete " + name, H5Adelete(object, name.c_str()));
      names.erase(std::find(names.begin(), names.end(), name));
    } else {
      const std::string fresh = new_name("renamed");
      trace_.sign("rename " + name, H5Arename(object, name.c_str(), fresh.c_str()));
      *std::find(names.begin(), names.end(), name) = fresh;
    }
  }
}

void Player::change_links() {
  FileModel& file = pick_file();
  for (std::int64_t n = all_.one_in(2) ? all_.between(12, 60) : all_.between(1, 6); n > 0; --n) {
    const std::string path = path_in(all_.pick(file.groups), new_name("link"));
    const std::int64_t what = all_.below(8);
    if (what == 0 && !file.sets.empty()) {
      DatasetModel& set = *pick_set(file);
      if (trace_.sign("hard link " + path + " to " + set.paths.back(),
                      H5Lcreate_hard(file.id, set.paths.back().c_str(), file.id, path.c_str(), H5P_DEFAULT,
                                     H5P_DEFAULT)) >= 0)
        set.paths.push_back(path);
    } else if (what <= 3) {
      if (trace_.sign("soft link",
                      H5Lcreate_soft("/nowhere", file.id, path.c_str(), H5P_DEFAULT, H5P_DEFAULT)) >= 0)
        file.links.push_back(path);
    } else if (what == 4) {
      if (trace_.sign("external link", H5Lcreate_external("other.h5", "/there", file.id, path.c_str(),
                                                          H5P_DEFAULT, H5P_DEFAULT)) >= 0)
        file.links.push_back(path);
    } else if (!file.links.empty()) {
      std::string& old = all_.pick(file.links);
      if (what == 5) {
        trace_.sign("move " + old,
                    H5Lmove(file.id, old.c_str(), file.id, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
        old = path;
      } else {
        trace_.sign("delete " + old, H5Ldelete(file.id, old.c_str(), H5P_DEFAULT));
        std::swap(old, file.links.back());
        file.links.pop_back();
      }
    }
  }
  H5G_info_t info{};
  const std::string group = all_.pick(file.groups);
  trace_.sign("info of " + group, H5Gget_info_by_name(file.id, group.c_str(), &info, H5P_DEFAULT));
  trace_.value("links", info.nlinks);
}

}  // namespace test
