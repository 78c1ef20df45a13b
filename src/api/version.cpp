#include "forebay/version.h"

const char* forebay_version(void) {
  return FOREBAY_VERSION;
}
