"use strict";
// Panels that move as one: what happens in one canvas is repeated in the others.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const animation = calm ? false : { duration: 350, easingFunction: "easeInOutQuad" };
  const STORED = "glt-studio-panels";
  // One node, or both ends of an edge.
  let selected = [];
  let hovered = null;
  let moved = false;
  // What is pointed out as long as nobody chose anything.
  const centre = data.selected === null ? [] : [data.selected];

  const panels = [...document.querySelectorAll(".canvas")].map((canvas, number) => {
    const { nodes, edges, options } = data.panels[number];
    const sets = { nodes: new vis.DataSet(nodes), edges: new vis.DataSet(edges) };
    const reasons = Object.fromEntries(edges.map(({ id, title }) => [id, title]));
    return { ...sets, titles: nodes.map(({ title }) => title), reasons, network: new vis.Network(canvas, sets, options) };
  });
  const networks = panels.map((panel) => panel.network);

  // The view and the selection outlive a redraw with another round, as long as the sample is the same.
  const recall = () => {
    try {
      const kept = JSON.parse(sessionStorage.getItem(STORED));
      return kept && kept.key === data.key ? kept : {};
    } catch {
      return {};
    }
  };
  const remember = () => {
    const view = moved ? { position: networks[0].getViewPosition(), scale: networks[0].getScale() } : null;
    try {
      sessionStorage.setItem(STORED, JSON.stringify({ key: data.key, view, selected }));
    } catch {
      // A sandbox without storage only forgets.
    }
  };

  const follow = (leader) => {
    moved = true;
    const view = { position: leader.getViewPosition(), scale: leader.getScale(), animation: false };
    networks.filter((other) => other !== leader).forEach((other) => other.moveTo(view));
    remember();
  };
  const fitAll = () => {
    networks[0].fit({ animation: false });
    follow(networks[0]);
    moved = false;
    remember();
  };
  const redraw = () => networks.forEach((network) => network.redraw());

  const bar = (context, network, [one, other]) => {
    const [a, b] = [network.getPosition(one), network.getPosition(other)];
    context.save();
    context.globalAlpha = 0.45;
    context.lineCap = "round";
    context.lineWidth = 8 / network.getScale();
    context.strokeStyle = data.ink;
    context.beginPath();
    context.moveTo(a.x, a.y);
    context.lineTo(b.x, b.y);
    context.stroke();
    context.restore();
  };
  const ring = (context, network, node, width) => {
    const { x, y } = network.getPosition(node);
    const scale = network.getScale();
    context.beginPath();
    context.arc(x, y, network.body.nodes[node].options.size + 4 / scale, 0, 2 * Math.PI);
    context.lineWidth = width / scale;
    context.strokeStyle = data.ink;
    context.stroke();
  };

  const joins = ({ from, to }, [one, other]) => (from === one && to === other) || (from === other && to === one);
  const fate = (edge) => edge.agreed || (edge.removed ? ["removed", edge.cause].filter(Boolean).join(": ") : edge.arrows ? "kept one way" : "kept");
  const describeEdge = () => {
    const ends = selected.map((node) => data.names[node]).join(" to ");
    const fates = data.panels.map(({ edges }) => edges.find((edge) => joins(edge, selected))).map((e) => (e ? fate(e) : ""));
    const each = data.captions.map((caption, place) => `${caption}: ${fates[place]}`).slice(1);
    byId("message").textContent = [`Edge ${ends}`, ...each].join(" · ");
  };
  const describe = () => {
    if (selected.length === 2) return describeEdge();
    const told = selected.length ? data.panels.map(({ nodes }) => nodes[selected[0]].title.split("\n")) : [];
    // With several pruned panels every one says what it left of the node's edges.
    const each = data.captions.map((caption, place) => `${caption}: ${told[place]?.at(-1)}`).slice(1);
    const parts = told.length > 2 ? [...told[0].slice(0, -1), ...each] : (told.at(-1) ?? []);
    byId("message").textContent = parts.join(" · ");
  };
  const select = (nodes) => {
    selected = nodes;
    describe();
    redraw();
    remember();
  };
  // The page tells more about what a reader chose; whatever else embeds this document may leave it unheard.
  const tell = (nodes) => {
    const [at = null, to = null] = nodes.map((node) => data.indices[node]);
    if (parent !== window) parent.postMessage({ kind: "glt-picked", at, to }, origin);
  };
  const choose = (nodes) => {
    if (!nodes.length && !selected.length) return;
    select(nodes);
    tell(nodes);
  };
  addEventListener("message", ({ source, origin: from, data: said }) => {
    if (source !== parent || from !== origin || said?.kind !== "glt-point-out") return;
    // Of an edge that leaves the sample, the end that is in it. Where the page names nothing, nothing kept is chosen.
    const named = said.nodes.map((index) => data.indices.indexOf(index)).filter((node) => node >= 0);
    const wanted = said.nodes.length || !selected.length ? named : centre;
    if (wanted.join() !== selected.join()) select(wanted);
  });

  const find = (text) => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return choose([]);
    const names = data.names.map((name) => name.toLowerCase());
    const begin = names.flatMap((name, place) => (name.startsWith(wanted) ? [place] : []));
    const others = begin.length > 1 ? `the first of ${begin.length} that begin with it` : "the one that begins with it";
    const ways = [
      [names.indexOf(wanted), ""],
      [data.indices.findIndex((index) => String(index) === wanted), ""],
      [begin[0] ?? -1, `No node ${text.trim()} here, but ${others}: `],
    ];
    const [node, how] = ways.find(([place]) => place >= 0) ?? [];
    if (node === undefined) {
      select([]);
      tell([]);
      byId("message").textContent = `No node ${text.trim()} in this sample`;
      return;
    }
    choose([node]);
    byId("message").textContent = how + byId("message").textContent;
    moved = true;
    const scale = Math.max(networks[0].getScale(), 0.9);
    networks.forEach((network) => network.focus(node, { scale, animation }));
  };

  for (const network of networks) {
    for (const event of ["zoom", "dragging", "dragEnd"]) network.on(event, () => follow(network));
    network.on("animationFinished", remember);
    network.on("resize", () => moved || fitAll());
    network.on("hoverNode", ({ node }) => { hovered = node; redraw(); });
    network.on("blurNode", () => { hovered = null; redraw(); });
    network.on("click", ({ nodes, edges }) => {
      const edge = nodes.length || !edges.length ? null : panels[networks.indexOf(network)].edges.get(edges[0]);
      choose(edge && !edge.hidden ? [edge.from, edge.to].sort((a, b) => a - b) : nodes.slice(0, 1));
    });
    network.on("beforeDrawing", (context) => {
      if (selected.length === 2) bar(context, network, selected);
    });
    network.on("afterDrawing", (context) => {
      for (const node of data.marked) ring(context, network, node, 1.8);
      if (hovered !== null && !selected.includes(hovered)) ring(context, network, hovered, 1.5);
      for (const node of selected) ring(context, network, node, 3);
    });
  }

  // A canvas does nothing by keyboard: finding a node does what a click does.
  for (const frame of document.querySelectorAll(".canvas .vis-network")) frame.tabIndex = -1;
  for (const name of data.names) byId("names").append(new Option(name));
  byId("search").addEventListener("change", (event) => find(event.target.value));
  byId("search").addEventListener("search", (event) => find(event.target.value));
  byId("fit").addEventListener("click", fitAll);
  const hides = () => byId("show-removed") !== null && !byId("show-removed").checked;
  byId("show-removed")?.addEventListener("change", () => {
    for (const { edges } of panels) {
      const removed = edges.get({ filter: (edge) => edge.removed });
      edges.update(removed.map(({ id }) => ({ id, hidden: hides() })));
    }
  });

  // Playing: the rounds of every panel one after the other, up to the one that the page shows.
  const [FORWARD, BACKWARD, BOTH, MILLISECONDS] = [1, 2, 3, 900];
  const last = Math.max(0, ...data.replay.map((frames) => frames.length - 1));
  let timer = null;
  let shown = last;

  const drawEdges = (panel, looks, isLast) => {
    const [low, high] = data.ends;
    panel.edges.update([...looks].map((digit, id) => {
      const look = parseInt(digit, 16);
      const removed = ![FORWARD, BACKWARD, BOTH].includes(look);
      const [from, to] = look === BACKWARD ? [high[id], low[id]] : [low[id], high[id]];
      // What hovering says is about the round of the page, so it waits for it.
      const title = isLast ? panel.reasons[id] : undefined;
      return { id, from, to, removed, title, hidden: removed && hides(), ...data.styles[look] };
    }));
  };
  const drawNodes = (panel, frame, isLast) => {
    const lonely = new Set(frame.lonely);
    panel.nodes.update(frame.sizes.map((size, id) => {
      const [ink, ground] = [data.inks[id], data.ground];
      const color = lonely.has(id) ? { background: ground, border: ink } : { background: ink, border: ground };
      // What hovering says is about the round of the page, so it waits for it.
      return { id, size, color, borderWidth: lonely.has(id) ? 2 : 1, title: isLast ? panel.titles[id] : undefined };
    }));
  };
  const show = (number) => {
    shown = number;
    data.replay.forEach((frames, place) => {
      if (frames.length < 2) return;
      const frame = frames[Math.min(number, frames.length - 1)];
      drawEdges(panels[place], frame.looks, number === last);
      drawNodes(panels[place], frame, number === last);
      const figure = document.querySelectorAll("figure")[place];
      figure.querySelector(".title").textContent = frame.title;
      [...figure.querySelector(".counts").children].forEach((line, n) => { line.textContent = frame.caption[n]; });
    });
    byId("playing").textContent = number === last ? "" : `round ${number} of ${last}`;
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    byId("play").textContent = "▶ Play";
  };
  // Captions of other rounds are shorter or longer: the canvases keep their size, and with it the view.
  const holdCaptions = () => {
    for (const counts of document.querySelectorAll(".counts")) {
      counts.style.height = `${counts.offsetHeight}px`;
      counts.style.overflow = "hidden";
    }
  };
  const play = () => {
    holdCaptions();
    show(shown === last ? 0 : shown + 1);
    byId("play").textContent = "❚❚ Pause";
    timer = setInterval(() => {
      show(shown + 1);
      if (shown === last) stop();
    }, MILLISECONDS);
  };
  byId("play")?.addEventListener("click", () => (timer === null ? play() : stop()));

  const kept = recall();
  fitAll();
  if (kept.view) {
    moved = true;
    networks.forEach((network) => network.moveTo({ ...kept.view, animation: false }));
  }
  select(centre.length ? centre : (kept.selected ?? []));
  if (parent !== window) parent.postMessage({ kind: "glt-ready" }, origin);
})();
