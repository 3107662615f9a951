// Pictures are drawn one after the other, so that a page of a hundred can be read at once. They take the page's
// colours, and take them again when the reader changes between light and dark.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const paint = (g) => {
    const ink = of("--ink"), muted = of("--muted"), grid = of("--grid");
    const to = {"font.color": ink};
    for (const key of Object.keys(g._fullLayout)) {
      if (/^[xy]axis\d*$/.test(key)) {
        Object.assign(to, {[key + ".gridcolor"]: grid, [key + ".zerolinecolor"]: grid,
                           [key + ".linecolor"]: muted, [key + ".tickcolor"]: muted});
      }
    }
    (g.layout.annotations || []).forEach((_, i) => { to["annotations[" + i + "].font.color"] = muted; });
    Plotly.relayout(g, to);
    if (g.data.some((t) => t.type === "sankey")) Plotly.restyle(g, {"textfont.color": ink});
  };
  dark.addEventListener("change", () => document.querySelectorAll(".js-plotly-plot").forEach(paint));
  const NARROW = 560;
  // A narrow page: small letters, long labels in lines of their own, few ticks. Flows keep their width and scroll.
  const fit = ([id, data, layout]) => {
    const box = document.getElementById(id);
    if (data.some((t) => t.type === "sankey" || t.type === "icicle")) { box.style.minWidth = "640px"; return; }
    if (box.clientWidth >= NARROW) return;
    const lines = (s) => s.split(", ").map((p) => p.length > 24 ? p.replace(" to ", "<br>to ") : p).join(",<br>");
    const broken = (s) => typeof s === "string" && s.length > 16 ? lines(s) : s;
    layout.font = {...layout.font, size: 10};
    layout.margin = {...layout.margin, l: 8, r: 8};
    for (const trace of data) {
      if (!Array.isArray(trace.y) || typeof trace.y[0] !== "string") continue;
      trace.y = trace.y.map(broken);
      box.style.height = Math.max(box.clientHeight, 30 * new Set(trace.y).size + 140) + "px";
    }
    for (const key of Object.keys(layout)) {
      if (!/^[xy]axis\d*$/.test(key)) continue;
      const axis = layout[key];
      axis.automargin = true;
      if (Array.isArray(axis.categoryarray)) axis.categoryarray = axis.categoryarray.map(broken);
      if (axis.title) axis.title = {...axis.title, font: {...axis.title.font, size: 10}};
      if (axis.dtick && key[0] === "x") { delete axis.dtick; axis.nticks = 5; }
    }
  };
  const narrow = (id) => document.getElementById(id).clientWidth < NARROW;
  const drawn = [];
  const put = (one) => {
    const [id, data, layout, config] = one;
    const own = structuredClone([id, data, layout]);
    one.narrow = narrow(id);
    fit(own);
    return Plotly.react(...own, config).then((g) => { if (dark.matches) paint(g); });
  };
  const draw = () => {
    const next = figures.shift();
    if (!next) return;
    drawn.push(next);
    put(next).then(() => setTimeout(draw));
  };
  addEventListener("resize", () => {
    for (const one of drawn) if (narrow(one[0]) !== one.narrow) put(one);
  });
  draw();
})();
