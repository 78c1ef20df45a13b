// Which shared libraries a library file asks for, read from the file: loading it to find out would already
// load them.
#pragma once

#include <stddef.h>

namespace forebay::preload {

/// Calls `visit(name, argument)` for each DT_NEEDED entry of the ELF file. False where the file cannot be
/// read as one of this machine's.
bool for_each_needed(const char* path, void (*visit)(const char* name, void* argument), void* argument);

}  // namespace forebay::preload
