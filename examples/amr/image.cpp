#include "image.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "agree.hpp"
#ifdef AMR_HAS_PNG
#include <png.h>
#endif

namespace amr {

#ifdef AMR_HAS_PNG

void write_image(const std::string& path, const Image& image) {
  png_image png;
  std::memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&png, path.c_str(), 0, image.pixels.data(), 0, nullptr) == 0)
    throw Failure(fmt::format("{}: {}", path, png.message));
}

#else

void write_image(const std::string& path, const Image& image) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file || std::fprintf(file.get(), "P6\n%d %d\n255\n", image.width, image.height) < 0 ||
      std::fwrite(image.pixels.data(), sizeof(Colour), image.pixels.size(), file.get()) !=
          image.pixels.size() ||
      std::fflush(file.get()) != 0)
    throw Failure(fmt::format("{}: {}", path, std::strerror(errno)));
}

#endif

}  // namespace amr
