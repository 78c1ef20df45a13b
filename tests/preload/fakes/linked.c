// A program linked with its libraries.
#include <dlfcn.h>
#include <stdio.h>

extern int make_calls(int count, char** names);

int main(int argc, char** argv) {
  const char* left = dlerror();
  if (left != NULL) printf("an error is left: %s\n", left);
  return make_calls(argc - 1, argv + 1);
}
