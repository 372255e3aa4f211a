import type { Output } from "../command.ts";

/** Colours for a terminal; plain text elsewhere. Colours only repeat what words say. */
export type Paint = Readonly<
  Record<"bold" | "dim" | "red" | "yellow" | "green" | "cyan", (text: string) => string>
>;

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export function paintFor({ hasColours }: Pick<Output, "hasColours">): Paint {
  const paint = (code: number) => (text: string) => (hasColours ? `\u001b[${code}m${text}\u001b[0m` : text);
  return {
    bold: paint(codes.bold),
    dim: paint(codes.dim),
    red: paint(codes.red),
    yellow: paint(codes.yellow),
    green: paint(codes.green),
    cyan: paint(codes.cyan),
  };
}
