// The main of a program that starts others: what every one of them does around its own work.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace forebay::bench {

// Finds out that a document cannot be written (those of `outputs` that are not empty) before anything is
// run, then runs `body` and returns its exit status. An exception is printed after the program's name and
// gives 2, an interrupt 128 and the signal; what `body` holds is gone by then.
int driver_main(const std::string& program, const std::vector<std::string>& outputs,
                const std::function<int()>& body);

}  // namespace forebay::bench
