// What a file is opened for.
#pragma once

namespace amr {

enum class Access { write, read };

}  // namespace amr
