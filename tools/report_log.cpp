#include "report_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "human.hpp"

namespace forebay::tools {
namespace {

double seconds_of(std::int64_t microseconds) {
  return static_cast<double>(microseconds) / 1e6;
}

}  // namespace

bool had_log(const nlohmann::json& file) {
  if (!file.contains("log")) return false;
  const nlohmann::json& log = file["log"];
  return log.at("appends").get<std::int64_t>() + log.at("past_bytes").get<std::int64_t>() > 0;
}

std::vector<std::string> log_in_words(const nlohmann::json& file) {
  if (!had_log(file)) return {};
  const auto number = [&](const char* key) { return file["log"].at(key).get<std::int64_t>(); };
  const std::int64_t bytes = number("bytes"), by_ranks = std::min(bytes, number("drained_by_ranks_bytes"));
  const std::int64_t left = number("left_bytes");
  std::vector<std::string> words{
      fmt::format("{} of {}", counted(number("appends"), "append", "appends"), human_bytes(bytes)),
      fmt::format("{} brought into the file by ranks{}", human_bytes(by_ranks),
                  by_ranks < bytes ? ", the rest by the keeper process" : "")};
  if (left > 0) words.push_back(fmt::format("up to {} left to it at a close", human_bytes(left)));
  if (const std::int64_t after = number("after_close_microseconds"); after > 0)
    words.push_back(fmt::format("complete {:.3f} s after the close", seconds_of(after)));
  if (number("full_waits") > 0)
    words.push_back(fmt::format("full {}, {:.3f} s of waiting",
                                counted(number("full_waits"), "time", "times"),
                                seconds_of(number("full_wait_microseconds"))));
  if (number("past_bytes") > 0)
    words.push_back(fmt::format("{} past it, at once into the file", human_bytes(number("past_bytes"))));
  if (number("conflicts") > 0)
    words.push_back(fmt::format("{} for older bytes in the log of another node",
                                counted(number("conflicts"), "flush", "flushes")));
  return words;
}

}  // namespace forebay::tools
