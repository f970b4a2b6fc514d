// The hops: from a message to the first message shown, one bar a step.

import { byId, el } from "./dom.js";

export class Hops {
  constructor() {
    this.drawn = "";
  }

  draw(turn) {
    const now = JSON.stringify([turn.began_ms, turn.hops]);
    if (now === this.drawn) return;
    this.drawn = now;
    const last = turn.hops.at(-1);
    const whole = Math.max(1, last ? last.at_ms - turn.began_ms : 1);
    byId("hops-ms").textContent = last ? last.at_ms - turn.began_ms : "";
    byId("hops-total").textContent = last ? ` ms to ${last.step}` : "";
    byId("hops").replaceChildren(...turn.hops.map((hop) => this.element(turn, hop, whole)));
  }

  element(turn, hop, whole) {
    const bar = el("i");
    bar.style.left = `${(100 * (hop.at_ms - hop.took_ms - turn.began_ms)) / whole}%`;
    bar.style.width = `${(100 * hop.took_ms) / whole}%`;
    return el(
      "li",
      { "data-topic": hop.topic },
      el(
        "span",
        { class: "hop" },
        ...(hop.worker === null
          ? ["waited for the turn before"]
          : [
              hop.worker,
              el("span", { class: "unseen" }, " writes to "),
              el("span", { class: "arrow" }, hop.topic),
            ]),
      ),
      el("span", { class: "track", "aria-hidden": "true" }, bar),
      el("span", { class: "took" }, `${hop.took_ms} ms`),
    );
  }
}
