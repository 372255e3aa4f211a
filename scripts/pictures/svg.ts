/**
 * The shapes from which the pictures of the documentation are built. Their colours follow the reader's system. On the
 * site, pictures are a part of the page and follow its theme (scripts/site/.vitepress/theme/site.css has the same
 * names).
 */

/** A part of a picture as SVG. */
export type Shape = string;

export type Tone = "plain" | "accent" | "warn" | "quiet";

/** The width of all pictures, which is that of the text of a page. */
export const width = 760;

const colours = `svg{--picture-ink:#1f2937;--picture-soft:#57606a;--picture-line:#8c959f;--picture-box:#f6f8fa;--picture-accent:#dbeafe;--picture-strong:#2563eb;--picture-warn:#fef3c7}
@media (prefers-color-scheme:dark){svg{--picture-ink:#e6edf3;--picture-soft:#9ea7b3;--picture-line:#6e7681;--picture-box:#21262d;--picture-accent:#1e3a5f;--picture-strong:#60a5fa;--picture-warn:#4d3800}}`;

const fills: Readonly<Record<Tone, string>> = {
  plain: "var(--picture-box)",
  accent: "var(--picture-accent)",
  warn: "var(--picture-warn)",
  quiet: "none",
};

/** The whole picture. Screen readers read the description aloud. */
export const picture = (height: number, description: string, shapes: readonly Shape[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(description)}" font-family="system-ui, sans-serif" font-size="13">
<style>${colours}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" style="fill:var(--picture-line)"/></marker></defs>
${shapes.join("\n")}
</svg>
`;

export type Place = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** A box with centred lines of text; if there are several, the first one is bold. */
export function box(place: Place, lines: readonly string[], tone: Tone = "plain"): Shape {
  const { x, y, width: wide, height } = place;
  const first = y + height / 2 - (lines.length - 1) * 8 + 4.5;
  const texts = lines.map((line, index) =>
    label({ x: x + wide / 2, y: first + index * 16 }, line, {
      anchor: "middle",
      bold: index === 0 && lines.length > 1,
      soft: index > 0,
    }),
  );
  return `${frame(place, tone)}${texts.join("")}`;
}

/** A frame around other shapes, with a title at its upper edge. */
export const group = (place: Place, title: string): Shape =>
  `${frame(place, "quiet", true)}${label({ x: place.x + 12, y: place.y + 20 }, title, { soft: true, bold: true })}`;

const frame = ({ x, y, width: wide, height }: Place, tone: Tone, isDashed = false): Shape =>
  `<rect x="${x}" y="${y}" width="${wide}" height="${height}" rx="6" style="fill:${fills[tone]};stroke:var(--picture-line)"${isDashed ? ' stroke-dasharray="4 3"' : ""}/>`;

/** A bar without a frame, for plots. */
export const bar = ({ x, y, width: wide, height }: Place, colour: "strong" | "line"): Shape =>
  `<rect x="${x}" y="${y}" width="${Math.max(1, wide).toFixed(1)}" height="${height}" style="fill:var(--picture-${colour})"/>`;

/** A disc for plots; a letter on it is readable. */
export const dot = ({ x, y }: Point, colour: "strong" | "line"): Shape =>
  `<circle cx="${x}" cy="${y}" r="5" style="fill:var(--picture-${colour});fill-opacity:.5;stroke:var(--picture-${colour})"/>`;

/** A thin line without an arrowhead, for axes; dotted unless `isFirm`. */
export const rule = (from: Point, to: Point, isFirm = false): Shape =>
  `<path d="M${from.x} ${from.y}L${to.x} ${to.y}" style="stroke:var(--picture-line)"${isFirm ? "" : ' stroke-dasharray="1 4"'}/>`;

export type Point = { readonly x: number; readonly y: number };

/** A line with an arrowhead at its end, and text next to its middle. */
export function arrow(from: Point, to: Point, text = "", isDashed = false): Shape {
  const dashes = isDashed ? ' stroke-dasharray="5 4"' : "";
  const line = `<path d="M${from.x} ${from.y}L${to.x} ${to.y}" style="stroke:var(--picture-line);fill:none" stroke-width="1.5" marker-end="url(#tip)"${dashes}/>`;
  if (text === "") return line;
  const isUpright = from.x === to.x;
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  return isUpright
    ? `${line}${label({ x: middle.x + 8, y: middle.y + 4 }, text, { soft: true })}`
    : `${line}${label({ x: middle.x, y: middle.y - 6 }, text, { anchor: "middle", soft: true })}`;
}

export type TextStyle = {
  readonly anchor?: "start" | "middle" | "end";
  readonly bold?: boolean;
  readonly soft?: boolean;
  readonly small?: boolean;
};

export function label({ x, y }: Point, text: string, style: TextStyle = {}): Shape {
  const { anchor = "start", bold = false, soft = false, small = false } = style;
  const size = small ? ' font-size="10"' : soft ? ' font-size="12"' : "";
  const weight = bold ? ' font-weight="600"' : "";
  const colour = `var(--picture-${soft || small ? "soft" : "ink"})`;
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${weight} style="fill:${colour}"${size}>${escaped(text)}</text>`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Splits a text into lines of at most `most` characters. */
export function linesOf(text: string, most: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
