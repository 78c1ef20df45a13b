// What the shim lets others see: the functions whose place it takes, and nothing else.
#pragma once

#define FOREBAY_PRELOAD_EXPORT __attribute__((visibility("default")))
