// SPDX-License-Identifier: MIT OR Apache-2.0
// Faults of the pictures that a page shows, from bounding boxes: labels over labels, labels over data, labels and
// marks that are cut off, and contrast below 4.5:1 (text) or 3:1 (marks). Answers a list of sentences.
() => {
  const found = [];
  const say = (kind, ...what) => found.push(`${kind}: ${what.map((w) => JSON.stringify(w)).join(", ")}`);
  const shown = (e) => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const box = (e) => e.getBoundingClientRect();
  const SLACK_PX = 1;  // what rounding moves
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK_PX
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK_PX;

  // --- Colours: WCAG 2.2, relative luminance and contrast ratio.
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const rgba = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, [r, g, b, a / 255]);
    }
    return known.get(color);
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const luminance = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const opacity = (e) => { let o = 1; for (; e; e = e.parentElement) o *= +getComputedStyle(e).opacity; return o; };
  const paper = (e) => {
    let stack = [];
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c[3] > 0) stack.push(c);
      if (c[3] === 1) break;
    }
    const plain = matchMedia("(prefers-color-scheme: dark)").matches && document.contentType === "text/html"
      && getComputedStyle(document.documentElement).colorScheme.includes("dark") ? [18, 18, 18] : [255, 255, 255];
    return stack.reduceRight((under, c) => over(c, under), plain);
  };
  const painted = (e, what) => {
    const style = getComputedStyle(e);
    if (style[what] === "none" || style[what].startsWith("url")) return null;
    const [r, g, b, a] = rgba(style[what]);
    return [r, g, b, a * style[`${what}Opacity`] * opacity(e)];
  };

  // --- What a picture holds.
  const MARK = ".mark, [id^=mark] path, [id^=mark] use";  // the page's own, and matplotlib's by their gid
  const LINE = "path.mark, [id^=mark] path";
  const numbers = (d) => [...d.matchAll(/([MLHVZ])([^MLHVZ]*)/gi)];
  const segments = (path) => {  // of a path of straight lines, in pixels of the window
    const told = path.getAttribute("d") || "", to = path.getScreenCTM(), all = [];
    let at = null, x = 0, y = 0;
    for (const [, letter, rest] of numbers(told)) {
      const v = (rest.match(/-?[\d.]+(?:e[-+]?\d+)?/gi) || []).map(Number);
      if (letter === "M") at = null;
      const step = letter === "H" || letter === "V" ? 1 : 2;
      for (let i = 0; i + step <= v.length; i += step) {
        if (letter === "H") x = v[i]; else if (letter === "V") y = v[i]; else [x, y] = [v[i], v[i + 1]];
        const next = new DOMPoint(x, y).matrixTransform(to);
        if (at) all.push([at, next]);
        at = next;
      }
    }
    return all;
  };
  const crosses = ([a, b], r) => {  // Liang and Barsky 1984
    let [from, to] = [0, 1];
    for (const [d, q] of [[a.x - b.x, a.x - r.left], [b.x - a.x, r.right - a.x],
                          [a.y - b.y, a.y - r.top], [b.y - a.y, r.bottom - a.y]]) {
      if (d === 0) { if (q < 0) return false; } else if (d < 0) from = Math.max(from, q / d); else to = Math.min(to, q / d);
      if (from > to) return false;
    }
    return true;
  };
  const fills = (p, r) => p.tagName === "rect" || [0.1, 0.5, 0.9].some((part) => p.isPointInFill(
    new DOMPoint(r.left + part * r.width, (r.top + r.bottom) / 2).matrixTransform(p.getScreenCTM().inverse())));
  const inner = (r) => ({left: r.left + 2, right: r.right - 2, top: r.top + 3, bottom: r.bottom - 3});

  const pictures = document.documentElement.tagName === "svg" ? [document.documentElement]
    : [...new Set([...document.querySelectorAll("svg")].filter((s) => shown(s) && !s.parentElement.closest("svg")))];
  for (const picture of pictures) {
    const frame = box(picture), words = (e) => e.textContent.trim().slice(0, 60);
    // Where a picture scrolls, what the reader sees at first is what the scrolled box lets through.
    let seen = {left: Math.max(frame.left, 0), right: Math.min(frame.right, innerWidth), top: frame.top, bottom: frame.bottom};
    for (let e = picture.parentElement; e; e = e.parentElement) {
      if (getComputedStyle(e).overflowX === "visible") continue;
      const r = box(e);
      seen = {...seen, left: Math.max(seen.left, r.left), right: Math.min(seen.right, r.right)};
    }
    const out = (r) => r.left < seen.left - SLACK_PX || r.right > seen.right + SLACK_PX
      || r.top < seen.top - SLACK_PX || r.bottom > seen.bottom + SLACK_PX;
    const texts = [...picture.querySelectorAll("text")].filter((t) => shown(t) && words(t))
      .map((e) => ({e, r: box(e)})).filter(({r}) => r.width > 0);
    for (const {e, r} of texts) if (out(r)) say("a label is cut off", words(e));
    for (let i = 0; i < texts.length; i++) {
      for (let j = i + 1; j < texts.length; j++) {
        if (meet(texts[i].r, texts[j].r)) say("labels overlap", words(texts[i].e), words(texts[j].e));
      }
    }
    const marks = [...picture.querySelectorAll(MARK)].filter((m) => shown(m) && !m.closest("defs"));
    const name = (m) => (m.closest("[data-name]") || m).getAttribute("data-name") || m.closest("[id]")?.id || m.tagName;
    for (const m of marks) {
      const cut = m.closest("[clip-path]"), r = box(m);
      if (out(r)) say("a mark is cut off", name(m));
      const pane = cut && document.querySelector(`${cut.getAttribute("clip-path").match(/#[^)"]+/)[0]} rect`);
      if (!pane) continue;
      const [a, b] = [[0, 0], ["width", "height"].map((k) => +pane.getAttribute(k))].map(([x, y]) =>
        new DOMPoint(+pane.getAttribute("x") + x, +pane.getAttribute("y") + y).matrixTransform(picture.getScreenCTM()));
      if (r.left < a.x - SLACK_PX || r.right > b.x + SLACK_PX || r.top < a.y - SLACK_PX || r.bottom > b.y + SLACK_PX) {
        say("a mark is cut off by its axes", name(m));
      }
    }
    const lines = [...picture.querySelectorAll(LINE)].filter((m) => shown(m) && !m.closest("defs") && getComputedStyle(m).fill === "none"
      && getComputedStyle(m).stroke !== "none");
    for (const m of lines) {
      const near = texts.filter(({r}) => meet(r, box(m)) || box(m).height < 2 || box(m).width < 2);
      if (!near.length) continue;
      const all = segments(m);
      for (const {e, r} of near) if (all.some((s) => crosses(s, inner(r)))) say("a label lies over data", words(e), name(m));
    }
    // Marks small enough to be points: a label over one hides it.
    for (const m of marks) {
      const r = box(m);
      if (r.width > 20 || r.height > 20 || m.closest(".key")) continue;
      for (const t of texts) if (meet(inner(t.r), r)) say("a label lies over data", words(t.e), name(m));
    }
    const ground = paper(picture);
    const told = new Set();
    for (const m of marks) {
      const best = Math.max(...["fill", "stroke"].map((what) => painted(m, what)).filter((c) => c && c[3] > 0)
        .map((c) => contrast(over(c, ground), ground)));
      const key = name(m);
      if (best < 3 && !told.has(key)) { told.add(key); say("a mark has little contrast", key, best.toFixed(2)); }
    }
    for (const {e, r} of texts) {
      // What is painted under the middle of a label, the lowest first.
      const under = [...picture.querySelectorAll("rect, path.flow, [id^=mark-use] path")].filter((p) => shown(p)
        && p.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING && meet(box(p), r) && fills(p, r)
        && !p.closest("defs, clipPath"))
        .map((p) => painted(p, "fill")).filter((c) => c && c[3] > 0);
      const back = under.reduce((b, c) => over(c, b), ground);
      const ink = painted(e, "fill");
      const ratio = ink ? contrast(over(ink, back), back) : 1;
      if (ratio < 4.5) say("a label has little contrast", words(e), ratio.toFixed(2));
    }
  }
  if (document.documentElement.tagName !== "svg") {
    if (document.documentElement.scrollWidth > innerWidth) say("the page is wider than the screen", document.documentElement.scrollWidth);
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), told = new Set();
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const e = node.parentElement;
      if (!node.data.trim() || !shown(e) || e.closest("svg, script, style")) continue;
      const back = paper(e), [r, g, b, a] = rgba(getComputedStyle(e).color);
      const ratio = contrast(over([r, g, b, a * opacity(e)], back), back);
      const key = `${e.tagName}.${e.className}`;
      if (ratio < 4.5 && !told.has(key)) { told.add(key); say("text has little contrast", node.data.trim().slice(0, 40), ratio.toFixed(2)); }
    }
  }
  return found;
}
