// The labelling screen. Everything shown comes in `data`; texts reach the page as text nodes alone, never as markup.
// A label belongs to the sample object that was drawn: buttons hold it, keys take `this.drawn`, and while no sample is
// drawn there is nothing to label.

const RESEND = 1500; // ms until unacknowledged events go out again
const BUSY = 600; // ms for which a message that is not answered yet keeps the next one back
const HURRY = 400; // ms until a sample that is not there is asked for again
const LATE = 5000; // ms without an acknowledgement until the screen says so
const NOTE_PAUSE = 500; // ms after the last key stroke in the note
const IDLE = 60000; // ms without a sign of the annotator that still count as attention
const LONG = 20000; // characters of one text that are shown at first
const NEAR = 5; // samples ahead that should be here
const KEPT = 60; // positions around the current one that are kept

let mounted = null; // the one screen that acts: another mount takes its place

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  if (mounted === null || mounted.root !== parentElement || mounted.owner !== ownerOf(data)) {
    mounted?.close();
    mounted = new Screen(parentElement, data);
  }
  const screen = mounted;
  screen.receive(data, (message) => setTriggerValue("message", message));
  return () => screen.close();
}

class Screen {
  constructor(root, data) {
    this.root = root;
    this.owner = ownerOf(data);
    this.data = null;
    this.entries = new Map(); // position -> sample with the own labels as the server knows them
    this.pending = this.load(); // events that are not acknowledged, in order
    this.steps = null; // what can be undone, newest last; null until the server told
    this.drawn = null; // the sample on the screen
    this.place = 1; // its position, or that of the last one
    this.waiting = null; // what was asked for and is not here yet
    this.number = 0;
    this.sentAt = 0;
    this.answered = 0;
    this.owed = false; // something new came up while a message was under way
    this.tries = 0;
    this.troubleSince = 0;
    this.refusal = "";
    this.note = { box: null, edited: false, unsaved: false, timer: 0 };
    this.clock = new Clock();
    this.stage = el("div", { class: "stage" });
    this.live = el("p", { class: "away", "aria-live": "polite" });
    this.keys = el("dialog", { "aria-labelledby": "keys-title" });
    root.querySelector(".screen")?.remove();
    this.box = el("div", { class: "screen" }, this.stage, this.live, this.keys);
    root.append(this.box);
    this.listen();
  }

