// Pictures, drawn in the page from their figures: labels are measured before they are placed, so that none lies over
// another or over data. A picture is drawn again when its width changes; its colours are the style sheet's.
(() => {
  const NARROW_PX = 560, LINE_PX = 15, NEAR_PX = 24, PAD_PX = 8;
  const esc = (s) => String(s).replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.body).fontFamily;
  const wide = (s, px = 12) => { pen.font = `${px}px ${family}`; return Math.ceil(pen.measureText(s).width); };

  // Lines of a text that are no wider than so many pixels; a word that is wider stands alone, cut.
  const wrap = (text, px) => {
    const cut = (s) => { if (wide(s) <= px) return s; while (s && wide(s + "…") > px) s = s.slice(0, -1); return s + "…"; };
    const lines = [];
    for (const word of String(text).split(" ")) {
      const last = lines[lines.length - 1];
      if (last !== undefined && wide(`${last} ${word}`) <= px) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(cut(word));
    }
    return lines;
  };
  const write = (x, y, text, {anchor = "start", tone = "ink"} = {}) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" class="${tone}">${esc(text)}</text>`;
  const writes = (x, y, lines, looks) => lines.map((s, i) => write(x, y + i * LINE_PX, s, looks)).join("");

  // --- Figures: a value with the prefix of its unit; ticks that people count in.
  const PREFIXES = {"-12": "p", "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G"};
  const power = (v) => Math.min(9, Math.max(-12, v ? 3 * Math.floor(Math.log10(Math.abs(v)) / 3 + 1e-9) : 0));
  const plain = (v, digits = 6) => Number(v.toPrecision(digits)).toLocaleString("en-US", {maximumSignificantDigits: digits});
  const short = (v) => (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? Number(v.toPrecision(3)).toExponential() : plain(v, 3));
  const show = (v, unit, digits = 4) => {
    if (!unit) return plain(v, Math.max(digits, 6));
    const p = power(Number(v.toPrecision(digits)));
    return `${plain(v / 10 ** p, digits)}\u00a0${PREFIXES[p]}${unit}`;
  };
  const ticks = (axis, low, high, most) => {
    if (axis.log) {
      const [a, b] = [Math.floor(low), Math.ceil(high)], ways = [];
      for (const steps of [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]]) ways.push([steps, 1]);
      for (const every of [2, 3, 6]) ways.push([[1], every]);
      for (const [steps, every] of ways) {
        const all = [];
        for (let d = a; d <= b; d++) if (d % every === 0) for (const s of steps) all.push(Number(`${s}e${d}`));
        const inside = all.filter((v) => Math.log10(v) >= low - 1e-9 && Math.log10(v) <= high + 1e-9);
        if (inside.length <= most) return inside;
      }
      return [];
    }
    const span = high - low, raw = span / Math.max(most - 1, 1), ten = 10 ** Math.floor(Math.log10(raw));
    const step = (axis.steps || []).find((s) => s >= raw) || [1, 2, 2.5, 5, 10].map((s) => s * ten).find((s) => s >= raw * 0.999);
    const first = Math.ceil(low / step - 1e-9), all = [];
    for (let i = first; i * step <= high + step * 1e-9; i++) all.push(Number((i * step).toPrecision(12)));
    return all;
  };

  // An axis over the pixels from..to: where a value lies, and the values that get a tick.
  const scale = (axis, values, from, to, zoomed) => {
    const finite = values.filter((v) => v !== null && Number.isFinite(v) && (!axis.log || v > 0));
    let low = Math.min(...finite), high = Math.max(...finite);
    if (!finite.length) [low, high] = [axis.log ? 0.1 : 0, 1];
    if (axis.log) [low, high] = [Math.log10(low), Math.log10(high)];
    if (axis.zero && !axis.log) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    const room = (high - low || (axis.log ? 0.5 : Math.abs(high) || 1)) * 0.05;
    if (!axis.tight) { if (!(axis.zero && low === 0)) low -= room; high += room; }
    if (axis.range) [low, high] = axis.log ? axis.range.map(Math.log10) : axis.range;
    if (zoomed) [low, high] = zoomed;
    if (low === high) high = low + 1;
    const most = axis.log || !axis.unit ? 0 : Math.max(Math.abs(low), Math.abs(high)), p = axis.unit && !axis.log ? power(most) : 0;
    const px = (v) => from + ((axis.log ? Math.log10(v) : v) - low) / (high - low) * (to - from);
    return {
      axis, low, high, px, from, to, unit: `${PREFIXES[p]}${axis.unit || ""}`,
      back: (at) => low + (at - from) / (to - from) * (high - low),
      text: (v) => (axis.log ? (axis.unit ? show(v, axis.unit, 3) : short(v)) : plain(v / 10 ** p, 6)),
      title: axis.log || !axis.unit ? axis.title : `${axis.title} [${PREFIXES[p]}${axis.unit}]`.trim(),
      ticks(most) { return ticks(axis, low, high, most); },
      // As many ticks as stand beside each other, told by their own widths.
      along(edge) {
        for (let most = 12; most > 1; most--) {
          const half = (v) => wide(this.text(v)) / 2, all = this.ticks(most).filter((v) => px(v) + half(v) <= edge && px(v) >= half(v));
          const ends = all.map((v) => [px(v), half(v) + 6]);
          if (all.length && ends.every(([x, w], i) => i === 0 || x - w > ends[i - 1][0] + ends[i - 1][1])) return all;
        }
        return this.ticks(2).slice(0, 1);
      },
    };
  };

  // --- Marks.
  const star = (r) => Array.from({length: 10}, (_, i) => {
    const a = Math.PI * (i / 5 - 0.5), q = i % 2 ? r * 0.45 : r;
    return `${(q * Math.cos(a)).toFixed(1)},${(q * Math.sin(a)).toFixed(1)}`;
  });
  const chain = (points) => points.map((p, i) => `${i ? "l" : "m"}${p}`).join("") + "z";
  const steps = (points) => points.map(([x, y], i) => (i ? [x - points[i - 1][0], y - points[i - 1][1]] : [x, y]).map((v) => v.toFixed(1)).join(","));
  const round = (r) => `m${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`;
  const polygon = (...points) => (r) => chain(steps(points.map(([x, y]) => [x * r, y * r])));
  const SHAPES = {
    circle: round,
    square: polygon([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]),
    diamond: polygon([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]),
    "triangle-up": polygon([0, -1.2], [1.2, 1], [-1.2, 1]), "triangle-down": polygon([0, 1.2], [1.2, -1], [-1.2, -1]),
    cross: polygon([-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]),
    star: (r) => chain(steps(star(r).map((p) => p.split(",").map(Number)))),
    x: (r) => `m${-r},${-r}l${2 * r},${2 * r}m${-2 * r},0l${2 * r},${-2 * r}`,
    tick: (r) => `m0,${-1.3 * r}v${2.6 * r}`,
  };
  const HOLLOW = /^(x|tick)$|-open$/;
  const marks = (t, points) => {
    const shape = SHAPES[(t.mark || "circle").replace("-open", "")], r = (t.size || 6) * 0.6, paths = ["", ""];
    for (const [x, y, ring] of points) {
      const at = `M${x.toFixed(1)},${y.toFixed(1)}`;
      // Where several traces have a point, the first is whole and each further one a ring around it.
      if (ring) paths[1] += at + round(r + 2.5 * ring); else paths[0] += at + shape(r);
    }
    const open = HOLLOW.test(t.mark) || t.faint;
    return (paths[0] ? `<path class="mark" data-name="${esc(t.name)}" d="${paths[0]}" fill="${open ? "none" : t.color}" stroke="${open ? t.color : "var(--paper)"}" stroke-width="${t.mark === "x" || t.mark === "tick" ? 1.6 : t.faint ? 1 : open ? 1.6 : 0.6}"/>` : "")
      + (paths[1] ? `<path class="mark ring" data-name="${esc(t.name)}" d="${paths[1]}" fill="none" stroke="${t.color}" stroke-width="1.6"/>` : "");
  };
  const swatch = (e, x, y) => {
    const has = e.look || "markers";
    return (has.includes("lines") ? `<path class="mark key" d="M${x},${y}h18" fill="none" stroke="${e.color}" stroke-width="2" ${dashes(e)}/>` : "")
      + (e.block ? `<rect class="mark key" x="${x + 3}" y="${y - 6}" width="12" height="12" rx="2" fill="${e.color}"/>` : "")
      + (has.includes("markers") && !e.block ? `<g class="key">${marks({...e, size: Math.min(e.size || 6, 10), name: e.name}, [[x + 9, y, 0]])}</g>` : "");
  };
  const dashes = (t) => (t.dots ? 'stroke-dasharray="2 4"' : t.dash ? 'stroke-dasharray="7 4"' : "");

  // The key: what each colour and mark means, in as many rows as it takes.
  const key = (entries, x0, width, y0) => {
    let x = x0, y = y0 + 11, out = "";
    for (const e of entries) {
      const lines = wrap(e.name, width - 26), w = 24 + Math.max(...lines.map((s) => wide(s)));
      if (x > x0 && x + w > x0 + width) { x = x0; y += 19; }
      out += swatch(e, x, y - 4) + writes(x + 24, y, lines);
      if (lines.length > 1) { y += (lines.length - 1) * LINE_PX; x = x0 + width; } else x += w + 18;
    }
    return {out, bottom: entries.length ? y + 10 : y0};
  };

  // Of more points than pixels: the first, least, greatest and last of each column of pixels.
  const thin = (points, width) => {
    if (points.length < 4 * width) return points;
    const out = [];
    let column = [];
    const flush = () => {
      if (column.length > 4) {
        const by = (f) => column.reduce((a, b) => (f(b[1], a[1]) ? b : a));
        column = [...new Set([column[0], by((a, b) => a < b), by((a, b) => a > b), column[column.length - 1]])].sort((a, b) => a[0] - b[0]);
      }
      out.push(...column);
      column = [];
    };
    for (const p of points) {
      if (p === null || (column.length && Math.floor(p[0]) !== Math.floor(column[0][0]))) flush();
      if (p === null) out.push(null); else column.push(p);
    }
    flush();
    return out;
  };
  const stroke = (points, step) => {
    let d = "", last = null;
    for (const p of points) {
      if (p === null) { last = null; continue; }
      const [x, y] = p.map((v) => v.toFixed(1));
      d += last === null ? `M${x},${y}` : step ? `H${x}V${y}` : `L${x},${y}`;
      last = p;
    }
    return d;
  };

  // Labels beside the right edge, each as near to its height as the others let it.
  const spread = (labels, top, bottom) => {
    labels.sort((a, b) => a.y - b.y);
    let at = top;
    for (const l of labels) { l.at = Math.max(l.y, at + 8); at = l.at + 8; }
    let end = bottom;
    for (const l of [...labels].reverse()) { l.at = Math.min(l.at, end - 8); end = l.at - 8; }
    return labels;
  };

  // --- A chart: panels one above the other over the same x axis.
  const chart = (told, width, zoomed) => {
    const narrow = width < NARROW_PX, targets = [];
    const panels = told.panels.map((p) => ({traces: [], bars: [], bands: [], shades: [], x_lines: [], y_lines: [], lanes: [], ...p}));
    const direct = (p) => {
      const lines = p.traces.filter((t) => t.name && !t.faint);
      if (narrow || lines.length < 2 || lines.length > 12 || !lines.every((t) => t.look.includes("lines"))) return false;
      return lines.every((t) => wide(t.name) < width * 0.25);
    };
    for (const p of panels) {
      p.direct = direct(p);
      p.aside = !narrow && p.y_lines.every(([name]) => wide(name) < width * 0.25);
    }
    const entries = [];
    for (const p of panels) {
      const many = panels.length > 1 || p.traces.length + p.bars.length + (p.aside ? 0 : p.y_lines.length) > 1;
      if (many) {
        if (!p.direct) entries.push(...p.traces.filter((t) => t.name));
        entries.push(...p.bars.map((b) => ({...b, block: true})));
      }
      if (!p.aside) entries.push(...p.y_lines.filter(([name]) => name).map(([name]) => ({name, color: "var(--bad)", look: "lines", dots: true})));
    }
    const top = key(entries, 0, width, 0);
    const rightOf = (p) => Math.max(0, ...(p.direct ? p.traces.map((t) => wide(t.name || "")) : []), ...(p.aside ? p.y_lines.map(([name]) => wide(name)) : []));
    const right = Math.max(12, ...panels.map((p) => (rightOf(p) ? rightOf(p) + 16 : 0)));
    let left = 12, out = top.out, y = top.bottom + 4;
    for (const p of panels) {
      if (p.bars.length) {
        p.room = narrow ? width - 16 : Math.min(width * 0.42, Math.max(...p.labels.map((s) => wide(s))) + 4);
        p.rows = p.labels.map((s) => wrap(s, p.room));
        if (!narrow) left = Math.max(left, p.room + 10);
      } else if (p.lanes.length) { if (!narrow) left = Math.max(left, ...p.lanes.map((l) => wide(l.name) + 12)); }
      else {
        const s = scale(p.y, valuesOf(p, "y"), 100, 0);
        for (let most = 2; most < 8; most++) left = Math.max(left, ...s.ticks(most).map((v) => wide(s.text(v)) + 10));
      }
    }
    const plain = width - right, xs = scale(told.x, panels.flatMap((p) => valuesOf(p, "x")), left, plain, zoomed);
    const lasting = xs.along(width);
    // Names of bands and of lines across the x axis stand above the plot, in as many rows as they need.
    for (const p of panels) {
      const rows = [], middle = ([a, b, name]) => [name, (xs.back(Math.max(xs.px(a), left)) + xs.back(Math.min(xs.px(b), plain))) / 2];
      p.tops = [...p.bands.map(middle), ...p.x_lines].filter(([name]) => name).map(([name, v]) => {
        const lines = wrap(name, Math.min(width - 8, 320)), w = Math.max(...lines.map((s) => wide(s)));
        const at = Math.min(Math.max(xs.px(v), w / 2 + 2), width - w / 2 - 2);
        let row = rows.findIndex((taken) => taken.every(([a, b]) => at - w / 2 > b + 10 || at + w / 2 < a - 10));
        if (row < 0) row = rows.push([]) - 1;
        rows[row].push([at - w / 2, at + w / 2]);
        return {lines, at, row, v};
      });
      p.over = rows.length * LINE_PX * Math.max(1, ...p.tops.map((t) => t.lines.length)) + (rows.length ? 4 : 0);
    }
    const free = Math.max(told.height - y - 44 - panels.reduce((sum, p) => sum + p.over + 24, 0), 120 * panels.length);
    panels.forEach((p, i) => {
      const height = p.bars.length ? p.rows.reduce((sum, r) => sum + (narrow ? r.length * LINE_PX + 26 : Math.max(r.length * LINE_PX + 8, 28)), 8)
        : p.lanes.length ? p.lanes.length * (narrow ? 36 : 23) + 8 : free * (p.share || 1) / panels.reduce((sum, q) => sum + (q.lanes.length ? 0 : q.share || 1), 0);
      const drawn = panel(p, {left, right: plain, top: y, height, width, narrow, xs, lasting, targets, last: i === panels.length - 1});
      out += drawn.out;
      y = drawn.bottom + 14;
    });
    const [first, last] = [left, plain];
    for (const v of lasting) out += write(xs.px(v), y + 6, xs.text(v), {anchor: "middle", tone: "muted"});
    const title = wrap(xs.title, width - 8);
    out += writes(Math.min(Math.max((first + last) / 2, wide(title[0]) / 2), width - wide(title[0]) / 2), y + 25, title, {anchor: "middle", tone: "muted"});
    return {out, height: y + 16 + LINE_PX * title.length, targets, xs, left, right: plain};
  };
  const valuesOf = (p, which) => {
    const all = p.traces.flatMap((t) => t[which]);
    if (which === "y") return [...all, ...p.y_lines.map(([, v]) => v)];
    const sums = {};
    for (const b of p.bars) b.at.forEach((label, i) => {
      const from = b.start ? b.start[i] : sums[label] || 0;
      all.push(from, from + b.length[i]);
      if (!b.start) sums[label] = from + b.length[i];
    });
    return [...all, ...p.x_lines.map(([, v]) => v), ...p.lanes.flatMap((l) => l.x), ...p.shades.flat()];
  };

  let clips = 0;
  const panel = (p, g) => {
    const {left, right, xs, narrow, targets} = g;
    let y0 = g.top, out = "", data = "";
    if (p.y && p.y.title) {
      const s = p.lanes.length || p.bars.length ? {title: p.y.title} : scale(p.y, valuesOf(p, "y"), 100, 0);
      out += writes(0, y0 + 12, wrap(s.title, g.width), {tone: "muted"});
      y0 += 8 + LINE_PX * wrap(s.title, g.width).length;
    }
    for (const t of p.tops) out += writes(t.at, y0 + 11 + t.row * LINE_PX * t.lines.length, t.lines, {anchor: "middle", tone: "muted"});
    y0 += p.over;
    const y1 = y0 + g.height, clip = `clip${++clips}`;
    out += `<clipPath id="${clip}"><rect x="${left - PAD_PX}" y="${y0 - PAD_PX}" width="${right - left + 2 * PAD_PX}" height="${y1 - y0 + 2 * PAD_PX}"/></clipPath>`;
    const ys = p.bars.length || p.lanes.length ? null : scale(p.y, valuesOf(p, "y"), y1, y0);
    p.shades.forEach(([a, b]) => {
      const [x, w] = [xs.px(a), Math.max(xs.px(b) - xs.px(a), 1)];
      data += `<rect class="shade" x="${x.toFixed(1)}" y="${y0}" width="${w.toFixed(1)}" height="${y1 - y0}"/><rect class="mark" data-name="shade" x="${x.toFixed(1)}" y="${y0}" width="${w.toFixed(1)}" height="3" fill="var(--bad)"/>`;
    });
    p.bands.forEach(([a, b, name], i) => {
      const [x, e] = [Math.max(xs.px(a), left), Math.min(xs.px(b), right)];
      if (e <= x) return;
      if (i % 2) data += `<rect class="band" x="${x.toFixed(1)}" y="${y0}" width="${(e - x).toFixed(1)}" height="${y1 - y0}"/>`;
      if (i) data += `<path class="mark" data-name="edge of ${esc(name)}" d="M${x.toFixed(1)},${y0}V${y1}" fill="none" stroke="var(--muted)" stroke-dasharray="1 3"/>`;
    });
    let grid = g.lasting.map((v) => `<path class="grid" d="M${xs.px(v).toFixed(1)},${y0}V${y1}"/>`).join("");
    if (ys) {
      for (const v of ys.ticks(Math.max(2, Math.min(7, Math.floor(g.height / 26))))) {
        grid += `<path class="grid" d="M${left},${ys.px(v).toFixed(1)}H${right}"/>`;
        out += write(left - 8, ys.px(v) + 4, ys.text(v), {anchor: "end", tone: "muted"});
      }
      for (const [, v] of p.y_lines) data += `<path class="mark" data-name="line" d="M${left},${ys.px(v).toFixed(1)}H${right}" fill="none" stroke="var(--bad)" stroke-width="1.5" stroke-dasharray="2 4"/>`;
    }
    const lines = p.bars.length && narrow ? [] : p.x_lines;  // a narrow page has the bars' labels between them
    for (const [, v] of lines) data += `<path class="mark" data-name="line" d="M${xs.px(v).toFixed(1)},${y0 - 2}V${y1}" fill="none" stroke="var(--bad)" stroke-width="1.5" stroke-dasharray="2 4"/>`;
    if (ys) data += p.traces.map((t) => trace(t, xs, ys, targets, right - left)).join("");
    if (p.lanes.length) { const d = lanes(p, {...g, y0}); out += d.out; data += d.data; }
    if (p.bars.length) { const d = bars(p, {...g, y0}); out += d.out; data += d.data; }
    if (ys) out += aside(p, ys, xs, {...g, y0, y1});
    out = grid + `<path class="axis" d="M${left},${y1}H${right}"/>` + `<g clip-path="url(#${clip})">${data}</g>` + out;
    return {out, bottom: y1};
  };

  const trace = (t, xs, ys, targets, width) => {
    const points = t.x.map((x, i) => (x === null || t.y[i] === null || !Number.isFinite(xs.px(x)) || !Number.isFinite(ys.px(t.y[i])) ? null : [xs.px(x), ys.px(t.y[i])]));
    let out = "";
    if (t.below) {  // a stretch between two lines
      const there = points.map((p, i) => [p, [xs.px(t.x[i]), ys.px(t.below[i])]]).filter(([p]) => p);
      const up = thin(there.map(([p]) => p), width), down = thin(there.map(([, q]) => q), width).reverse();
      return `<path d="${stroke([...up, ...down])}Z" fill="${t.color}" fill-opacity="0.22"/>`;
    }
    if (t.look.includes("lines")) out += `<path class="mark" data-name="${esc(t.name)}" d="${stroke(thin(points, width), t.step)}" fill="none" stroke="${t.color}" stroke-width="${t.width || 2}" stroke-linejoin="round" ${dashes(t)}/>`;
    const inside = points.map((p, i) => [p, i]).filter(([p]) => p && p[0] >= xs.from - PAD_PX && p[0] <= xs.to + PAD_PX);
    if (t.look.includes("markers")) out += marks(t, inside.map(([p, i]) => [...p, t.rings ? t.rings[i] : 0]));
    if (!t.quiet) for (const [p, i] of inside) targets.push([...p, () => [t.name, `${show(t.x[i], xs.axis.unit, xs.axis.unit ? 4 : 9)}${xs.axis.after || ""}, ${show(t.y[i], ys.axis.unit)}${ys.axis.after || ""}`, t.text ? t.text[i] : ""]]);
    return out;
  };
  const aside = (p, ys, xs, g) => {
    const labels = [];
    if (p.direct) for (const t of p.traces) {
      let i = t.x.length - 1;
      while (i >= 0 && (t.y[i] === null || t.x[i] === null)) i--;
      if (i >= 0 && t.name) labels.push({name: t.name, x: Math.min(xs.px(t.x[i]), g.right), y: ys.px(t.y[i]), color: t.color, t});
    }
    if (p.aside) for (const [name, v] of p.y_lines) if (name) labels.push({name, x: g.right, y: ys.px(v), color: "var(--bad)"});
    return spread(labels, g.y0, g.y1).map((l) =>
      `<path class="leader" d="M${(l.x + 3).toFixed(1)},${l.y.toFixed(1)}L${g.right + 4},${l.at.toFixed(1)}h6" stroke="${l.color}"/>` + write(g.right + 13, l.at + 4, l.name)).join("");
  };

  const lanes = (p, g) => {
    let out = "", data = "";
    p.lanes.forEach((l, i) => {
      const y = g.narrow ? g.y0 + 4 + i * 36 + 26 : g.y0 + 4 + i * 23 + 11;
      out += g.narrow ? write(g.left, y - 12, l.name, {tone: "muted"}) : write(g.left - 10, y + 4, l.name, {anchor: "end", tone: "muted"});
      const inside = l.x.filter((v) => g.xs.px(v) >= g.left - 1 && g.xs.px(v) <= g.right + 1);
      data += marks({...l, size: 8}, inside.map((v) => [g.xs.px(v), y, 0]));
      for (const v of inside) g.targets.push([g.xs.px(v), y, () => [l.name, `${plain(v, 9)}${g.xs.axis.after || ""}`, ""]]);
    });
    return {out, data};
  };

  const bars = (p, g) => {
    let out = "", data = "", y = g.y0 + 6;
    const place = new Map(), ends = new Map();
    p.labels.forEach((label, i) => {
      const lines = p.rows[i], row = g.narrow ? lines.length * LINE_PX + 26 : Math.max(lines.length * LINE_PX + 8, 28);
      out += g.narrow ? writes(g.left, y + 11, lines) : writes(g.left - 10, y + row / 2 + 4 - (lines.length - 1) * LINE_PX / 2, lines, {anchor: "end"});
      place.set(label, g.narrow ? y + lines.length * LINE_PX + 1 : y + row / 2 - 9);
      if (g.narrow) for (const [, v] of p.x_lines) data += `<path class="mark" data-name="line" d="M${g.xs.px(v).toFixed(1)},${place.get(label)}v18" fill="none" stroke="var(--bad)" stroke-width="1.5" stroke-dasharray="2 4"/>`;
      y += row;
    });
    for (const b of p.bars) b.at.forEach((label, i) => {
      const from = b.start ? b.start[i] : ends.get(label) || 0, to = from + b.length[i];
      if (!b.start) ends.set(label, to);
      const [x, e] = [g.xs.px(from), g.xs.px(to)].sort((u, v) => u - v), top = place.get(label);
      if (!b.length[i]) return;
      data += `<rect class="mark" data-name="${esc(b.name)}" x="${x.toFixed(1)}" y="${top}" width="${Math.max(e - x, 1).toFixed(1)}" height="18" fill="${b.color}"/>`;
      const value = b.start ? to : b.length[i];
      g.targets.push([(x + e) / 2, top + 9, () => [b.name, label, `${show(value, g.xs.axis.unit)}${g.xs.axis.after || ""}`], [x, top, e, top + 18]]);
      if (b.text && b.text[i]) {
        const w = wide(b.text[i]), beside = e + 6 + w <= g.width;
        out += beside ? write(e + 6, top + 13, b.text[i]) : `<text x="${(e - 6).toFixed(1)}" y="${top + 13}" text-anchor="end" style="fill:${b.ink}">${esc(b.text[i])}</text>`;
      }
    });
    return {out, data};
  };

  // --- Flows: where it came from, one store, where it went; each ribbon as thick as its share.
  const flows = (told, width) => {
    const node = 12, side = width * (width < NARROW_PX ? 0.36 : 0.28), targets = [];
    const hubX = Math.round(width * (width < NARROW_PX ? 0.42 : 0.4)), room = width - hubX - 2 * node - 40;
    const label = ([name, value], px) => wrap(`${name} ·\u00a0${show(value, told.unit, 3)}`, px);
    const columns = [told.sources.map((s) => ({s, lines: label(s, side)})), told.uses.map((s) => ({s, lines: label(s, room)}))];
    const total = Math.max(...columns.map((c) => c.reduce((sum, n) => sum + n.s[1], 0))) || 1;
    const need = (n, k) => Math.max(n.s[1] * k, n.lines.length * LINE_PX + 5);
    const k = Math.max(told.height - 60 - columns[1].reduce((sum, n) => sum + n.lines.length * LINE_PX, 0), 120) / total;
    const heights = columns.map((c) => c.reduce((sum, n) => sum + need(n, k), 0)), H = Math.max(...heights, total * k);
    let out = writes(Math.min(hubX + node / 2, width - 80), 12, [told.hub], {anchor: "middle", tone: "muted"}), ribbons = "";
    const hubTop = 22 + (H - total * k) / 2;
    columns.forEach((c, right) => {
      let y = 22 + (H - heights[right]) / 2, at = hubTop;
      for (const n of c) {
        const h = Math.max(n.s[1] * k, 1.2), slot = need(n, k), top = y + (slot - h) / 2, x = right ? width - node : 0;
        const [a, b, u, v] = right ? [hubX + node, width - node, at, top] : [node, hubX, top, at], m = (a + b) / 2, f = (w) => w.toFixed(1);
        ribbons += `<path class="flow" d="M${a},${f(u)}C${f(m)},${f(u)} ${f(m)},${f(v)} ${b},${f(v)}v${f(h)}C${f(m)},${f(v + h)} ${f(m)},${f(u + h)} ${a},${f(u + h)}Z" fill="${n.s[2]}"/>`;
        out += `<rect class="mark" data-name="${esc(n.s[0])}" x="${x}" y="${f(top)}" width="${node}" height="${f(h)}" fill="${n.s[2]}"/>`
          + writes(right ? width - node - 8 : node + 8, y + slot / 2 + 4 - (n.lines.length - 1) * LINE_PX / 2, n.lines, {anchor: right ? "end" : "start"});
        targets.push([x, y + slot / 2, () => [n.s[0], show(n.s[1], told.unit), `${plain(100 * n.s[1] / total, 3)} %`], [Math.min(a, x), y, Math.max(b, x + node), y + slot]]);
        y += slot;
        at += n.s[1] * k;
      }
    });
    out += `<rect class="mark" data-name="${esc(told.hub)}" x="${hubX}" y="${hubTop}" width="${node}" height="${total * k}" fill="${told.color}"/>`;
    return {out: ribbons + out, height: 22 + H + 8, targets};
  };

  // --- What a pointer or the keys do.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const point = (lines, e) => {
    tip.hidden = !lines;
    if (!lines) return;
    tip.replaceChildren(...lines.filter(Boolean).map((s, i) => Object.assign(document.createElement(i ? "div" : "b"), {textContent: s})));
    tip.style.left = `${Math.max(4, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${e.clientY + 16 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 12 : e.clientY + 16}px`;
  };
  const nearest = (targets, x, y) => {
    let best = null, least = NEAR_PX ** 2;
    for (const t of targets) {
      if (t[3] && x >= t[3][0] && x <= t[3][2] && y >= t[3][1] && y <= t[3][3]) return t;
      const d = t[3] ? Infinity : (t[0] - x) ** 2 + (t[1] - y) ** 2;
      if (d < least) [best, least] = [t, d];
    }
    return best;
  };
  const put = (one) => {
    const [id, told] = one.told, box = document.getElementById(id), width = box.clientWidth;
    if (!width) return;
    one.width = width;
    const d = told.kind === "flows" ? flows(told, width) : chart(told, width, one.zoomed);
    one.drawn = d;
    box.innerHTML = `<svg class="picture" width="${width}" height="${Math.ceil(d.height)}" role="img" aria-label="${esc(told.name)}"${told.zoom ? ' tabindex="0"' : ""}>${d.out}</svg>`
      + (one.zoomed ? '<button type="button" class="whole">whole range</button>' : "");
    box.querySelector(".whole")?.addEventListener("click", () => zoom(one, null));
    listen(one, box.firstElementChild);
  };
  const zoom = (one, range) => { one.zoomed = range; put(one); };
  const listen = (one, svg) => {
    const {told: [, told], drawn: d} = one, at = (e) => [e.clientX - svg.getBoundingClientRect().left, e.clientY - svg.getBoundingClientRect().top];
    let from = null, pane = null;
    svg.addEventListener("pointermove", (e) => {
      const [x, y] = at(e);
      if (pane) { pane.setAttribute("x", Math.min(from, x)); pane.setAttribute("width", Math.abs(x - from)); return point(null); }
      const t = nearest(d.targets, x, y);
      point(t && t[2](), e);
    });
    svg.addEventListener("pointerleave", () => point(null));
    if (!told.zoom) return;
    const {xs} = d, whole = scale(told.x, told.panels.flatMap((p) => valuesOf({traces: [], bars: [], x_lines: [], lanes: [], shades: [], ...p}, "x")), 0, 1);
    const within = (a, b) => (b - a >= whole.high - whole.low ? null : [Math.max(a, whole.low), Math.min(b, whole.high)]);
    svg.addEventListener("pointerdown", (e) => {
      if (e.pointerType !== "mouse") return;
      from = at(e)[0];
      svg.setPointerCapture(e.pointerId);
      pane = document.createElementNS(svg.namespaceURI, "rect");
      for (const [k, v] of Object.entries({class: "shade", x: from, y: 0, width: 0, height: d.height})) pane.setAttribute(k, v);
      svg.append(pane);
    });
    svg.addEventListener("pointerup", (e) => {
      if (!pane) return;
      const [a, b] = [from, at(e)[0]].sort((u, v) => u - v).map((x) => Math.min(Math.max(x, d.left), d.right));
      pane.remove();
      pane = null;
      if (b - a > 6) zoom(one, [xs.back(a), xs.back(b)]);
    });
    svg.addEventListener("dblclick", () => zoom(one, null));
    svg.addEventListener("keydown", (e) => {
      const span = xs.high - xs.low, mid = (xs.low + xs.high) / 2;
      const to = {"+": [mid - span / 4, mid + span / 4], "-": [mid - span, mid + span], 0: null,
        ArrowLeft: [xs.low - span / 4, xs.high - span / 4], ArrowRight: [xs.low + span / 4, xs.high + span / 4]};
      if (!(e.key in to)) return;
      e.preventDefault();
      zoom(one, to[e.key] && within(...to[e.key]));
      document.getElementById(one.told[0]).firstElementChild.focus();
    });
  };
  // Flame graphs bring their own drawing; a frame's title stands under the pointer at once.
  for (const svg of document.querySelectorAll("svg.flame")) {
    svg.addEventListener("pointermove", (e) => point(e.target.closest("g")?.querySelector("title")?.textContent.split("\n"), e));
    svg.addEventListener("pointerleave", () => point(null));
  }
  const all = figures.splice(0).map((told) => ({told, zoomed: null}));
  const seen = new ResizeObserver((entries) => {
    for (const {target} of entries) {
      const one = all.find((o) => o.told[0] === target.id);
      if (one.width !== target.clientWidth) put(one);
    }
  });
  for (const one of all) seen.observe(document.getElementById(one.told[0]));
  all.forEach(put);
})();
