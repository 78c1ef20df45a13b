// A bar chart as SVG: a group a row, a bar a peer, time on a logarithmic scale.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmark_results.hpp"

namespace forebay::bench {
namespace {

constexpr const char* colours[] = {"#8c564b", "#bcbd22", "#e377c2", "#7f7f7f", "#9467bd",
                                   "#ff7f0e", "#17becf", "#aec7e8", "#c49c94"};
constexpr int bar = 12, gap = 22, left = 60, top = 90, height = 320;

std::string colour(const Peer& peer, std::size_t index) {
  if (peer.kind == Kind::Forebay) return peer.mode == "strict" ? "#1f77b4" : "#2ca02c";
  return colours[index % std::size(colours)];
}

}  // namespace

std::string to_svg(const BenchmarkResults& results) {
  double least = 1e9, most = 1e-9;
  std::size_t peers = 0;
  for (const RowResult& row : results.rows) {
    peers = std::max(peers, row.cells.size());
    for (const Cell& cell : row.cells) {
      if (cell.samples.empty()) continue;
      least = std::min(least, cell.median());
      most = std::max(most, cell.median());
    }
  }
  const double low = std::floor(std::log10(least)), high = std::max(low + 1, std::ceil(std::log10(most)));
  const auto y = [&](double seconds) { return top + height * (high - std::log10(seconds)) / (high - low); };
  const int group = std::max(static_cast<int>(peers) * bar + gap, 80);  // a row's name fits
  const int width = left + std::max(static_cast<int>(results.rows.size()) * group, 8 * 110) + 20;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"20\" font-size=\"14\">Seconds from the first {} to the end of close, {}, "
      "{} "
      "ranks</text>\n",
      width, top + height + 50, left, results.reads ? "get" : "put", results.library, results.ranks);
  for (double exponent = low; exponent <= high; ++exponent) {
    const double at = y(std::pow(10, exponent));
    svg += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ccc\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g} s</text>\n",
        left, width - 10, at, at, left - 6, at + 4, std::pow(10, exponent));
  }
  for (std::size_t r = 0; r < results.rows.size(); ++r) {
    const RowResult& row = results.rows[r];
    const int x = left + gap / 2 + static_cast<int>(r) * group;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const Cell& cell = row.cells[c];
      if (cell.samples.empty()) continue;
      const double at = y(cell.median());
      svg += fmt::format(
          "<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"><title>{}, {}: "
          "{:.4f} s</title></rect>\n",
          x + static_cast<int>(c) * bar, at, bar - 1, top + height - at, colour(cell.peer, c), row.name,
          cell.peer.name, cell.median());
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x, top + height + 18, row.name);
    if (r > 0) continue;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const int lx = left + static_cast<int>(c % 8) * 110, ly = 32 + static_cast<int>(c / 8) * 18;
      svg += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" fill=\"{}\"/><text x=\"{}\" "
          "y=\"{}\">{}</text>\n",
          lx, ly, colour(row.cells[c].peer, c), lx + 15, ly + 10, row.cells[c].peer.name);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace forebay::bench