  listen() {
    this.stop = new AbortController();
    const signal = this.stop.signal;
    window.addEventListener("keydown", (event) => this.onKey(event), { signal });
    window.addEventListener("beforeunload", (event) => this.warn(event), { signal });
    window.addEventListener("pagehide", () => this.leave(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.leave(), { signal });
    this.clock.listen(signal);
    this.timer = setInterval(() => this.tick(), 200);
  }

  close() {
    this.leave();
    clearInterval(this.timer);
    clearTimeout(this.note.timer);
    this.stop.abort();
    this.drawn = null;
    this.box.remove();
    if (mounted === this) mounted = null;
  }

  warn(event) {
    this.leave();
    if (this.pending.length) event.preventDefault();
  }

  leave() {
    this.saveNote();
    if (this.pending.length) this.flush(true);
  }

  // ---- from the server -------------------------------------------------------------------------------------------

  receive(data, send) {
    const first = this.data === null;
    this.send = send;
    this.data = data;
    this.tries = 0;
    this.answered = Math.max(this.answered, data.answered);
    this.settle(data);
    for (const entry of data.queue) this.take(entry);
    if (this.steps === null && data.undo !== null) this.steps = data.undo;
    if (first || (this.waiting?.since && data.answered >= this.waiting.since)) this.arrive(data);
    else if (this.waiting !== null) this.goOn();
    else this.refresh();
    if ((first && this.pending.length) || this.owed) this.flush();
  }

  /** An earlier answer may have brought what is waited for. */
  goOn() {
    const { at, open } = this.waiting;
    const place = open ? this.nextOpen(at) : at;
    if (place !== null && this.entries.has(place)) this.draw(place);
  }

  arrive(data) {
    this.waiting = null;
    if (data.at === null) this.finish();
    else if (this.entries.has(data.at)) this.draw(data.at);
    else this.ask(data.at, false);
  }

  settle(data) {
    const settled = new Set([...data.acknowledged, ...Object.keys(data.refused)]);
    const done = this.pending.filter((event) => settled.has(event.id));
    if (done.length) {
      this.pending = this.pending.filter((event) => !settled.has(event.id));
      this.troubleSince = this.pending.length ? performance.now() : 0;
      this.store();
    }
    for (const event of done) {
      if (event.id in data.refused) this.refusal = `A label was not saved: ${data.refused[event.id]}`;
      else for (const entry of this.entries.values()) if (entry.sample === event.sample) keepState(entry, event);
    }
  }

  take(entry) {
    const drawn = this.drawn;
    if (drawn !== null && drawn.position === entry.position && contentOf(drawn) === contentOf(entry)) {
      drawn.own = entry.own;
      return;
    }
    this.entries.set(entry.position, entry);
    if (drawn !== null && drawn.position === entry.position) this.draw(entry.position);
  }

  // ---- to the server ---------------------------------------------------------------------------------------------

  /** Send everything that is not acknowledged, one message at a time: another one would stop the run of the first. */
  flush(force = false) {
    this.owed = !force && this.answered < this.number && performance.now() - this.sentAt < BUSY;
    if (this.owed) return this.showState();
    this.number = Math.max(Date.now(), this.number + 1);
    if (this.waiting !== null && this.waiting.since === 0) this.waiting.since = this.number;
    this.sentAt = performance.now();
    const at = this.waiting === null ? this.place : this.waiting.at;
    const open = this.waiting !== null && this.waiting.open;
    this.send({ n: this.number, at, open, undo: this.steps === null, events: this.pending });
    return this.showState();
  }

  tick() {
    if (this.data === null) return;
    const patience = (this.waiting === null ? RESEND : HURRY) * Math.min(1 + this.tries / 4, 4);
    const age = performance.now() - this.sentAt;
    if (((this.pending.length || this.waiting !== null) && age > patience) || (this.owed && age > BUSY)) {
      this.tries += 1;
      this.flush(true);
    }
    this.showState();
  }

  ask(at, open) {
    this.saveNote();
    this.drawn = null;
    this.waiting = { at, open, since: 0 };
    this.stage.replaceChildren(el("div", { class: "still waiting", "aria-busy": "true" }, "Fetching the next sample"));
    this.flush();
  }

  load() {
    try {
      const held = JSON.parse(sessionStorage.getItem(this.owner) ?? "[]");
      return Array.isArray(held) ? held.filter((event) => typeof event?.id === "string") : [];
    } catch {
      return [];
    }
  }

  store() {
    try {
      if (this.pending.length) sessionStorage.setItem(this.owner, JSON.stringify(this.pending));
      else sessionStorage.removeItem(this.owner);
    } catch {
      // storage is full or forbidden: the events stay in memory and go out as before
    }
  }

  // ---- states and events -----------------------------------------------------------------------------------------

  state(entry, criterion) {
    const held = this.pending.findLast((event) => event.sample === entry.sample && event.criterion === criterion);
    return held ?? entry.own[criterion] ?? { status: "withdrawn", value: null, note: "" };
  }

  stateOf(entry) {
    const statuses = Object.keys(entry.asked).map((criterion) => this.state(entry, criterion).status);
    if (statuses.every((status) => status === "labelled")) return "done";
    return ["deferred", "skipped"].find((status) => statuses.includes(status)) ?? "open";
  }

  add(entry, criterion, status, value, note, kind = "e") {
    if (this.pending.length === 0) this.troubleSince = performance.now();
    this.pending.push({
      id: `${kind}-${randomId()}`,
      assignment: entry.asked[criterion],
      sample: entry.sample,
      criterion,
      status,
      value,
      note,
      guideline: this.data.guidelines[criterion]?.digest ?? null,
      seconds: this.clock.seconds(),
    });
  }

  /** Record one step, a list of [criterion, status, value], and make it undoable. */
  step(entry, changes) {
    const done = changes.map(([criterion, status, value]) => {
      const before = this.state(entry, criterion);
      const note = this.noteFor(entry, criterion);
      this.add(entry, criterion, status, value, note);
      const { position, sample } = entry;
      return { position, sample, criterion, assignment: entry.asked[criterion], note, before };
    });
    this.steps = [...(this.steps ?? []), done].slice(-200);
    this.store();
  }

  press(entry, criterion, value) {
    if (entry !== this.drawn || !(criterion in entry.asked)) return;
    this.saveNote(criterion);
    this.step(entry, [[criterion, "labelled", value]]);
    if (this.stateOf(entry) === "done") this.advance(entry);
    else this.refresh();
    if (this.waiting === null) this.flush();
  }

  setAside(entry, status) {
    if (entry !== this.drawn) return;
    const open = Object.keys(entry.asked).filter((criterion) => this.state(entry, criterion).status !== "labelled");
    this.saveNote(open[0]);
    if (open.length) this.step(entry, open.map((criterion) => [criterion, status, null]));
    this.advance(entry);
    if (this.waiting === null && open.length) this.flush();
  }

  undo() {
    if (this.waiting !== null || !this.steps?.length) return;
    this.saveNote();
    const step = this.steps.pop();
    for (const { sample, criterion, assignment, position, note, before } of step.reverse()) {
      const entry = this.entries.get(position) ?? { sample, asked: { [criterion]: assignment }, own: {} };
      const held = position === this.drawn?.position || entry.position ? this.state(entry, criterion).note : note;
      this.add(entry, criterion, before.status, before.value, held, "u");
    }
    this.store();
    this.go(step[0].position);
    if (this.waiting === null) this.flush();
  }

  // ---- note ------------------------------------------------------------------------------------------------------

  noteFor(entry, criterion) {
    return this.note.edited && entry === this.drawn ? this.note.box.value : this.state(entry, criterion).note;
  }

  onNote() {
    this.note.edited = this.note.unsaved = true;
    this.showState();
    clearTimeout(this.note.timer);
    this.note.timer = setTimeout(() => this.saveNote(), NOTE_PAUSE);
  }

  /** Store the note with every value of the sample, or alone when there is none; `except` is about to get it. */
  saveNote(except = null) {
    clearTimeout(this.note.timer);
    const entry = this.drawn;
    if (entry === null || !this.note.unsaved) return;
    this.note.unsaved = false;
    const text = this.note.box.value;
    const asked = Object.keys(entry.asked);
    const valued = asked.filter((criterion) => this.state(entry, criterion).status === "labelled");
    const targets = valued.length || except !== null ? valued : asked.slice(0, 1);
    for (const criterion of targets) {
      const { status, value, note } = this.state(entry, criterion);
      if (criterion === except || note === text) continue;
      this.add(entry, criterion, status === "withdrawn" ? "note" : status, value, text);
    }
    if (this.pending.length === 0) return this.showState();
    this.store();
    return this.flush();
  }

  // ---- moving ----------------------------------------------------------------------------------------------------

  /** On to the next sample that wants a label; the server knows it where the samples that are here end. */
  advance(entry) {
    const place = this.nextOpen(entry.position);
    if (place === null) this.ask(entry.position, true);
    else this.draw(place);
  }

  nextOpen(after) {
    for (let place = after + 1; this.entries.has(place); place += 1) {
      if (this.stateOf(this.entries.get(place)) === "open") return place;
    }
    return null;
  }

  move(by) {
    if (this.waiting !== null || (this.drawn === null && by > 0)) return;
    const place = this.drawn === null ? this.data.total : this.place + by;
    if (place > this.data.total) this.ask(this.data.total, true);
    else if (place >= 1) this.go(place);
  }

  go(place) {
    this.saveNote();
    if (this.entries.has(place)) this.draw(place);
    else this.ask(place, false);
  }

  draw(place) {
    const entry = this.entries.get(place);
    const focus = this.root.activeElement?.dataset?.id;
    const moved = this.drawn === null || this.drawn.position !== place;
    clearTimeout(this.note.timer);
    this.waiting = null;
    this.drawn = entry;
    this.place = place;
    this.note = { box: null, edited: false, unsaved: false, timer: 0 };
    this.parts = { values: [] };
    this.clock.start();
    if (moved) this.toTop(); // before the change: afterwards it would force a layout
    this.stage.replaceChildren(this.evidence(entry), this.side(entry));
    if (focus) this.stage.querySelector(`[data-id="${focus}"]`)?.focus({ preventScroll: true });
    this.live.textContent = `Sample ${place} of ${this.data.total}`;
    this.refresh();
    showAddress(entry.sample);
    for (const held of this.entries.keys()) if (Math.abs(held - place) > KEPT) this.entries.delete(held);
    const wanted = [place - 1, ...Array.from({ length: NEAR }, (_, n) => place + n + 1)];
    const missing = wanted.some((n) => n >= 1 && n <= this.data.total && !this.entries.has(n));
    if (missing) this.flush();
  }

  toTop() {
    const host = this.root.host ?? this.root;
    const scroller = host.closest?.('[data-testid="stMain"]') ?? document.scrollingElement;
    if (scroller?.scrollTop) scroller.scrollTop = 0;
  }

  finish() {
    const { sentence, reasons, deferred } = this.data.finished;
    this.drawn = null;
    this.place = this.data.total;
    this.parts = { values: [], state: el("span", { class: "state", role: "status", "aria-live": "off" }) };
    const [said, next] = sentence.replaceAll("`", "").split(" Next: ");
    const panel = el("div", { class: "still" }, el("h2", {}, said));
    if (next) panel.append(el("p", {}, `Next: ${next}`));
    panel.append(this.parts.state);
    panel.append(this.places(`${count(reasons.length, "reason")} to add`, "A no or an unsure without a note.", reasons));
    panel.append(this.places(`${count(deferred.length, "sample")} set aside`, "They wait for you.", deferred));
    panel.append(
      el("section", {}, button("Previous", "K", "previous", () => this.move(-1))),
      el("p", { class: "problem", role: "alert" }, this.refusal),
    );
    this.stage.replaceChildren(panel);
    this.live.textContent = sentence;
    this.showState();
  }

  places(title, text, positions) {
    if (!positions.length) return "";
    const buttons = positions.map((place) => button(`Sample ${place}`, null, `place-${place}`, () => this.go(place)));
    return el("section", {}, el("strong", {}, title), el("p", { class: "caption" }, text), el("div", { class: "places" }, ...buttons));
  }

  // ---- parts of the screen ---------------------------------------------------------------------------------------

  evidence(entry) {
    const parts = [
      block("Question", "question", textOf(entry.question)),
      block("Answer", "answer", el("div", { class: "card" }, textOf(entry.answer, "The answer is empty"))),
    ];
    if (entry.reference !== null) parts.push(block("Reference", "reference", textOf(entry.reference)));
    if (entry.contexts !== null) parts.push(contextsOf(entry.contexts));
    const label = `Sample ${entry.position} of ${this.data.total}`;
    return el("section", { class: "evidence", tabindex: "0", "data-id": "evidence", "aria-label": label }, ...parts);
  }

  side(entry) {
    const parts = this.parts;
    parts.state = el("span", { class: "state", role: "status", "aria-live": "off" });
    parts.counts = el("div", { class: "counts" });
    parts.done = el("div", {});
    parts.problem = el("p", { class: "problem", role: "alert" });
    parts.bar = el(
      "section",
      { class: "bar", "aria-label": "Labels" },
      el("div", { class: "head" }, el("span", { class: "place" }, `Sample ${entry.position} of ${this.data.total}`), parts.state),
      el("div", { class: "track", "aria-hidden": "true" }, parts.done),
      parts.counts,
      parts.problem,
      ...this.criteria(entry),
      this.noteOf(entry),
      this.tools(entry),
    );
    return el("div", { class: "side" }, parts.bar, this.guideline(entry));
  }

  criteria(entry) {
    const rows = [];
    for (const { name, title, question } of this.data.criteria) {
      const head = el("h3", { id: `title-${name}` }, `${title}?`);
      if (name in entry.asked) {
        const keys = this.digits().filter((digit) => digit.criterion === name);
        const values = keys.map(({ value, key }) => {
          const node = button(capital(value), key, `${name}-${value}`, () => this.press(entry, name, value));
          this.parts.values.push({ node, name, value });
          return node;
        });
        const ask = el("p", { class: "ask" }, question);
        const group = { class: "criterion", role: "group", "aria-labelledby": `title-${name}` };
        rows.push(el("div", group, head, ask, el("div", { class: "values" }, ...values)));
      } else if (name in entry.lacks) {
        const text = `no ${entry.lacks[name]}: ${name} does not apply`;
        rows.push(el("div", { class: "criterion" }, head, el("p", { class: "lacks" }, text)));
      }
    }
    return rows;
  }

  noteOf(entry) {
    const held = Object.keys(entry.asked).map((criterion) => this.state(entry, criterion).note);
    const box = el("textarea", {
      id: "note",
      rows: "2",
      maxlength: "20000",
      dir: "auto",
      "data-id": "note",
      "aria-keyshortcuts": "N",
      placeholder: "Why? One line is enough",
      oninput: () => this.onNote(),
    });
    box.value = [...new Set(held.filter((text) => text))].join("\n");
    this.note.box = box;
    const caption = el("label", { class: "caption", for: "note" }, el("span", {}, "Note"), el("span", { class: "key" }, "N"));
    return el("div", { class: "note" }, caption, box);
  }

  tools(entry) {
    return el(
      "div",
      { class: "tools" },
      el(
        "div",
        { class: "moves" },
        button("Previous", "K", "previous", () => this.move(-1)),
        button("Next", "J", "next", () => this.move(1)),
      ),
      el(
        "div",
        { class: "more" },
        button("Note", null, "note-button", () => this.openNote(), "quiet brief"),
        button("Skip", "S", "skip", () => this.setAside(entry, "skipped"), "quiet"),
        button("Set aside", null, "defer", () => this.setAside(entry, "deferred"), "quiet"),
        button("Undo", "U", "undo", () => this.undo(), "quiet"),
        button("Keys", "?", "keys", () => this.toggleKeys(), "quiet keys-button"),
      ),
    );
  }

  guideline(entry) {
    const known = this.data.criteria.filter(({ name }) => name in entry.asked && name in this.data.guidelines);
    if (!known.length) return "";
    const parts = known.flatMap(({ name, title, question }) => {
      const text = this.data.guidelines[name].text.trim();
      const rest = text.startsWith(question) ? text.slice(question.length) : text; // the bar asks it already
      return [el("h4", {}, title), ...lines(rest)];
    });
    const open = remembered("guideline") ?? (matchMedia("(max-width: 699.98px)").matches ? "closed" : "open");
    const node = el("details", { class: "guideline" }, el("summary", { "data-id": "guideline" }, "Guideline"), ...parts);
    node.open = open === "open";
    node.addEventListener("toggle", () => remember("guideline", node.open ? "open" : "closed"));
    return node;
  }

  refresh() {
    if (this.drawn === null) return this.showState();
    for (const { node, name, value } of this.parts.values) {
      node.setAttribute("aria-pressed", String(this.state(this.drawn, name).value === value));
    }
    const { done, skipped, deferred } = this.data.counts;
    const open = { skipped: " skipped", deferred: " set aside" }[this.stateOf(this.drawn)];
    const counts = [`${done} labelled`, skipped && `${skipped} skipped`, deferred && `${deferred} set aside`];
    this.parts.counts.textContent = counts.filter(Boolean).join(", ") + (open ? `; this one is${open}` : "");
    this.parts.done.style.width = `${(100 * done) / Math.max(1, this.data.total)}%`;
    this.parts.problem.textContent = this.data.error && this.pending.length ? this.data.error : this.refusal;
    return this.showState();
  }

  showState() {
    if (!this.parts?.state) return;
    const late = this.troubleSince && performance.now() - this.troubleSince > LATE;
    const unsaved = this.pending.length + (this.note.unsaved ? 1 : 0);
    const trouble = this.pending.length && (this.data.error || late);
    const text = trouble ? "not saved, trying again" : unsaved ? `saving ${unsaved}` : "saved";
    if (this.parts.state.textContent !== text) this.parts.state.textContent = text;
  }

  // ---- keys ------------------------------------------------------------------------------------------------------

  digits() {
    const all = this.data.criteria.flatMap(({ name, values }) => values.map((value) => ({ criterion: name, value })));
    return all.map((digit, n) => ({ ...digit, key: n < 9 ? String(n + 1) : null }));
  }

  onKey(event) {
    if (this.data === null || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.isComposing || event.keyCode === 229) return;
    const target = event.composedPath()[0];
    if (event.key === "Escape" && target === this.note.box) target.blur();
    if (isTyping(target)) return;
    const ours = this.box.contains(target);
    if (event.repeat) {
      if (ours && ["Enter", " "].includes(event.key)) event.preventDefault(); // a held key presses one button once
      return;
    }
    if (this.act(nameOf(event))) event.preventDefault();
  }

  /** What a key does to the sample that is drawn; false when it does nothing here. */
  act(key) {
    if (key === "?") return this.toggleKeys();
    if (this.keys.open) return false;
    if (key === "j" || key === "ArrowRight") return this.move(1) ?? true;
    if (key === "k" || key === "ArrowLeft") return this.move(-1) ?? true;
    if (key === "u") return this.undo() ?? true;
    const entry = this.drawn;
    if (entry === null) return false;
    if (key === "n") return this.openNote();
    if (key === "s") return this.setAside(entry, "skipped") ?? true;
    const digit = this.digits().find((candidate) => candidate.key === key);
    if (digit === undefined) return false;
    this.press(entry, digit.criterion, digit.value);
    return true;
  }

  openNote() {
    this.parts.bar.classList.add("noting");
    this.note.box.focus();
    return true;
  }

  toggleKeys() {
    if (this.keys.open) {
      this.keys.close();
      return true;
    }
    const list = this.digits().filter(({ key }) => key !== null);
    const rows = [
      ...list.map(({ key, criterion, value }) => [key, `${criterion}: ${value}`]),
      ["N", "write a note, Esc leaves it"],
      ["J, →", "next"],
      ["K, ←", "previous"],
      ["S", "skip, comes again at the end"],
      ["U", "undo"],
      ["?", "this list"],
    ];
    this.keys.replaceChildren(
      el("h2", { id: "keys-title" }, "Keys"),
      el("dl", {}, ...rows.flatMap(([key, text]) => [el("dt", {}, key), el("dd", {}, text)])),
      button("Close", null, "close-keys", () => this.keys.close()),
    );
    this.keys.showModal();
    return true;
  }
}

/** Time of attention: a hidden tab, another window and a long silence do not count. */
class Clock {
  constructor() {
    this.total = 0;
    this.last = performance.now();
    this.watched = !document.hidden;
  }

