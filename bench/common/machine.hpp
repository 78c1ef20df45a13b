// What a driver of runs has to know about the machine: its processor, its MPI, where programs are.
#pragma once

#include <string>

namespace forebay::bench {

std::string describe_machine();

// What Open MPI calls the ROMIO it was built with; its number changes between releases.
// Empty where it has none, as Open MPI 6.
std::string find_romio();

// A program that was built or installed with this one.
std::string find_program(const std::string& name);

// More ranks than cores have to be allowed, and to yield; what the environment says already stays.
void allow_oversubscription(int ranks);

// The end of what a program printed, set in.
std::string last_lines(const std::string& text, std::size_t count);

}  // namespace forebay::bench
