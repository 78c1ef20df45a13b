#include "forebay/version.h"

#include "forebay/status.h"

FOREBAY_API const char* forebay_version(void) {
  return FOREBAY_VERSION;
}