  listen(signal) {
    for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "touchmove"]) {
      window.addEventListener(name, () => this.touch(), { signal, passive: true });
    }
    const watch = () => {
      this.touch();
      this.watched = !document.hidden && document.hasFocus();
    };
    for (const name of ["focus", "blur"]) window.addEventListener(name, watch, { signal });
    document.addEventListener("visibilitychange", watch, { signal });
  }

  touch() {
    const now = performance.now();
    if (this.watched) this.total += Math.min(now - this.last, IDLE);
    this.last = now;
  }

  start() {
    this.touch();
    this.total = 0;
  }

  seconds() {
    this.touch();
    return Math.round(this.total / 100) / 10;
  }
}

// ---- small things --------------------------------------------------------------------------------------------------

/** An element; strings among the children become text. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== ""));
  return node;
}

function button(text, key, id, act, style = "") {
  const node = el("button", { type: "button", "data-id": id, class: style, onclick: act }, el("span", {}, text));
  if (key === null) return node;
  node.setAttribute("aria-keyshortcuts", key);
  node.append(el("span", { class: "key", "aria-hidden": "true" }, key));
  return node;
}

function block(caption, name, content) {
  return el("div", { class: `block ${name}` }, el("div", { class: "caption" }, caption), content);
}

function contextsOf(contexts) {
  if (!contexts.length) return block("Contexts", "contexts", el("div", { class: "empty" }, "Nothing was retrieved"));
  const cards = contexts.map(({ id, text }, n) => {
    const caption = el("div", { class: "caption" }, el("span", {}, `Context ${n + 1}`));
    if (id !== null) caption.append(el("span", { dir: "auto" }, ...marked(id).nodes));
    return el("div", { class: "card" }, caption, textOf(text, "This context is empty"));
  });
  return el("div", { class: "block contexts" }, el("div", { class: "caption" }, `Contexts (${contexts.length})`), ...cards);
}

/** A text as it is: hidden characters as marks, the rest of a long one behind a button. */
function textOf(text, ifEmpty = "empty") {
  if (text.trim() === "") return el("div", { class: "text empty" }, ifEmpty);
  const box = el("div", {});
  const fill = (shown) => {
    const { nodes, count: hidden } = marked(shown);
    box.replaceChildren(el("div", { class: "text", dir: "auto" }, ...nodes));
    if (hidden) box.append(el("p", { class: "warning" }, `${count(hidden, "invisible character")}, shown as ${hidden === 1 ? "a mark" : "marks"}`));
  };
  if (text.length <= LONG) {
    fill(text);
    return box;
  }
  fill(text.slice(0, isHighSurrogate(text, LONG - 1) ? LONG - 1 : LONG));
  const total = Array.from(text).length.toLocaleString("en-US");
  box.append(button(`show all (${total} characters)`, null, "", () => fill(text), "quiet"));
  return box;
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u115F\u1160\u3164\uFFA0\u{E0100}-\u{E01EF}]/u;
const SEEN_FORMAT = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/u;
const JOINED = /[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;

/** Control and format characters as marks; tab, newline and joiners inside words or emoji stay. */
function marked(text) {
  if (!HIDDEN.test(text)) return { nodes: [text], count: 0 };
  const letters = Array.from(text);
  const nodes = [];
  let plain = "";
  letters.forEach((letter, n) => {
    if (letter === "\r" && letters[n + 1] === "\n") return;
    if (!HIDDEN.test(letter) || stays(letter, letters[n - 1], letters[n + 1])) {
      plain += letter;
      return;
    }
    const code = letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    nodes.push(plain, el("span", { class: "mark" }, `<U+${code}>`));
    plain = "";
  });
  const hidden = nodes.length / 2;
  return { nodes: [...nodes, plain].filter((node) => node !== ""), count: hidden };
}

function stays(letter, before, after) {
  if (letter === "\t" || letter === "\n" || SEEN_FORMAT.test(letter)) return true;
  if (letter !== "\u200C" && letter !== "\u200D") return false;
  return before !== undefined && after !== undefined && JOINED.test(before) && JOINED.test(after);
}

/** A guideline's lines as paragraphs and a list. */
function lines(text) {
  const nodes = [];
  for (const line of text.split("\n").filter((part) => part.trim())) {
    if (!line.startsWith("- ")) nodes.push(el("p", {}, ...marked(line).nodes));
    else {
      if (nodes.at(-1)?.tagName !== "UL") nodes.push(el("ul", {}));
      nodes.at(-1).append(el("li", {}, ...marked(line.slice(2)).nodes));
    }
  }
  return nodes;
}

function ownerOf(data) {
  return `judge-calibration/${data.project}/${data.annotator}`;
}

function contentOf({ sample, question, answer, reference, contexts, asked }) {
  return JSON.stringify([sample, question, answer, reference, contexts, asked]);
}

function keepState(entry, { criterion, status, value, note }) {
  entry.own[criterion] = { status, value, note };
}

/** crypto.randomUUID does not exist on plain http outside localhost. */
function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The key as on a Latin layout where the layout has no such letter or digit. */
function nameOf(event) {
  if (event.key.length === 1 && /[a-z0-9?]/i.test(event.key)) return event.key.toLowerCase();
  const found = event.shiftKey ? null : /^(?:Digit([0-9])|Key([A-Z]))$/.exec(event.code);
  return found === null ? event.key : (found[1] ?? found[2].toLowerCase());
}

function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function showAddress(sample) {
  const url = new URL(window.location.href);
  if (url.searchParams.get("s") === sample) return;
  url.searchParams.set("s", sample);
  window.history.replaceState(window.history.state, "", url);
}

function isHighSurrogate(text, n) {
  const code = text.charCodeAt(n);
  return code >= 0xd800 && code < 0xdc00;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function count(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function remembered(name) {
  try {
    return sessionStorage.getItem(`judge-calibration/${name}`);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    sessionStorage.setItem(`judge-calibration/${name}`, value);
  } catch {
    // not remembered
  }
}
