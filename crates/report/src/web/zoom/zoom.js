// The history of a series, to be enlarged: drawn of the points that the page has in itself. Without this script the page has
// the same as pictures and tables.
"use strict";
(() => {
  const place = document.getElementById("zoom");
  const given = document.getElementById("whole");
  if (!place || !given || typeof uPlot !== "function") return;
  const { index, entry, time, value, changes, levels, reach, unit, divisor, byTime, to } = JSON.parse(given.textContent);
  if (value.length < 2) return;
  const said = place.querySelector("[aria-live]");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const x = byTime ? time : index.map((at) => at + 1);
  // A few values far beyond all others are drawn at the edge.
  const y = value.map((one) => Math.min(Math.max(one, reach[0]), reach[1]) / divisor);
  // The level of each point: levels are named by places among all points.
  const level = index.map((at) => {
    const of = levels.find(([first, last]) => first <= at && at <= last);
    return of ? of[2] / divisor : null;
  });
  const digits = (number) => Number(number.toPrecision(6)).toString();
  const utc = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  // All times of the site are of UTC. Ticks less than a day apart have the time of day.
  const times = (_, ticks, __, ___, step) => ticks.map((at) => utc(at).slice(0, step < 86400 ? 16 : 10));
  const shown = (number) => `${digits(number)} ${unit}`.trim();
  const words = (at) => `point ${index[at] + 1}, ${utc(time[at])}: ${shown(value[at] / divisor)}`;
  const open = (at) => { location.href = to.replace("#", entry[at]); };
  const steps = (chart) => {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = colour("--text");
    ctx.setLineDash([4, 4]);
    for (const at of changes) {
      const near = index.findIndex((one) => one >= at);
      if (near < 0) continue;
      const left = chart.valToPos(x[near], "x", true);
      if (left < bbox.left || left > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(left, bbox.top);
      ctx.lineTo(left, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
  let chart = null;
  const draw = () => {
    const range = chart && [chart.scales.x.min, chart.scales.x.max];
    if (chart) chart.destroy();
    const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    chart = new uPlot({
      width: Math.max(280, place.clientWidth),
      height: 300,
      legend: { show: false },
      scales: { x: { time: byTime } },
      cursor: { drag: { x: true, y: false }, focus: { prox: 30 } },
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
      axes: [{ ...axis, ...(byTime ? { values: times, space: 110 } : {}) }, { ...axis, size: 84, values: (_, numbers) => numbers.map(shown) }],
      series: [
        {},
        { stroke: colour("--s0"), paths: () => null, points: { show: true, size: 5, fill: colour("--s0") } },
        { stroke: colour("--text"), width: 1.6, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } },
      ],
      hooks: {
        drawSeries: [(chart, series) => { if (series === 2) steps(chart); }],
        setCursor: [(chart) => { if (chart.cursor.idx != null) said.textContent = words(chart.cursor.idx); }],
      },
    }, [x, y, level], place.querySelector("figure"));
    if (range) chart.setScale("x", { min: range[0], max: range[1] });
    let down = 0;
    chart.over.addEventListener("mousedown", (event) => { down = event.clientX; });
    chart.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) < 3 && chart.cursor.idx != null) open(chart.cursor.idx);
    });
  };
  place.hidden = false;
  draw();
  new ResizeObserver(() => {
    const width = Math.max(280, place.clientWidth);
    if (width !== chart.width) chart.setSize({ width, height: 300 });
  }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  // By keyboard: one point further, nearer, further away, all of it, and the record of the point.
  let at = value.length - 1;
  const enlarge = (by) => {
    const { min, max } = chart.scales.x;
    const half = ((max - min) * by) / 2;
    chart.setScale("x", { min: x[at] - half, max: x[at] + half });
  };
  const all = () => chart.setScale("x", { min: x[0], max: x[x.length - 1] });
  const show = (next) => {
    at = Math.min(value.length - 1, Math.max(0, next));
    chart.setCursor({ left: chart.valToPos(x[at], "x"), top: chart.valToPos(y[at], "y") });
    said.textContent = words(at);
  };
  const keys = {
    ArrowLeft: () => show(at - 1),
    ArrowRight: () => show(at + 1),
    Home: () => show(0),
    End: () => show(value.length - 1),
    "+": () => enlarge(0.5),
    "-": () => enlarge(2),
    0: all,
    Enter: () => open(at),
  };
  place.querySelector("figure").addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
})();
