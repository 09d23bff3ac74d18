"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  // Light and dark: what the system says until the button is pressed.
  const themes = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { themes.textContent = dark() ? "Light colours" : "Dark colours"; };
  themes.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; nameTheme(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  nameTheme();

  // Tables sort by any column. Numbers sort as numbers, what is not known comes last either way.
  const compareText = new Intl.Collator(undefined, { numeric: true }).compare;
  const valueOf = (row, place, numeric) => {
    const text = row.cells[place].textContent.trim();
    if (!numeric) return text;
    const plain = text.replace(/[,%<>]/g, "");
    const value = parseFloat(plain);
    return Number.isNaN(value) ? null : value;
  };
  const sortRows = (rows, place, numeric, sign) => {
    const keyed = rows.map((row) => [valueOf(row, place, numeric), row]);
    keyed.sort(([a], [b]) => {
      if (!numeric) return sign * compareText(a, b);
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (a - b);
    });
    return keyed.map(([, row]) => row);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    if (body.rows.length < 2) continue;
    heads.forEach((head, place) => {
      const numeric = head.classList.contains("number");
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") === "ascending";
        const falling = head.getAttribute("aria-sort") === "descending";
        const sign = rising ? -1 : falling ? 1 : 1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        body.append(...sortRows([...body.rows], place, numeric, sign));
        table.dispatchEvent(new Event("sorted"));
      });
    });
  }

  // The long table: a page at a time, and only the rows that hold what is searched for.
  const paged = document.querySelector("table.paged");
  if (paged) {
    const body = paged.tBodies[0];
    const input = document.getElementById("find");
    const size = document.getElementById("rows");
    const told = document.getElementById("found");
    const back = document.getElementById("back");
    const on = document.getElementById("on");
    let page = 0;
    const show = () => {
      const words = input.value.trim().toLowerCase();
      const rows = [...body.rows];
      const kept = words ? rows.filter((row) => row.textContent.toLowerCase().includes(words)) : rows;
      const many = Number(size.value);
      const pages = Math.max(Math.ceil(kept.length / many), 1);
      page = Math.min(Math.max(page, 0), pages - 1);
      const seen = new Set(kept.slice(page * many, (page + 1) * many));
      for (const row of rows) row.hidden = !seen.has(row);
      const first = kept.length ? page * many + 1 : 0;
      const last = Math.min((page + 1) * many, kept.length);
      const of = words ? `${kept.length} of ${rows.length} rows hold “${input.value.trim()}”` : `${rows.length} rows`;
      told.textContent = kept.length ? `${first} to ${last} of ${of}` : `No row holds “${input.value.trim()}”`;
      back.disabled = page === 0;
      on.disabled = page >= pages - 1;
    };
    input.addEventListener("input", () => { page = 0; show(); });
    size.addEventListener("change", () => { page = 0; show(); });
    paged.addEventListener("sorted", () => { page = 0; show(); });
    back.addEventListener("click", () => { page -= 1; show(); });
    on.addEventListener("click", () => { page += 1; show(); });
    show();
  }

  // The labels of all objects as a CSV file, unpacked from this page.
  const save = document.getElementById("save");
  const packed = document.getElementById("labels");
  const quoted = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const unpack = async () => {
    const letters = atob(packed.textContent.trim());
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const data = await new Response(stream).arrayBuffer();
    const { rows, width, confidence, ids, idName } = packed.dataset;
    const n = Number(rows);
    const view = new DataView(data);
    const label = { 1: (i) => view.getInt8(i), 2: (i) => view.getInt16(2 * i, true), 4: (i) => view.getInt32(4 * i, true) }[width];
    let end = n * Number(width);
    const sureAt = end;
    if (confidence) end += 2 * n;
    const names = ids ? JSON.parse(new TextDecoder().decode(new Uint8Array(data, end))) : null;
    const sure = (i) => {
      const level = view.getUint16(sureAt + 2 * i, true);
      return level === 65535 ? "" : (level / 1000).toFixed(3);
    };
    const parts = [`${names ? quoted(idName) : "row"},consensus${confidence ? ",confidence" : ""}\n`];
    for (let start = 0; start < n; start += 50000) {
      let piece = "";
      for (let i = start; i < Math.min(start + 50000, n); i += 1) {
        piece += `${names ? quoted(String(names[i])) : i + 1},${label(i)}${confidence ? `,${sure(i)}` : ""}\n`;
      }
      parts.push(piece);
    }
    return new Blob(parts, { type: "text/csv;charset=utf-8" });
  };
  if (save && packed) {
    const said = document.getElementById("saved");
    if (typeof DecompressionStream === "undefined") {
      save.disabled = true;
      said.textContent = "This browser is too old to unpack the labels; the command below writes them.";
    }
    save.addEventListener("click", async () => {
      save.disabled = true;
      try {
        const address = URL.createObjectURL(await unpack());
        const link = document.createElement("a");
        link.href = address;
        link.download = packed.dataset.file;
        link.click();
        setTimeout(() => URL.revokeObjectURL(address), 10000);
        said.textContent = `Saved ${packed.dataset.file}.`;
      } catch (error) {
        said.textContent = `The labels could not be unpacked (${error.message}); the command below writes them.`;
      }
      save.disabled = false;
    });
  }
})();
