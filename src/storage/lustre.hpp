// How Lustre lays files out, by the attribute lustre.lov: it needs neither Lustre's library nor its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "layout/file_domains.hpp"

namespace forebay {

/// What a value of lustre.lov says of a file's stripes: bytes and count, each 0 where it does not say (all
/// that there are, or the file system's own). Of a layout of several components, the one in which most of the
/// data lies, if the file has `size` bytes, or 1 GiB where that is more: files grow. Anything that is not
/// such a value says nothing.
Striping stripes_in(std::span<const std::byte> value, std::int64_t size);

/// Of an open file of `size` bytes.
Striping lustre_stripes(int descriptor, std::int64_t size);

/// Whether files in this folder get a layout that was chosen for it.
bool folder_has_layout(const std::string& folder);

/// The value for a new file. Units are rounded up to 64 KiB, as Lustre wants them; 0: the file system's own.
std::vector<std::byte> layout_value(const Striping& wanted);

/// What came of make_with_layout.
enum class Made {
  no,             ///< the name is taken, or nothing can be made there: opening it says why
  with_layout,    ///< a new file, with these stripes or as many as there are
  without_layout  ///< a new file, laid out as its folder says; `why` says what Lustre had against this
};
/// Makes an empty file that has stripes already when it is opened for the first time: later there is no way.
Made make_with_layout(const std::string& path, const Striping& wanted, Status& why);

}  // namespace forebay
