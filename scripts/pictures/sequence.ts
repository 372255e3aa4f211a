import { arrow, box, label, picture, width, type Shape } from "./svg.ts";

const parts = [
  ["client", ""],
  ["listener", "listeners/"],
  ["front", "http/h1, h2"],
  ["pipeline", "http/pipeline.ts"],
  ["port table", "routing/"],
  ["filters", "filters/order.ts"],
  ["attempt", "http/attempt.ts"],
  ["upstream", "upstream/"],
] as const;

type Part = (typeof parts)[number][0];

const messages: readonly (readonly [from: Part, to: Part, what: string])[] = [
  ["client", "listener", "PROXY header, TLS, protocol"],
  ["listener", "front", "socket, ClientConnection"],
  ["client", "front", "request head"],
  ["front", "pipeline", "RequestHead, ClientStream"],
  ["pipeline", "port table", "find(host, path, match)"],
  ["port table", "pipeline", "CompiledRoute with its filters"],
  ["pipeline", "filters", "each passes, or answers"],
  ["pipeline", "attempt", "backend by weight, endpoint by balancer"],
  ["attempt", "upstream", "UpstreamRequest"],
  ["upstream", "attempt", "head, data, trailers"],
  ["attempt", "front", "response hooks, then head and data"],
  ["front", "client", "response"],
];

/** Shows the modules through which a request passes, in the order of their calls. */
export function sequencePicture(): string {
  const step = (width - 90) / (parts.length - 1);
  const xOf = (part: Part): number => 45 + Math.round(step * parts.findIndex(([name]) => name === part));
  const end = 66 + messages.length * 34;
  const lives = parts.flatMap(([name, folder]): readonly Shape[] => [
    `<path d="M${xOf(name)} 52V${end}" style="stroke:var(--picture-line);opacity:.4" stroke-dasharray="3 4"/>`,
    box({ x: xOf(name) - 42, y: 10, width: 84, height: 30 }, [name], "accent"),
    label({ x: xOf(name), y: 54 }, folder, { anchor: "middle", small: true }),
  ]);
  const calls = messages.flatMap(([from, to, what], index): readonly Shape[] => {
    const y = 88 + index * 34;
    return [
      arrow({ x: xOf(from), y }, { x: xOf(to), y }),
      label({ x: Math.min(xOf(from), xOf(to)) + 6, y: y - 6 }, what, { soft: true }),
    ];
  });
  return picture(
    end + 8,
    `A request passes ${parts.map(([name]) => name).join(", ")}; its response comes back through the response hooks of the filters.`,
    [...lives, ...calls],
  );
}
