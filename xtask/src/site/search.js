"use strict";

// Returns the sections that have every word of the query, the best first. A word in the heading counts
// most, then one in the title of the page, then in the text.
function search(sections, query) {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const found = [];
  for (const section of sections) {
    const points = words.map((word) => worth(section, word));
    if (points.every((point) => point > 0)) {
      found.push({ section, points: points.reduce((sum, point) => sum + point) });
    }
  }
  found.sort((one, other) => other.points - one.points);
  return found.map((one) => one.section);
}

function worth(section, word) {
  const times = section.text.toLowerCase().split(word).length - 1;
  return (
    (section.heading.toLowerCase().includes(word) ? 20 : 0) +
    (section.title.toLowerCase().includes(word) ? 10 : 0) +
    Math.min(times, 5)
  );
}

// Returns the text around the first word of the query: before it, the word, after it.
function excerpt(text, query) {
  const lower = text.toLowerCase();
  const words = query.toLowerCase().split(/\s+/).filter((word) => lower.includes(word) && word !== "");
  if (words.length === 0) return [text.slice(0, 160), "", ""];
  const at = lower.indexOf(words[0]);
  const start = at > 60 ? text.indexOf(" ", at - 60) + 1 : 0;
  const end = at + words[0].length;
  return [(start > 0 ? "… " : "") + text.slice(start, at), text.slice(at, end), text.slice(end, end + 100)];
}

const SHOWN = 30;

function show(query) {
  const root = document.documentElement.dataset.root;
  const found = search(SECTIONS, query);
  const list = document.createElement("ol");
  for (const section of found.slice(0, SHOWN)) {
    const link = document.createElement("a");
    link.href = root + section.page + (section.anchor === "" ? "" : "#" + section.anchor);
    link.textContent =
      section.heading === "" || section.heading === section.title
        ? section.title
        : section.title + ": " + section.heading;
    const text = document.createElement("p");
    const [before, word, after] = excerpt(section.text, query);
    const mark = document.createElement("mark");
    mark.textContent = word;
    text.append(before, mark, after);
    const item = document.createElement("li");
    item.append(link, text);
    list.append(item);
  }
  const count = document.createElement("p");
  const more = found.length > SHOWN ? `, of which the first ${SHOWN} are shown` : "";
  count.textContent =
    found.length === 0 ? "Nothing found." : found.length === 1 ? "1 section" : `${found.length} sections${more}`;
  const results = document.getElementById("results");
  results.replaceChildren(count, list);
  results.hidden = query.trim() === "";
}

function start() {
  const form = document.getElementById("search");
  const field = form.elements.q;
  // Without scripts there is no search, and so no field for it.
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(field.value);
  });
  field.addEventListener("input", () => show(field.value));
  document.getElementById("results").addEventListener("click", (event) => {
    if (event.target.tagName === "A") document.getElementById("results").hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      show("");
    } else if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked !== null) {
    field.value = asked;
    show(asked);
  }
}

if (typeof document !== "undefined") start();
