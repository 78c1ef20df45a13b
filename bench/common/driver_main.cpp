// Interrupts and errors end a driver in good order.
#include "driver_main.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "process.hpp"

namespace forebay::bench {

int driver_main(const std::string& program, const std::vector<std::string>& outputs,
                const std::function<int()>& body) {
  catch_interrupts();
  try {
    for (const std::string& path : outputs)
      if (!path.empty() && !std::ofstream(path, std::ios::app))
        throw std::runtime_error("cannot write " + path);
    return body();
  } catch (const Interrupted& by) {
    fmt::print(stderr, "{}: interrupted\n", program);
    return 128 + by.signal;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 2;
  }
}

}  // namespace forebay::bench
