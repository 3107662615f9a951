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
  const draw = () => {
    const next = figures.shift();
    if (!next) return;
    Plotly.newPlot(...next).then((g) => { if (dark.matches) paint(g); setTimeout(draw); });
  };
  draw();
})();
