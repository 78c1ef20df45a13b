"""Bandwidth over nodes, a panel a pattern, as SVG."""
import math
from html import escape

COLORS = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00")
GREY = "#808080"  # legible on a light and on a dark page
WIDTH, HEIGHT, LEFT, TOP, GAP = 230, 170, 46, 40, 64
COLUMNS = 3


def rate(result):
    """GB/s of the write; 0 where there was none."""
    return result["bytes"] / result["write_s"] / 1e9 if result["write_s"] > 0 else 0


def ticks(low, high):
    """Powers of two from `low` to `high`, few of them."""
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    return [2.0**e for e in range(first, last + 1, max(1, (last - first) // 5))]


def text(x, y, words, anchor="middle", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" fill="{GREY}" font-size="{size}" font-family="sans-serif" '
            f'text-anchor="{anchor}">{escape(words)}</text>')


def panel(x0, y0, pattern, results, subjects):
    """The curves of one pattern."""
    mine = [r for r in results if r["pattern"] == pattern]
    rates = [rate(r) for r in mine]
    nodes = sorted({r["nodes"] for r in mine})
    rows = ticks(min(rates), max(rates))
    low, high = math.log2(rows[0]), math.log2(max(rows[-1], max(rates)))
    left, right = math.log2(nodes[0]), math.log2(nodes[-1])

    def place(count, value):
        across = (math.log2(count) - left) / (right - left) if right > left else 0.5
        up = (math.log2(value) - low) / (high - low) if high > low else 0.5
        return x0 + across * WIDTH, y0 + (1 - up) * HEIGHT

    out = [text(x0 + WIDTH / 2, y0 - 8, pattern, size=13), text(x0 + WIDTH / 2, y0 + HEIGHT + 30, "nodes")]
    for value in rows:
        y = place(nodes[0], value)[1]
        out.append(f'<path d="M{x0} {y:.1f}h{WIDTH}" stroke="{GREY}" stroke-opacity="0.3"/>')
        out.append(text(x0 - 6, y + 4, f"{value:g}", "end"))
    out += [text(place(count, rows[0])[0], y0 + HEIGHT + 15, str(count)) for count in nodes]
    for i, subject in enumerate(subjects):
        points = sorted((r["nodes"], rate(r)) for r in mine if r["subject"] == subject)
        places = [place(*point) for point in points]
        if places:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            out.append(f'<polyline points="{line}" fill="none" stroke="{COLORS[i]}" stroke-width="2"/>')
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLORS[i]}"/>' for x, y in places]
    return out


def draw(results, patterns, subjects):
    """The whole picture; results as simulate.py has them."""
    results = [r for r in results if rate(r) > 0]
    shown = [p for p in patterns if any(r["pattern"] == p for r in results)]
    columns = min(COLUMNS, max(1, len(shown)))
    lines = -(-len(shown) // columns)
    width, height = columns * (WIDTH + GAP) + LEFT, lines * (HEIGHT + GAP) + TOP + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">']
    for i, subject in enumerate(subjects):
        x = LEFT + i * 130
        out.append(f'<rect x="{x}" y="6" width="12" height="12" fill="{COLORS[i]}"/>')
        out.append(text(x + 18, 16, subject, "start", 12))
    out.append(text(width - 10, 16, "GB/s, simulated", "end"))
    for i, pattern in enumerate(shown):
        x, y = LEFT + i % columns * (WIDTH + GAP), TOP + 16 + i // columns * (HEIGHT + GAP)
        out += panel(x, y, pattern, results, subjects)
    return "\n".join(out + ["</svg>"]) + "\n"
