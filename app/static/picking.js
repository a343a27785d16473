// Carries a choice between the page and the pictures: what a reader clicks there, and what the page tells about.
// Only the frames of the pictures are heard, only whole numbers pass.
export default function ({ data, setTriggerValue }) {
  const frames = () => [...document.querySelectorAll(".st-key-pictures iframe")];
  const isNode = (value) => Number.isInteger(value) && value >= 0;
  const pointOut = (frame) =>
    frame.contentWindow?.postMessage({ kind: "glt-point-out", nodes: data.nodes }, location.origin);
  const hear = ({ source, origin, data: said }) => {
    const frame = frames().find(({ contentWindow }) => contentWindow === source);
    if (!frame || origin !== location.origin) return;
    if (said?.kind === "glt-ready") pointOut(frame);
    if (said?.kind !== "glt-picked") return;
    const nodes = [said.at, said.to].filter((value) => value !== null);
    if (nodes.every(isNode)) setTriggerValue("picked", nodes);
  };
  addEventListener("message", hear);
  frames().forEach(pointOut);
  return () => removeEventListener("message", hear);
}
