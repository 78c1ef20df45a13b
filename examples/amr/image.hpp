// A picture in memory, and as a file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace amr {

using Colour = std::array<std::uint8_t, 3>;  // red, green, blue

struct Image {
  int width = 0, height = 0;
  std::vector<Colour> pixels;  // from the top left, row by row

  Image(int w, int h, Colour colour)
      : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), colour) {}
  Colour& at(int x, int y) {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(x)];
  }
};

// As PNG, or where the program was built without libpng as PPM. Throws Failure.
void write_image(const std::string& path, const Image& image);

}  // namespace amr
