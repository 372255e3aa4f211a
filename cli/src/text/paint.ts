import { styleText } from "node:util";
import type { Output } from "../command.ts";

type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

/** Colours for a terminal; plain text elsewhere. Colours only repeat what words say. */
export type Paint = Readonly<Record<Style, (text: string) => string>>;

export function paintFor({ hasColours }: Pick<Output, "hasColours">): Paint {
  const paint = (style: Style) => (text: string) =>
    // Whether there are colours has been decided for the output that the text is for.
    hasColours ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    yellow: paint("yellow"),
    green: paint("green"),
    cyan: paint("cyan"),
  };
}
