// A program that loads modules for itself alone, as Python does: loading MODULE CALLS... [-- MODULE CALLS...]
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  for (int at = 1; at < argc;) {
    void* module = dlopen(argv[at], RTLD_NOW | RTLD_LOCAL);
    int (*calls)(int, char**) = module != NULL ? (int (*)(int, char**))dlsym(module, "make_calls") : NULL;
    if (calls == NULL) {
      fprintf(stderr, "loading: %s\n", dlerror());
      return 1;
    }
    int end = ++at;
    while (end < argc && strcmp(argv[end], "--") != 0) ++end;
    calls(end - at, argv + at);
    at = end + 1;
  }
  return 0;
}
