// The page: one stream of events from its server, shared out to the channel and the spool.

import { Channel } from "./channel.js";
import { byId, el } from "./dom.js";
import { People } from "./people.js";
import { Spool } from "./spool.js";

const GONE_MS = 5_000;

const people = new People();
const channel = new Channel(people);
const spool = new Spool();
people.onChosen = () => channel.redraw();

function link(id, state) {
  const place = byId(id);
  if (!state || place.dataset.state === state) return;
  place.dataset.state = state;
  place.querySelector("span").textContent = state;
}

const told = {
  status: ({ chat, log }) => {
    link("chat-link", chat);
    link("log-link", log);
  },
  channel: (data) => {
    people.reset(data.people, data.name);
    channel.reset(data);
  },
  message: (data) => channel.put(data),
  "message-gone": ({ id }) => channel.remove(id),
  typing: (data) => channel.types(data),
  turns: (data) => spool.reset(data),
  record: (data) => spool.add(data),
};

let missing = null;

// A short break is no news; after a longer one the page says what to do. An alert is read out when its text comes in.
function miss() {
  missing ??= setTimeout(() => {
    const how = ["The sandbox is gone. Start it again with ", el("code", {}, "make up"), "; this page then goes on by itself."];
    byId("gone").replaceChildren(...how);
    byId("gone").hidden = false;
  }, GONE_MS);
}

function found() {
  clearTimeout(missing);
  missing = null;
  byId("gone").hidden = true;
}

function follow() {
  const events = new EventSource("/events");
  events.addEventListener("open", found);
  for (const [name, tell] of Object.entries(told)) {
    events.addEventListener(name, (event) => tell(JSON.parse(event.data)));
  }
  events.addEventListener("error", () => {
    told.status({ chat: "reconnecting", log: "reconnecting" });
    // A browser gives up on an answer that is no event stream, such as 503, so it is asked again.
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, 2_000);
    else miss();
  });
}

follow();
