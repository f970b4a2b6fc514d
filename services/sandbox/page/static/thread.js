// The thread: a lane for each topic, a knot for each record, and the thread that runs through them in time.

import { byId, svg } from "./dom.js";

const LANE = 19;
const GUTTER = 84;
const RIGHT = 14;
const LATE = 8;
const AXIS = 20;
const ALWAYS = ["inbox", "generations", "prompts", "claims", "raw", "deliveries", "turns"];

export class Thread {
  constructor(onKnot) {
    this.onKnot = onKnot;
    this.knots = new Map();
    this.place = byId("thread");
  }

  draw(turn, rows, topics) {
    const used = new Set(rows.map((row) => row.topic));
    const lanes = topics.filter((topic) => used.has(topic) || ALWAYS.includes(topic));
    const width = Math.max(260, this.place.parentElement.clientWidth);
    const height = lanes.length * LANE + AXIS;
    const whole = Math.max(1, turn.last_ms - turn.began_ms);
    const x = (row) => {
      // What was written after the turn's end stands past the axis, however much later it was.
      if (row.at_ms > turn.last_ms) return width - RIGHT + LATE;
      return GUTTER + ((width - GUTTER - RIGHT) * Math.max(0, row.at_ms - turn.began_ms)) / whole;
    };
    const y = (topic) => (lanes.indexOf(topic) + 0.5) * LANE;
    const at = (row) => [x(row), y(row.topic)];
    this.knots = new Map(rows.map((row) => [row.key, this.knot(row, x(row), y(row.topic), rows.length)]));
    this.place.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.place.setAttribute("width", width);
    this.place.setAttribute("height", height);
    this.place.replaceChildren(
      ...ticks(whole).map((ms) => tick(ms, GUTTER + ((width - GUTTER - RIGHT) * ms) / whole, height)),
      ...lanes.map((topic) => lane(topic, y(topic), width)),
      svg("path", { class: "thrum", opacity: thin(rows.length), d: yarn(rows.map(at)) }),
      svg("path", { class: "yarn", d: yarn(rows.filter(leading()).map(at)) }),
      ...this.knots.values(),
    );
  }

  knot(row, cx, cy, rows) {
    return svg(
      "circle",
      { class: "knot", cx: cx.toFixed(1), cy, r: rows > 120 ? 2.6 : 3.4, "data-topic": row.topic, onclick: () => this.onKnot(row.key) },
      svg("title", {}, `${row.topic} ${row.partition}/${row.offset} ${row.type}`),
    );
  }

  mark(key, on) {
    this.knots.get(key)?.classList.toggle("marked", on);
  }
}

function lane(topic, y, width) {
  return svg(
    "g",
    { class: "lane", "data-topic": topic },
    svg("text", { x: GUTTER - 12, y: y + 3.5, "text-anchor": "end" }, topic),
    svg("line", { x1: GUTTER - 4, x2: width - 4, y1: y, y2: y }),
  );
}

function tick(ms, x, height) {
  return svg(
    "g",
    { class: "tick" },
    svg("line", { x1: x, x2: x, y1: 0, y2: height - AXIS + 4 }),
    svg("text", { x, y: height - 4, "text-anchor": "middle" }, ms < 1000 ? `${ms}` : `${ms / 1000} s`),
  );
}

// About four round numbers of milliseconds between 0 and the whole.
function ticks(whole) {
  const rough = whole / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, unit * [1, 2, 5, 10].find((factor) => unit * factor >= rough));
  const found = [];
  for (let ms = 0; ms <= whole; ms += step) found.push(ms);
  return found;
}

// All records wind a fine thread, which many of them would make a wall of.
function thin(count) {
  return Math.max(0.1, Math.min(0.5, 18 / Math.max(1, count))).toFixed(2);
}

// The strong thread runs through what leads on: of the many slices and batches of a stream only the first and the last.
function leading() {
  const seen = new Set();
  return (row) => {
    if (row.type === "ChannelSnapshot" || row.type === "Typing" || row.type === "ClearStopButton") return false;
    if (row.type !== "RawSlice" && row.type !== "ChunkBatch") return true;
    const stage = `${row.type} ${row.generation}`;
    return !seen.has(stage) && seen.add(stage);
  };
}

// The thread leaves and meets each knot along its lane, as thread lies on a spool.
function yarn(points) {
  return points
    .map(([x, y], index) => {
      if (index === 0) return `M${x.toFixed(1)} ${y}`;
      const [beforeX, beforeY] = points[index - 1];
      const pull = Math.max(5, (x - beforeX) / 2);
      return `C${(beforeX + pull).toFixed(1)} ${beforeY} ${(x - pull).toFixed(1)} ${y} ${x.toFixed(1)} ${y}`;
    })
    .join("");
}
