// A program linked with its libraries.
extern int make_calls(int count, char** names);

int main(int argc, char** argv) {
  return make_calls(argc - 1, argv + 1);
}
