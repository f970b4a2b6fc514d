// The spool: which turn is shown, and its records in the order of their time.

import { byId, el, keepingEnd } from "./dom.js";
import { detail } from "./detail.js";
import { Hops } from "./hops.js";
import { Runs } from "./runs.js";
import { Thread } from "./thread.js";

const TURNS = 50;
// Records of the same millisecond are shown in the order in which topics lead to each other.
const TOPICS = [
  "inbox", "control", "generations", "prompts", "claims", "raw", "deliveries", "turns", "channels", "dead-letters",
];

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export class Spool {
  constructor() {
    this.turns = new Map();
    this.chosen = null;
    this.rows = [];
    this.keys = new Set();
    this.arrived = [];
    this.list = byId("records");
    this.box = byId("records-scroll");
    this.thread = new Thread((key) => this.open(key));
    this.hops = new Hops();
    this.runs = new Runs(() => this.later());
    byId("turn").addEventListener("change", (event) => {
      byId("follow").checked = event.target.value === this.newest()?.turn;
      this.choose(event.target.value);
    });
    byId("follow").addEventListener("change", () => this.keepUp());
    byId("fold").addEventListener("change", () => {
      this.runs.reset();
      this.later();
    });
    byId("copy-turn").addEventListener("click", () => this.copyId());
    new ResizeObserver(() => this.later()).observe(byId("thread").parentElement);
  }

  // What the server has. After a break it may be another server's, so nothing of before is kept.
  reset(turns) {
    this.turns = new Map(turns.map((turn) => [turn.turn, turn]));
    if (!this.turns.has(this.chosen)) byId("follow").checked = true;
    const chosen = byId("follow").checked ? this.newest()?.turn ?? null : this.chosen;
    this.chosen = null;
    this.choose(chosen);
  }

  add({ turn, row }) {
    this.turns.set(turn.turn, turn);
    if (this.turns.size > TURNS) {
      const oldest = [...this.turns.values()].reduce((a, b) => (b.began_ms < a.began_ms ? b : a));
      this.turns.delete(oldest.turn);
    }
    this.keepUp();
    if (row && turn.turn === this.chosen) this.arrived.push(row);
    this.later();
  }

  newest() {
    let found = null;
    for (const turn of this.turns.values()) if (found === null || turn.began_ms > found.began_ms) found = turn;
    return found;
  }

  keepUp() {
    const newest = this.newest();
    if (byId("follow").checked && newest && newest.turn !== this.chosen) this.choose(newest.turn);
  }

  async choose(name) {
    if (name === this.chosen && name !== null) return;
    this.chosen = name;
    this.rows = [];
    this.keys = new Set();
    this.arrived = [];
    this.runs.reset();
    this.list.replaceChildren();
    this.later();
    if (name === null) return;
    const answer = await fetch(`/turns/${encodeURIComponent(name)}`);
    if (!answer.ok || this.chosen !== name) return;
    const { rows } = await answer.json();
    for (const row of rows) this.insert(row);
    const running = ["waiting", "running"].includes(this.turns.get(name)?.status);
    this.box.scrollTop = running ? this.box.scrollHeight : 0;
    this.later();
  }

  insert(row) {
    if (this.keys.has(row.key)) return;
    this.keys.add(row.key);
    let index = this.rows.length;
    while (index > 0 && before(row, this.rows[index - 1])) index -= 1;
    this.rows.splice(index, 0, row);
    this.list.insertBefore(this.element(row), this.list.children[index] ?? null);
  }

  element(row) {
    const place = `${row.partition}/${row.offset}`;
    const number = [row.generation === null ? "" : `g${row.generation}`, row.sequence === null ? "" : `#${row.sequence}`];
    const line = el(
      "button",
      { type: "button", class: "line", "aria-expanded": "false", onclick: () => this.toggle(row.key) },
      el("span", { class: "age" }),
      el("span", { class: "topic" }, row.topic),
      el("span", { class: "place" }, place),
      el("span", { class: "type" }, row.type),
      el("span", { class: "number" }, number.filter(Boolean).join(" ")),
      el("span", { class: "glance" }, row.glance),
    );
    const mark = (on) => () => this.thread.mark(row.key, on);
    return el(
      "li",
      {
        "data-key": row.key, "data-topic": row.topic, "data-at": row.at_ms,
        onpointerenter: mark(true), onpointerleave: mark(false), onfocusin: mark(true), onfocusout: mark(false),
      },
      line,
    );
  }

  item(key) {
    return this.list.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }

  open(key) {
    const item = this.item(key);
    if (!item) return;
    this.runs.unfold([{ key }]);
    this.drawRuns();
    if (!item.querySelector(".detail")) this.toggle(key);
    item.scrollIntoView({ block: "nearest" });
    item.querySelector(".line").focus({ preventScroll: true });
  }

  async toggle(key) {
    const item = this.item(key);
    const line = item.querySelector(".line:not(.run)");
    const shown = item.querySelector(".detail");
    line.setAttribute("aria-expanded", String(!shown));
    if (shown) {
      shown.remove();
      return;
    }
    const place = el("div", { class: "detail" }, el("p", { class: "hint" }, "unwinding…"));
    item.append(place);
    place.replaceChildren(await detail(this.chosen, key));
  }

  // Draws a few times a second, however many records come, and less often the more there is to draw.
  later() {
    this.drawing ??= setTimeout(() => {
      requestAnimationFrame(() => {
        this.drawing = null;
        this.draw();
      });
    }, Math.min(250, this.rows.length));
  }

  draw() {
    const turn = this.turns.get(this.chosen);
    byId("spool-empty").hidden = Boolean(turn);
    byId("unwound").hidden = !turn;
    this.drawPicker();
    if (!turn) return;
    keepingEnd(this.box, () => {
      this.arrived.splice(0).forEach((row) => this.insert(row));
      this.drawAges(turn);
      this.drawRuns();
    });
    const more = turn.rows - turn.kept;
    byId("records-more").hidden = more === 0;
    byId("records-more").textContent = `${more} more are not kept here: ${gap(turn)}`;
    this.drawFacts(turn);
    this.hops.draw(turn);
    this.thread.draw(turn, this.rows, TOPICS);
  }

  drawRuns() {
    this.runs.draw(this.rows, this.list.children, byId("fold").checked);
  }

  // A turn without a message of its own begins earlier once an older record of it is read.
  drawAges(turn) {
    for (const item of this.list.children) {
      if (item.dataset.began === String(turn.began_ms)) continue;
      item.dataset.began = turn.began_ms;
      for (const age of item.querySelectorAll(".age")) age.textContent = Number(item.dataset.at) - turn.began_ms;
    }
  }

  drawFacts(turn) {
    const length = turn.last_ms - turn.began_ms;
    const facts = [
      el("span", { class: "status", "data-status": turn.status }, turn.status.replaceAll("_", " ")),
      el("q", { title: turn.title }, turn.title || turn.turn),
      el("span", {}, `${turn.rows} records`),
      el("span", {}, `${turn.generations} ${turn.generations === 1 ? "generation" : "generations"}`),
      turn.model ? el("span", {}, turn.model) : null,
      el("span", {}, length < 10_000 ? `${length} ms` : `${(length / 1000).toFixed(1)} s`),
    ];
    byId("facts").replaceChildren(...facts.filter(Boolean));
    if (byId("turn-id").textContent === turn.turn) return;
    byId("turn-id").textContent = turn.turn;
    byId("copy-turn").textContent = "copy";
  }

  // A page that is not served from this computer may not write to the clipboard: the id is selected there instead.
  async copyId() {
    try {
      await navigator.clipboard.writeText(this.chosen);
      byId("copy-turn").textContent = "copied";
    } catch {
      getSelection().selectAllChildren(byId("turn-id"));
    }
  }

  drawPicker() {
    const picker = byId("turn");
    const turns = [...this.turns.values()].sort((a, b) => b.began_ms - a.began_ms);
    const texts = turns.map((turn) => [turn.turn, `${clock.format(turn.began_ms)}  ${turn.author}: ${turn.title}`.slice(0, 70)]);
    const now = JSON.stringify(texts);
    if (picker.dataset.now !== now) {
      picker.dataset.now = now;
      const options = texts.map(([value, text]) => el("option", { value }, text));
      picker.replaceChildren(...(options.length ? options : [el("option", {}, "none yet")]));
      picker.disabled = options.length === 0;
    }
    if (this.chosen !== null) picker.value = this.chosen;
  }
}

// Which records were left out, as the server keeps the beginning of a stream and leaves room for the turn's end.
function gap(turn) {
  const streamed = "raw slices and batches from the middle of the turn";
  if (turn.unkept_stream === turn.rows - turn.kept) return streamed;
  return turn.unkept_stream ? `${turn.unkept_stream} ${streamed}, the others from its end` : "the newest ones";
}

function before(a, b) {
  if (a.at_ms !== b.at_ms) return a.at_ms < b.at_ms;
  if (a.topic !== b.topic) return TOPICS.indexOf(a.topic) < TOPICS.indexOf(b.topic);
  return a.offset < b.offset;
}
